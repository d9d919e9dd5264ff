"""The trust report as text and page: what it says, that it escapes, and that it stands alone."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from attrial.check_record import CheckReport, CheckResult
from attrial.errors import AttrialError
from attrial.report import account
from attrial.report.account import document, write_report
from attrial.report.parts import Code, Drawing, Heading, Part, Table
from attrial.report.parts_html import html
from attrial.report.parts_markdown import markdown
from attrial.report.phrases import DASH
from attrial.store import Entry
from tests import made_up
from tests.hand_made import By, entry

CHAPTERS = (
    "Verdict", "Against known evidence", "What changes the verdict", "What the examples can tell",
    "Where metrics disagree", "Where methods disagree", "Methods over blocks", "The tables",
    "Sanity and robustness", "Cost", "What is missing", "Provenance",
)  # fmt: skip


@pytest.fixture(scope="module")
def parts() -> list[Part]:
    entries = made_up.entries(removals=("mask", "delete"), n=12)
    return document(entries, command="attrial report here")


def tables(parts: list[Part]) -> dict[str, Table]:
    return {p.caption: p for p in parts if isinstance(p, Table)}


def test_every_chapter_is_there_and_the_verdict_comes_first(parts: list[Part]) -> None:
    headings = [p.text for p in parts if isinstance(p, Heading)]
    assert headings[0] == "How far this board can be trusted"
    assert [h for h in headings if h in CHAPTERS] == list(CHAPTERS)
    assert [p.text for p in parts if isinstance(p, Code)] == ["attrial report here"]
    text = markdown(parts)
    assert text.index("lead on") < text.index("Against known evidence")
    anchors = [p.anchor for p in parts if isinstance(p, Heading) and p.anchor]
    assert len(anchors) == len(set(anchors))


def test_matrices_are_square_symmetric_and_shaded(parts: list[Part]) -> None:
    squares = [p for p in parts if isinstance(p, Table) and p.square]
    assert len(squares) == 2 * 2 + 3  # two of metrics a removal, three of methods
    for table in squares:
        cells = [[cell.text for cell in row[1:]] for row in table.rows]
        assert cells == [list(column) for column in zip(*cells, strict=True)]
        assert all(row[k + 1].text in ("1", DASH) for k, row in enumerate(table.rows))
        shades = [cell.shade for row in table.rows for cell in row[1:] if cell.shade is not None]
        assert shades and all(-1 <= shade <= 1 + 1e-9 for shade in shades)


def test_families_stand_in_tables_of_their_own(parts: list[Part]) -> None:
    found = tables(parts)
    faithful = found["Faithfulness, players removed by mask"]
    evidence = found["Known evidence"]
    names = [c.text.split()[0] for t in (faithful, evidence) for c in t.header[1:]]
    assert len(names) == len(set(names)) == len(made_up.FACTS)
    assert "Faithfulness, players removed by delete" in found
    controls = [faithful.rows[i][0].text for i in faithful.controls]
    assert set(controls) == set(made_up.CONTROLS)


def test_the_diagram_of_ranks_is_drawn(parts: list[Part]) -> None:
    drawings = [p for p in parts if isinstance(p, Drawing)]
    assert len(drawings) == 1 and all("shapley" in d.svg for d in drawings)
    assert html("x", parts).count("data:image/svg+xml;base64,") == 1


class Page(HTMLParser):
    """Tags that are open, and everything that a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {k: v or "" for k, v in attrs}
        if tag not in ("meta", "img", "wbr"):
            self.open.append(tag)
        self.fetched += [v for k, v in given.items() if k == "src" or (tag, k) == ("link", "href")]
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_alone(parts: list[Part]) -> None:
    text = html("A title", parts)
    page = Page()
    page.feed(text)
    assert not page.open and "<script" not in text
    assert all(url.startswith("data:image/svg+xml") for url in page.fetched)
    assert {link.removeprefix("#") for link in page.links} == set(page.ids)
    assert "prefers-color-scheme: dark" in text


def test_words_of_others_are_escaped() -> None:
    evil = "<img src=x onerror=alert(1)>|`*_"
    entries = [
        entry(By(evil, {"aopc": [0.1, 0.2, None]}), task=evil, reason=evil),
        entry(By("b", {"aopc": [0.3, 0.2, 0.5]}), task=evil),
    ]
    parts = document(entries, command=evil)
    assert "<img src=x" not in html(evil, parts)
    text = markdown(parts)
    bare = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    assert "<img" not in bare.replace("\\<img", "")
    for table in re.findall(r"(?:^\| .*\n)+", text, flags=re.M):
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(bars) == 1, table


