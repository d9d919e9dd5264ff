"""The table that a page opens with: either way round, by kind of model, each task in a line."""

import re
from collections.abc import Sequence

import pytest

from attrial import leaderboard, report
from attrial.report.account import document
from attrial.report.parts_markdown import markdown
from attrial.report.phrases import DASH
from attrial.report.tables import sections
from attrial.store import Entry
from tests import made_up
from tests.made_up import Made
from tests.test_report_html import EVIL, Reader

KINDS = {"a": "text classifier", "b": "image classifier", "c": "text classifier"}


def told(entries: Sequence[Entry], *, asks: str, about: str) -> list[Entry]:
    """The same records, that say what their task is."""
    return [
        Entry(e.record.model_copy(update={"asks": asks, "about": about}), e.trials) for e in entries
    ]


def many(about: str = "Planted: one word decides.") -> list[Entry]:
    """Three tasks for two kinds of models: six tables, by three methods."""
    methods = ("occlusion", "random", "random_order", "best_order", "worst_order")
    found: list[Entry] = []
    for task, kind in KINDS.items():
        made = [
            made_up.entry(Made(task=task, n=8), m, made_up.QUALITY.get(m, 0.0)) for m in methods
        ]
        found += told(made, asks=kind, about=about)
    return found


def glance(page: str) -> str:
    return page[page.index('class="glance') : page.index("On how many metrics no method")]


def rows_of(table: str) -> list[list[str]]:
    """Words of each cell, a line each row."""
    lines = re.findall(r"<tr.*?</tr>", table, flags=re.S)
    cells = [re.findall(r"<t[hd].*?</t[hd]>", line, flags=re.S) for line in lines]
    return [
        [Reader(f"<p>{re.sub('</?t[hd][^>]*>', '', c)}</p>").text for c in row] for row in cells
    ]


def test_more_tables_than_methods_run_down_the_page_by_kind_of_model() -> None:
    rows = rows_of(glance(report.page(many())))
    assert rows[0] == ["task", "table", "occlusion", "random"]
    first = [row[0] for row in rows]
    places = [first.index(name) for name in ("image classifier", "text classifier")]
    tasks = {row[0][0]: i for i, row in enumerate(rows) if row[0].startswith(("a n", "b n", "c n"))}
    assert places[0] < tasks["b"] < places[1] < tasks["a"] < tasks["c"]
    assert rows[tasks["a"]][0] == "a n = 8Planted: one word decides."
    assert [rows[tasks["a"]][1], rows[tasks["a"] + 1][0]] == ["mask", "evidence"]


def shares(entries: Sequence[Entry]) -> list[dict[str, str]]:
    """Of every table, in the order of the tasks: the cells that each method must have."""
    found = [t for s in sections(leaderboard.rows(entries)) for t in s.tables]
    return [
        {m: f"{a} of {b}" if b else DASH for m, (a, b) in t.may_be_best().items()} for t in found
    ]


def test_down_the_page_every_method_has_its_share() -> None:
    entries = told(many(), asks="text classifier", about="")
    header, *rows = rows_of(glance(report.page(entries)))
    cells = [row[-2:] for row in rows if len(row) > 1]
    assert [dict(zip(header[2:], row, strict=True)) for row in cells] == shares(entries)


def test_across_the_page_every_method_has_its_share() -> None:
    entries = made_up.entries(removals=("mask", "delete"), n=8)
    tasks, places, *rows = rows_of(glance(report.page(entries)))
    assert tasks == ["", "planted_keyword n = 8"] and places[1:] == ["mask", "delete", "evidence"]
    found = [{row[0]: row[k] for row in rows} for k in (1, 2, 3)]
    assert found == shares(entries) and {row[0] for row in rows} == set(made_up.QUALITY)


def test_what_a_task_is_stands_under_its_heading_and_is_escaped() -> None:
    entries = many(about=f"A task {EVIL}")
    page = report.page(entries)
    assert "<script" not in page and "A task <script>" in Reader(page).text
    assert report.render(entries, "md").count("A task \\<script\\>") == 3
    assert markdown(document(entries)).count("A task \\<script\\>") == 3
    old = made_up.entries(n=8)
    assert 'class="about"' not in report.page(old) and 'class="kinds"' not in report.page(old)


def test_the_verdicts_of_many_tasks_are_folded_away() -> None:
    few = report.page(many())
    tasks = [f"task{i}" for i in range(5)]
    more = report.page(made_up.entries(tasks=tasks, n=6))
    assert "Each task in words" not in few and "Each task in words" in more
    assert few.count('class="card"') == 3 and more.count('class="card"') == 5


@pytest.mark.parametrize("kinds", [1, 2])
def test_ranks_over_unlike_models_say_so(kinds: int) -> None:
    entries = many() if kinds == 2 else told(many(), asks="text classifier", about="")
    said = "models of two kinds (image classifier, text classifier)"
    assert (said in markdown(document(entries))) == (kinds == 2)


def test_a_continuation_is_named_with_what_it_is_compared_with() -> None:
    made = made_up.entries(n=4)
    named = [
        Entry(e.record, [t.model_copy(update={"names": [" is", " are"]}) for t in e.trials])
        for e in made
    ]
    assert "· explained: “are”, not “is” · gold class are (1)" in Reader(report.page(named)).text
    assert "· explained class 1 · gold class 1" in Reader(report.page(made)).text
