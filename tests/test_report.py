"""What tables say in words, Markdown and files."""

import json
import re
from pathlib import Path

import pytest

from attrial import leaderboard, report
from attrial.errors import AttrialError
from attrial.record import PluginSpec, Trial
from attrial.report import words
from attrial.report.gaps import gaps
from attrial.report.tables import Table, conflicts, sections
from attrial.store import Entry
from tests import made_up
from tests.made_up import FACTS, Made

Metrics = dict[str, list[float | None]]


def entry_of(label: str, metrics: Metrics, *, version: int = 1, removal: str = "mask") -> Entry:
    """A record with exactly these values of these metrics."""
    n = len(next(iter(metrics.values())))
    made = Made(n=n, metrics=tuple(metrics), removal=removal)
    spec = made_up.spec(made, label, version=version)
    trials = [
        Trial(
            id=str(i),
            players=["a"],
            scores=[1.0],
            target=0,
            values={m: v[i] for m, v in metrics.items()},
            normalised={m: v[i] for m, v in metrics.items()},
            reasons={m: "no evidence" for m, v in metrics.items() if v[i] is None},
        )
        for i in range(n)
    ]
    return Entry(made_up.record_of(spec, trials), trials)


def near(level: float) -> list[float | None]:
    return [level + 0.001 * i for i in range(9)]


def table_of(*entries: Entry) -> Table:
    (section,) = sections(leaderboard.rows(entries))
    (table,) = section.tables
    return table


def said(*entries: Entry) -> list[str]:
    return ["".join(p.text for p in s) for s in words.verdict(table_of(*entries))]


def test_a_clear_winner_is_called_best() -> None:
    both = entry_of("a", {"aopc": near(0.9), "deletion_auc": near(0.1)})
    other = entry_of("b", {"aopc": near(0.5), "deletion_auc": near(0.5)})
    assert said(both, other) == ["a is best on both metrics."]


def test_one_metric_is_named() -> None:
    found = [entry_of("a", {"aopc": near(0.9)}), entry_of("b", {"aopc": near(0.5)})]
    assert said(*found) == ["a is best on aopc."]


def test_ties_at_the_top_are_called_ties() -> None:
    up, down = near(0.9), near(0.9)[::-1]
    found = [entry_of("a", {"aopc": up}), entry_of("b", {"aopc": down})]
    assert said(*found, entry_of("c", {"aopc": near(0.1)})) == [
        "a and b lead on aopc and are not told apart."
    ]


def test_nothing_told_apart_says_so() -> None:
    found = [entry_of("a", {"aopc": near(0.9)}), entry_of("b", {"aopc": near(0.9)[::-1]})]
    assert said(*found) == ["Nine examples don't tell the two methods apart."]


def test_too_few_examples_say_how_many_it_takes() -> None:
    """5 examples give a p of 2/32 at best: above 5 %. 6 are enough, and then they decide."""

    levels = {"a": near(0.9), "b": near(0.1), "random_order": near(0.5)}

    def board(n: int) -> list[Entry]:
        return [entry_of(name, {"aopc": level[:n]}) for name, level in levels.items()]

    assert said(*board(5)) == [
        "Five examples are too few to tell any of the two methods apart: it takes 6."
    ]
    assert said(*board(6)) == ["a is best on aopc."]
    few, enough = (report.to_markdown(leaderboard.rows(board(n))) for n in (5, 6))
    assert "≈ |" not in few and "**" not in few.split("Cells:")[0]
    assert re.search(r"\*\*0\.90\d\*\* 1 ", enough)


def test_a_metric_that_tells_nobody_apart_shades_and_counts_nobody() -> None:
    found = [
        entry_of("a", {"aopc": near(0.9), "sufficiency": near(0.5)}),
        entry_of("b", {"aopc": near(0.5), "sufficiency": near(0.5)[::-1]}),
    ]
    table = table_of(*found)
    assert table.telling == {"aopc"}
    assert table.may_be_best() == {"a": (1, 1), "b": (0, 1)}
    (line,) = (x for x in report.to_markdown(leaderboard.rows(found)).splitlines() if "| `a`" in x)
    assert line.count("**") == 2


def test_a_lead_that_is_not_alone_everywhere_says_where_it_is() -> None:
    found = [
        entry_of("a", {"aopc": near(0.9), "insertion_auc": near(0.9)}),
        entry_of("b", {"aopc": near(0.9)[::-1], "insertion_auc": near(0.5)}),
    ]
    assert said(*found) == ["a leads on both metrics, alone on 1."]


def test_leads_that_differ_by_metric_are_counted() -> None:
    found = [
        entry_of("a", {"aopc": near(0.9), "deletion_auc": near(0.5)}),
        entry_of("b", {"aopc": near(0.5), "deletion_auc": near(0.1)}),
    ]
    assert said(*found) == ["None leads on both metrics: a on 1, b on 1."]


