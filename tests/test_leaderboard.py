"""Ranking: who competes with whom, in which direction, and what the published table holds."""

import csv
import io
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import leaderboard
from attrial.leaderboard import Row
from attrial.record import Cost, DataSpec, PluginSpec, Record, Trial
from attrial.store import Entry
from tests import made_up
from tests.made_up import Made

ISSUED = "task model removal method metric value low high normalised n undefined rank_low rank_high"


def entry_of(
    label: str, values: list[float | None], *, metric: str = "aopc", version: int = 1
) -> Entry:
    """A record of one metric with exactly these values."""
    spec = made_up.spec(Made(n=len(values), metrics=(metric,)), label, version=version)
    trials = [
        Trial(
            id=str(i),
            players=["a", "b"],
            scores=[1.0, 0.0],
            target=0,
            values={metric: v},
            normalised={metric: v},
            reasons={} if v is not None else {metric: "no evidence"},
        )
        for i, v in enumerate(values)
    ]
    return Entry(made_up.record_of(spec, trials), trials)


def of(found: list[Row], method: str) -> Row:
    (row,) = [row for row in found if row.method == method]
    return row


def test_fields_open_with_those_that_are_promised() -> None:
    assert list(Row.model_fields)[:13] == ISSUED.split()


def test_ranks_equal_a_plain_second_derivation() -> None:
    """Every pair of every board again: dictionaries, all flips by itertools, Holm by hand."""
    found = made_up.entries(n=9, removals=("mask", "delete"))
    table = leaderboard.rows(found)
    for removal, metric in itertools.product(("mask", "delete"), made_up.FACTS):
        seats = {
            e.record.spec.label: {t.id: t.values[metric] for t in e.trials}
            for e in found
            if e.record.spec.removal == removal
            and metric in e.record.spec.metrics
            and not e.record.spec.control
        }
        expected = slow_ranks(seats, made_up.FACTS[metric].higher_is_better)
        rows = [r for r in table if (r.removal, r.metric, r.control) == (removal, metric, False)]
        assert {r.method: (r.rank_low, r.rank_high) for r in rows} == expected


def slow_ranks(
    seats: dict[str, dict[str, float | None]], higher: bool
) -> dict[str, tuple[int, int]]:
    pairs = list(itertools.combinations(seats, 2))
    told: list[tuple[float, str, str]] = []
    for a, b in pairs:
        d = [
            x - y
            for key, x in seats[a].items()
            if x is not None and (y := seats[b][key]) is not None
        ]
        flips = itertools.product((1, -1), repeat=len(d))
        sums = [abs(math.fsum(s * v for s, v in zip(f, d, strict=True))) for f in flips]
        p = sum(s >= abs(math.fsum(d)) - 1e-9 for s in sums) / len(sums)
        told.append((p, *((a, b) if (math.fsum(d) > 0) == higher else (b, a))))
    low, high = dict.fromkeys(seats, 1), dict.fromkeys(seats, len(seats))
    worst = 0.0
    for k, (p, winner, loser) in enumerate(sorted(told)):
        worst = max(worst, p * (len(pairs) - k))
        if worst <= 0.05:
            low[loser] += 1
            high[winner] -= 1
    counts = {name: sum(v is not None for v in found.values()) for name, found in seats.items()}
    first = {name: 1 if n == max(counts.values()) else 2 for name, n in counts.items()}
    return {name: (max(low[name], first[name]), max(high[name], first[name])) for name in seats}


@given(st.permutations(range(11)))
@settings(max_examples=15, deadline=None)
def test_the_order_of_entries_is_free(order: list[int]) -> None:
    found = made_up.entries(n=6)
    assert leaderboard.to_json(leaderboard.rows([found[i] for i in order])) == leaderboard.to_json(
        leaderboard.rows(found)
    )


def test_the_metrics_direction_decides() -> None:
    low, high = [0.1 + 0.01 * i for i in range(10)], [0.5 + 0.02 * i for i in range(10)]
    for metric, best in (("aopc", "big"), ("deletion_auc", "small")):
        table = leaderboard.rows(
            [entry_of("small", [*low], metric=metric), entry_of("big", [*high], metric=metric)]
        )
        assert table[0].method == best
        assert (table[0].rank_low, table[0].rank_high, table[0].tied) == (1, 1, "a")
        assert (table[1].rank_low, table[1].rank_high, table[1].tied) == (2, 2, "b")


def test_identical_methods_are_tied() -> None:
    same: list[float | None] = [0.3, 0.1, 0.7, 0.9, 0.2, 0.4, 0.5]
    table = leaderboard.rows([entry_of("one", same), entry_of("two", [*same])])
    assert [(r.rank_low, r.rank_high, r.tied) for r in table] == [(1, 2, "a")] * 2


