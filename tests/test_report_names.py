"""What tables call things: headings that differ where they must, classes by their names."""

from dataclasses import replace
from html import unescape
from itertools import product

import pytest

from attrial import leaderboard, report
from attrial.record import Record
from attrial.report.tables import sections
from attrial.report.titles import apart
from attrial.store import Entry
from tests.made_up import Made, entry

Facts = dict[str, object]


def made(model: Facts | None = None, **fields: object) -> Entry:
    """A made-up run, some facts of its spec changed."""
    found = entry(Made(n=3, metrics=("aopc",)), "occlusion", 0.9)
    spec = found.record.spec.model_copy(update=fields)
    spec = spec.model_copy(update={"model": spec.model.model_copy(update=model or {})})
    return replace(found, record=found.record.model_copy(update={"spec": spec}))


def titles(*entries: Entry) -> list[str]:
    return [section.title for section in sections(leaderboard.rows(entries))]


def headings(entries: list[Entry]) -> list[list[str]]:
    """The section headings of the Markdown and of the page."""
    page = report.page(entries)
    return [
        [t[3:] for t in report.render(entries, "md").split("\n") if t.startswith("## planted")],
        [unescape(t.split("</h2>")[0]) for t in page.split('<h2 id="task-')[1:]],
    ]


CASES = {
    "weights": (made(), made({"weights": "f" * 64}), ["weights 01234567", "weights ffffffff"]),
    "seed": (made(), made(seed=7), ["seed 0", "seed 7"]),
    "model": (made(), made({"name": "other"}), ["attrial-tiny-keyword", "other"]),
    "revision": (
        made({"revision": "aaaaaaaaaaaa"}),
        made({"revision": "b"}),
        ["revision aaaaaaaa", "revision b"],
    ),
    "players": (made(players="tokens"), made(), ["tokens", "words"]),
    "removal": (
        made(),
        made(explained_under="pad", removal="pad"),
        ["methods ask under mask", "methods ask under pad"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_sections_of_one_task_have_headings_of_their_own(case: str) -> None:
    first, second, told = CASES[case]
    assert titles(first) == ["planted_keyword"]  # nothing is said that nobody needs
    assert titles(first, second) == [f"planted_keyword · {fact}" for fact in told]
    for found in headings([first, second]):
        assert len(found) == 2 and all(t.endswith(f) for t, f in zip(found, told, strict=True))


def test_no_two_headings_are_alike_and_no_fact_is_idle() -> None:
    places = product(["a", "b"], ["0" * 64, "f" * 64], [0, 1])
    entries = [made({"name": n, "weights": w}, seed=s) for n, w, s in places]
    found = titles(*entries)
    assert len(set(found)) == len(found) == 8
    assert found[0] == "planted_keyword · a · weights 00000000 · seed 0"
    two = titles(made({"name": "a", "weights": "0" * 64}), made({"name": "b", "weights": "f" * 64}))
    assert two == ["planted_keyword · a", "planted_keyword · b"]  # the names are enough
    assert apart([]) == []


def named(labels: list[str]) -> list[Entry]:
    found = made()
    return [replace(found, record=found.record.model_copy(update={"labels": labels}))]


def test_classes_are_called_by_their_names_and_by_numbers_in_old_records() -> None:
    page = report.page(named(["bad", "so <b>good"]))
    name = "so &lt;b&gt;good (1)"
    assert f"explained class {name} · gold class {name}" in page and "<b>good" not in page
    assert "explained class 1 · gold class 1" in report.page(named([]))


def test_records_from_before_labels_load_and_new_ones_keep_them() -> None:
    old = made().record.model_dump(mode="json")
    del old["labels"]
    assert Record.model_validate(old).labels == []
    new = named(["bad", "good"])[0].record
    assert Record.model_validate_json(new.model_dump_json()).labels == ["bad", "good"]