def test_chance_is_named() -> None:
    found = [
        entry_of("good", {"aopc": near(0.9)}),
        entry_of("lucky", {"aopc": [0.5 + 0.1 * (-1) ** i for i in range(8)] + [0.5]}),
        entry_of("bad", {"aopc": near(0.1)}),
        entry_of("random_order", {"aopc": [0.5] * 9}),
    ]
    assert said(*found)[1:] == [
        "Nowhere better than a random order: lucky and bad.",
        "Somewhere worse than a random order: bad.",
    ]


def test_no_value_at_all_is_said() -> None:
    assert said(entry_of("a", {"aopc": [None, None]})) == ["No method has a value here."]


def test_gaps_are_told_once_with_who_and_why() -> None:
    holes: list[float | None] = [None, None, *near(0.5)[2:]]
    table = table_of(
        entry_of("a", {"aopc": holes}),
        entry_of("b", {"aopc": holes}),
        entry_of("c", {"aopc": [None, *near(0.4)[1:]]}),
        entry_of("d", {"aopc": [1.5, *near(0.4)[1:]]}),
    )
    assert ["".join(p.text for p in s) for s in gaps(table)] == [
        "aopc beats the best order that was found on 1 of 9: d.",
        "aopc is undefined on 2 of 9 (no evidence): a and b.",
        "aopc is undefined on 1 of 9 (no evidence): c.",
    ]
    everyone = table_of(entry_of("a", {"aopc": holes}), entry_of("b", {"aopc": holes}))
    assert "".join(p.text for p in gaps(everyone)[0]).endswith(": all methods and controls.")


def test_a_missing_scale_is_told_with_its_reason() -> None:
    whole = entry_of("a", {"aopc": near(0.5)})
    lost = {"normalised": {"aopc": None}, "reasons": {"aopc/normalised": "flat"}}
    trials = [t.model_copy(update=lost) if i < 2 else t for i, t in enumerate(whole.trials)]
    table = table_of(Entry(whole.record, trials))
    assert ["".join(p.text for p in s) for s in gaps(table)] == [
        "aopc has no normalised value on 2 of 9 (flat): a."
    ]


def test_a_partial_method_that_beats_all_others_leaves_nobody_first() -> None:
    ahead: list[float | None] = [*near(0.9)[:8], None]
    (sentence, *_) = said(entry_of("part", {"aopc": ahead}), entry_of("full", {"aopc": near(0.1)}))
    assert sentence == (
        "No overall rank, as cells are missing: part (aopc: 8 of 9). Of one metric that tell "
        "methods apart, no method with all values may be best on any."
    )


def test_metrics_that_lack_the_same_share_a_line() -> None:
    metrics: Metrics = {"aopc": near(0.5), "deletion_auc": [*near(0.5)[:8], None]}
    lost = {
        "normalised": dict.fromkeys(metrics),
        "reasons": {f"{m}/normalised": "flat" for m in metrics} | {"deletion_auc": "no evidence"},
    }
    entries = []
    for name in "ab":
        whole = entry_of(name, metrics)
        trials = [t.model_copy(update=lost) for t in whole.trials]
        entries.append(Entry(whole.record, trials))
    assert ["".join(p.text for p in s) for s in gaps(table_of(*entries))] == [
        "aopc and deletion_auc have no normalised value on any example (flat): "
        "all methods and controls.",
        "deletion_auc is undefined on 1 of 9 (no evidence): all methods and controls.",
    ]


def test_removals_that_contradict_each_other_are_found() -> None:
    found = [
        entry_of("a", {"aopc": near(0.9)}),
        entry_of("b", {"aopc": near(0.5)}),
        entry_of("a", {"aopc": near(0.2)}, removal="delete"),
        entry_of("b", {"aopc": near(0.6)}, removal="delete"),
    ]
    (section,) = sections(leaderboard.rows(found))
    sentences = ["".join(p.text for p in s) for s in words.removals(conflicts(section))]
    assert sorted(sentences) == [
        "mask and delete disagree on a: aopc rank 1 against 2.",
        "mask and delete disagree on b: aopc rank 2 against 1.",
    ]
    agreeing = [*found[:2], *(entry_of(x, {"aopc": near(0.5)}, removal="delete") for x in "ab")]
    (section,) = sections(leaderboard.rows(agreeing))
    assert conflicts(section) == []


def test_sections_part_what_cannot_stand_side_by_side() -> None:
    rows = leaderboard.rows(made_up.entries(["one", "two"], removals=("mask", "delete"), n=4))
    found = sections(rows)
    assert [s.head.task for s in found] == ["one", "two"]
    kinds = [(t.removal, t.family) for t in found[0].tables]
    assert kinds == [("mask", "faithfulness"), ("delete", "faithfulness"), ("mask", "evidence")]
    assert [c.metric for c in found[0].tables[2].columns] == sorted(
        m for m in FACTS if FACTS[m].family == "evidence"
    )