def test_controls_are_shown_last_and_not_ranked() -> None:
    table = leaderboard.rows(made_up.entries(n=12))
    for _, board in itertools.groupby(table, key=lambda r: r.metric):
        rows = list(board)
        assert [r.method for r in rows[-3:]] == ["best_order", "random_order", "worst_order"]
        assert all(r.rank_low is None and r.tied == "" for r in rows[-3:])
        assert all(r.rank_high is not None and r.rank_high <= 8 for r in rows[:-3])


def test_methods_are_held_against_a_random_order() -> None:
    chance = entry_of("random_order", [0.5] * 10, metric="deletion_auc")
    good = entry_of("good", [0.3 + 0.01 * i for i in range(10)], metric="deletion_auc")
    bad = entry_of("bad", [0.6 + 0.01 * i for i in range(10)], metric="deletion_auc")
    level = entry_of("level", [0.5 + 0.1 * (-1) ** i for i in range(10)], metric="deletion_auc")
    table = leaderboard.rows([chance, good, bad, level])
    verdicts = {r.method: r.versus_random for r in table}
    assert verdicts == {"good": "better", "bad": "worse", "level": "level", "random_order": None}
    assert of(leaderboard.rows([bad]), "bad").versus_random is None


def test_undefined_is_counted_and_never_filled() -> None:
    some = entry_of("some", [0.5, None, 0.7, None])
    none = entry_of("none", [None] * 4)
    table = leaderboard.rows([some, none, entry_of("full", [0.1, 0.2, 0.3, 0.4])])
    assert (of(table, "some").n, of(table, "some").undefined) == (2, 2)
    assert of(table, "some").reasons == {"no evidence": 2}
    assert of(table, "some").value == pytest.approx(0.6)
    lost = of(table, "none")
    assert (lost.value, lost.low, lost.n, lost.undefined, lost.rank_low) == (None, None, 0, 4, None)
    assert table[-1] == lost
    assert of(table, "full").rank_high == 2


def test_pairs_are_compared_on_common_examples_only() -> None:
    """Where both are defined b is better; a's higher mean comes from examples that b lacks."""
    a = entry_of("a", [*([0.1] * 8), *([0.9] * 8)])
    b = entry_of("b", [*(0.2 + 0.01 * i for i in range(8)), *([None] * 8)])
    table = leaderboard.rows([a, b])
    assert not set(of(table, "a").tied) & set(of(table, "b").tied)
    assert of(table, "a").rank_low == 2


def test_values_on_fewer_examples_are_never_first() -> None:
    """Nobody beats b on the examples that it has, but it leaves the others out."""
    a = entry_of("a", [0.1 + 0.01 * i for i in range(16)])
    b = entry_of("b", [*(0.9 + 0.01 * i for i in range(3)), *([None] * 13)])
    level = entry_of("c", [0.1 + 0.01 * i for i in range(16)])
    table = leaderboard.rows([a, b, level])
    assert {r.method: (r.rank_low, r.rank_high) for r in table} == {
        "a": (1, 3),
        "b": (2, 3),
        "c": (1, 3),
    }
    assert {r.tied for r in table} == {"a"}


def test_examples_are_matched_by_their_ids() -> None:
    one = entry_of("one", [0.1, 0.5, 0.9, 0.3, 0.2, 0.8, 0.4])
    turned = Entry(one.record, one.trials[::-1])
    two = entry_of("two", [0.1, 0.5, 0.9, 0.3, 0.2, 0.8, 0.4])
    assert [(r.rank_low, r.rank_high) for r in leaderboard.rows([turned, two])] == [(1, 2)] * 2


def changed(entry: Entry, **spec: object) -> Entry:
    new = entry.record.spec.model_copy(update=spec)
    return Entry(entry.record.model_copy(update={"spec": new}), entry.trials)


APART: dict[str, dict[str, object]] = {
    "data": {"data": DataSpec(task="planted_keyword", source="", digest="other", count=8)},
    "metric version": {"metrics": {"aopc": PluginSpec(name="aopc", version=2)}},
    "metric arguments": {"metrics": {"aopc": PluginSpec(name="aopc", args={"bins": 5})}},
    "players": {"players": "tokens"},
    "target": {"target": "logit of the predicted class"},
    "explained under": {"explained_under": "delete"},
    "removal": {"removal": "delete"},
    "seed": {"seed": 1},
}