def test_what_is_missing_is_said_with_its_reason_and_refuses_an_overall_rank() -> None:
    low: list[float | None] = [0.01 * i for i in range(12)]
    high: list[float | None] = [0.5 + 0.01 * i for i in range(12)]
    holes = [entry(By("a", {"aopc": [*high[:11], None]}), reason="too short")]
    entries = [*holes, entry(By("b", {"aopc": low})), entry(By("c", {"aopc": low}))]
    text = markdown(document(entries))
    assert "No overall rank, as cells are missing: `a` (aopc: 11 of 12)" in text
    assert "`aopc` is undefined on 1 of 12 (too short): `a`" in text


def test_one_method_and_one_example_are_no_error() -> None:
    text = markdown(document([entry(By("a", {"aopc": [0.5]}))]))
    assert "One method alone can't disagree" in text and "Only `a` was tried" in text


def test_methods_without_any_value_are_told_and_no_error() -> None:
    reason = "not applicable: needs 'attend', which this model can't answer"
    empty: list[float | None] = [None, None]
    text = markdown(document([entry(By("a", {"aopc": empty}), reason=reason)]))
    assert f"`a` is {reason}." in text and "No method has a value here" in text
    assert "| `a`    | n/a" in text


def test_a_record_without_metrics_is_passed_over() -> None:
    bare = entry(By("a", {"aopc": [0.5, 0.6]}, removal="delete"))
    spec = bare.record.spec.model_copy(update={"metrics": {}})
    record = bare.record.model_copy(update={"spec": spec, "cells": {}, "facts": {}})
    both = [entry(By("a", {"aopc": [0.5, 0.6]})), Entry(record, bare.trials)]
    assert "Only `a` was tried" in markdown(document(both))
    assert "Verdict" not in markdown(document(both[1:]))


def test_nothing_at_all_is_no_error() -> None:
    assert "Provenance" in markdown(document([]))


def check(verdict: str) -> CheckResult:
    return CheckResult.model_validate(
        {
            "check": "determinism", "method": "shapley", "task": "planted_keyword",
            "model": "m", "weights": "0123456789abcdef" * 4, "data_digest": "d", "seed": 0,
            "value": 0.25, "verdict": verdict, "sentence": "It <differs>.", "direction": "lower",
            "unit": "", "version": 1,
        }
    )  # fmt: skip


def test_checks_are_shown_where_they_belong() -> None:
    entries = made_up.entries(n=6)
    report = CheckReport(results=[check("fail")])
    text = html("x", document(entries, checks=report))
    assert "<b>fail 0.250</b>" in text and 'title="It &lt;differs&gt;."' in text
    elsewhere = made_up.entries(tasks=("imdb",), n=6)
    assert "No checks of these methods" in html("x", document(elsewhere, checks=report))


def test_files_are_two_in_a_folder_or_the_one_that_is_named(tmp_path: Path) -> None:
    entries = made_up.entries(n=6)
    both = write_report(entries, tmp_path)
    assert [p.name for p in both] == ["report.md", "report.html"]
    one = write_report(entries, tmp_path / "deep" / "mine.html")
    assert one == [tmp_path / "deep" / "mine.html"]
    assert one[0].read_text() == both[1].read_text()
    with pytest.raises(AttrialError, match=r"mine\.pdf: a report is a \.md or \.html file"):
        write_report(entries, tmp_path / "mine.pdf")


def test_the_order_of_records_is_free_and_doubles_count_once() -> None:
    entries = made_up.entries(n=6)
    again: list[Entry] = [*reversed(entries), entries[0]]
    assert markdown(document(again)) == markdown(document(entries))


def test_checks_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    assert account.read_checks(tmp_path) is None
    (tmp_path / "checks.json").write_text(CheckReport(results=[check("pass")]).model_dump_json())
    found = account.read_checks(tmp_path)
    assert found is not None and found.results[0].verdict == "pass"
    merged = account.joined([found, None, found])
    assert merged is not None and len(merged.results) == 2
    (tmp_path / "checks.json").write_text("{]")
    with pytest.raises(AttrialError, match=r"can't read .*checks\.json"):
        account.read_checks(tmp_path)


def test_a_model_of_many_tasks_opens_with_all_verdicts() -> None:
    entries = made_up.entries(tasks=("planted_keyword", "planted_xor"), n=8)
    text = markdown(document(entries))
    short = text[text.index("## In short") : text.index("### Verdict")]
    assert "planted_keyword. Faithfulness" in short and "planted_xor. Known evidence" in short
    assert "## Over all tasks" in text


def test_one_method_cannot_be_ranked_and_that_is_all_that_is_said() -> None:
    text = markdown(document([entry(By("a", {"aopc": [0.1, 0.2, 0.5]}))]))
    assert "One method alone can't be ranked" in text and "were made before" not in text


def test_nobody_leads_in_halves_that_rank_nobody() -> None:
    text = markdown(document([entry(By(m, {"aopc": [0.5] * 12})) for m in "abcde"]))
    assert "Random halves: no half ranks anybody." in text and "100%" not in text
    assert re.search(r"\| (\w, ){2}\w and 2 more +\| 0.500", text)  # all tie for the best mean