def test_lines_are_methods_then_older_versions_then_controls() -> None:
    table = table_of(
        entry_of("random_order", {"aopc": near(0.99)}),
        entry_of("m", {"aopc": near(0.95)}, version=1),
        entry_of("m", {"aopc": near(0.1)}, version=2),
        entry_of("a", {"aopc": near(0.5)}),
    )
    assert [(line.method, line.version, line.older) for line in table.lines] == [
        ("a", 1, False),
        ("m", 2, False),
        ("m", 1, True),
        ("random_order", 1, False),
    ]


def test_a_metric_that_a_record_lacks_is_a_hole() -> None:
    found = [
        entry_of("a", {"aopc": near(0.5), "sufficiency": near(0.5)}),
        entry_of("b", {"aopc": near(0.4)}),
    ]
    table = table_of(*found)
    assert [[cell is None for cell in line.cells] for line in table.lines].count([False, True]) == 1
    assert "| –" in report.to_markdown(leaderboard.rows(found))  # noqa: RUF001


def test_one_example_has_no_interval() -> None:
    (row,) = leaderboard.rows([entry_of("a", {"aopc": [0.5]})])
    assert words.interval(row) == words.DASH
    (row,) = leaderboard.rows([entry_of("a", {"aopc": [0.5, 0.7]})])
    assert words.interval(row) == "0.500 … 0.700"


def test_markdown_tables_line_up_and_hold_the_ranks() -> None:
    text = report.to_markdown(leaderboard.rows(made_up.entries(n=30)))
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({len(line) for line in block.splitlines()}) == 1
    assert re.search(r"\| `random` +\| 0\.\d{3} [78]", text)
    assert "*best order*" in text and "aopc ↑" in text and "deletion auc ↓" in text


def test_markdown_details_hold_every_number() -> None:
    found = [entry_of("a", {"aopc": [0.25, 0.75, None]}), entry_of("b", {"aopc": [0.5, 0.5, 0.5]})]
    text = report.to_markdown(leaderboard.rows(found), details=True, command="attrial run --seed 3")
    assert re.search(r"\| `a` +\| 0.500 \| 0.250 … 0.750 \| 0.500 +\| 2 \| 1 +\| 2 +\| a +\|", text)
    assert "```\nattrial run --seed 3\n```" in text
    assert "0.250 …" not in report.to_markdown(leaderboard.rows(found))


def test_a_partial_submission_is_marked_and_never_bold() -> None:
    full = {"a": near(0.5), "c": near(0.1)}
    entries = [entry_of(name, {"aopc": found}) for name, found in full.items()]
    entries.append(entry_of("part", {"aopc": [*near(0.9)[:3], *([None] * 6)]}))
    text = report.to_markdown(leaderboard.rows(entries))
    assert "| **0.504** 1" in text and re.search(r"\| 0.901 2.3.* \(3 of 9\) \|", text)
    assert "`a` may be best on 1" in text and "`part` on" not in text


def test_markdown_of_others_words_stays_words() -> None:
    nasty = entry_of("a|b`c", {"aopc": [0.1, None]})
    spec = nasty.record.spec
    data = spec.data.model_copy(update={"task": "t*<b>|\n## x"})
    record = nasty.record.model_copy(update={"spec": spec.model_copy(update={"data": data})})
    text = report.to_markdown(leaderboard.rows([Entry(record, nasty.trials)]), details=True)
    assert "## t\\*\\<b\\>\\| ## x\n" in text
    assert "`a\\|b'c`" in text


def test_no_records_no_tables() -> None:
    assert "No records" in report.to_markdown([])
    assert "Attribution methods on trial" in report.page([])


def test_write_leaves_a_file_of_each_form(tmp_path: Path) -> None:
    found = made_up.entries(n=4)
    report.write(found, tmp_path / "new", command="attrial run")
    names = [f"leaderboard.{form}" for form in ("csv", "html", "json", "md", "tex")]
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == names
    rows = leaderboard.rows(found)
    assert (tmp_path / "new" / "leaderboard.json").read_text() == leaderboard.to_json(rows)
    assert json.loads(report.render(found, "json"))["rows"][0]["task"] == "planted_keyword"
    report.write(found[::-1], tmp_path / "again")
    for name in ("leaderboard.csv", "leaderboard.json"):
        again = (tmp_path / "again" / name).read_bytes()
        assert again == (tmp_path / "new" / name).read_bytes()


def test_an_unknown_form_is_one_line() -> None:
    with pytest.raises(AttrialError, match="no form 'htm': did you mean html"):
        report.render([], "htm")


def test_write_fails_loudly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AttrialError, match="can't write"):
        report.write([], tmp_path / "file")


def test_metric_versions_are_columns_of_their_own() -> None:
    old, new = entry_of("a", {"aopc": near(0.5)}), entry_of("b", {"aopc": near(0.4)})
    metrics = {"aopc": PluginSpec(name="aopc", version=2)}
    spec = new.record.spec.model_copy(update={"metrics": metrics})
    changed = Entry(new.record.model_copy(update={"spec": spec}), new.trials)
    assert [(c.metric, c.version) for c in table_of(old, changed).columns] == [
        ("aopc", 1),
        ("aopc", 2),
    ]