@pytest.mark.parametrize("what", APART)
def test_what_cannot_be_compared_is_ranked_apart(what: str) -> None:
    good = entry_of("good", [0.8 + 0.01 * i for i in range(8)])
    bad = entry_of("bad", [0.1 + 0.02 * i for i in range(8)])
    assert of(leaderboard.rows([good, bad]), "bad").rank_low == 2
    table = leaderboard.rows([good, changed(bad, **APART[what])])
    assert [(r.rank_low, r.rank_high) for r in table] == [(1, 1), (1, 1)]


def test_only_the_newest_version_of_a_method_competes() -> None:
    old = entry_of("m", [0.9 + 0.001 * i for i in range(8)], version=1)
    new = entry_of("m", [0.5 + 0.01 * i for i in range(8)], version=2)
    other = entry_of("other", [0.1 + 0.02 * i for i in range(8)])
    table = leaderboard.rows([old, new, other])
    assert [(r.method, r.version, r.rank_low) for r in table] == [
        ("m", 2, 1),
        ("other", 1, 2),
        ("m", 1, None),
    ]


def test_a_run_that_is_there_twice_is_one_row() -> None:
    found = entry_of("m", [0.1, 0.2])
    assert len(leaderboard.rows([found, found])) == 1


def test_methods_that_beat_the_searched_best_order_are_counted() -> None:
    row = of(leaderboard.rows([entry_of("m", [0.4, 1.0, 1.2, None])]), "m")
    assert (row.above_best, row.normalised_n) == (1, 3)


def test_a_value_that_is_not_finite_decides_nothing() -> None:
    odd = entry_of("odd", [0.1, 0.2, 0.3])
    trials = [odd.trials[0].model_copy(update={"values": {"aopc": math.inf}}), *odd.trials[1:]]
    table = leaderboard.rows([Entry(odd.record, trials), entry_of("other", [0.1, 0.2, 0.3])])
    assert {r.method: (r.rank_low, r.rank_high) for r in table} == {"odd": (2, 2), "other": (1, 2)}


def test_json_is_the_same_bytes_whatever_it_cost_and_when() -> None:
    found = made_up.entries(n=5)
    moved = [
        Entry(
            Record.model_validate(
                e.record.model_dump()
                | {
                    "cost": Cost(rows=7, seconds=1.5),
                    "made_with": {"date": "later", "machine": "b"},
                }
            ),
            e.trials,
        )
        for e in found
    ]
    text = leaderboard.to_json(leaderboard.rows(found))
    assert text == leaderboard.to_json(leaderboard.rows(moved))
    assert json.loads(text)["schema"] == 1
    assert list(json.loads(text)["rows"][0]) == list(Row.model_fields)
    assert "seconds" not in text and "machine" not in text


def test_json_and_csv_hold_the_same_full_numbers() -> None:
    table = leaderboard.rows(made_up.entries(n=5))
    dumped = json.loads(leaderboard.to_json(table))["rows"]
    read = list(csv.DictReader(io.StringIO(leaderboard.to_csv(table))))
    assert [Row.model_validate(row) for row in dumped] == table
    for line, row in zip(read, table, strict=True):
        assert line["value"] == ("" if row.value is None else repr(row.value))
        assert line["method"] == row.method
        assert (json.loads(line["reasons"]) if line["reasons"] else {}) == row.reasons


def test_frame_has_numbers_as_numbers() -> None:
    table = leaderboard.rows([entry_of("none", [None, None]), entry_of("m", [0.1, 0.2])])
    frame = leaderboard.frame(table)
    assert list(frame.columns) == list(Row.model_fields)
    assert frame["value"].dtype == np.float64 and str(frame["rank_low"].dtype) == "Int64"
    assert frame.loc[frame.method == "none", "value"].isna().all()
    assert list(leaderboard.frame([]).columns) == list(Row.model_fields)


def test_no_entries_no_rows() -> None:
    assert leaderboard.rows([]) == []
    assert json.loads(leaderboard.to_json([])) == {"schema": 1, "rows": []}


def test_letters_agree_with_rank_intervals() -> None:
    """On every board: sharing no letter means that one is told to be better."""
    table = [r for r in leaderboard.rows(made_up.entries(n=10)) if not r.control]
    for _, board in itertools.groupby(table, key=lambda r: r.metric):
        rows = list(board)
        apart = {
            (a.method, b.method)
            for a, b in itertools.permutations(rows, 2)
            if not set(a.tied) & set(b.tied)
        }
        for row in rows:
            assert row.rank_low is not None and row.rank_high is not None
            told = sum(name == row.method for name, _ in apart)
            if row.n == max(r.n for r in rows):  # others are kept from the first rank
                assert told == (row.rank_low - 1) + (len(rows) - row.rank_high)
