"""Verdicts: every rule's ends, intervals against a plain second derivation, undefined cells."""

import random
from statistics import fmean, quantiles

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from attrial.check_bench import Outcome, Told
from attrial.check_judge import bootstrap, judge
from attrial.checks._alike import change, jaccard, similarity, spearman
from attrial.errors import AttrialError

GRID = [[0.1, 0.4, 0.2, 0.9], [0.3, 0.5, 0.1, 0.8], [0.2, 0.2, 0.2, 0.7]]
SCORES = st.lists(st.integers(-5, 5).map(float), min_size=3, max_size=9)


def verdict(
    rule: str, cells: list[float], null: float | None, levels: list[float] | None = None
) -> str:
    outcome = Outcome([cells], None if levels is None else [levels])
    return judge(outcome, rule=rule, null=null, seed=0).told.verdict


def plainly(grid: list[list[float | None]], times: int) -> tuple[float, float]:
    """Draw rows and columns anew, one by one, and take the mean of what is defined."""
    rng, means = random.Random(7), []
    for _ in range(times):
        rows = [rng.randrange(len(grid)) for _ in grid]
        columns = [rng.randrange(len(grid[0])) for _ in grid[0]]
        found = [v for r in rows for c in columns if (v := grid[r][c]) is not None]
        if found:
            means.append(fmean(found))
    cuts = quantiles(means, n=40, method="inclusive")
    return cuts[0], cuts[-1]


def test_intervals_are_those_of_drawing_rows_and_columns_one_by_one() -> None:
    found = bootstrap(np.array(GRID), seed=0)
    low, high = plainly([list(row) for row in GRID], 6000)
    assert found.mean == pytest.approx(np.mean(GRID))
    assert found.low == pytest.approx(low, abs=0.02) and found.high == pytest.approx(high, abs=0.02)


def test_intervals_leave_out_what_is_undefined() -> None:
    holes: list[list[float | None]] = [list(row) for row in GRID]
    holes[0][0] = holes[2][3] = None
    found = bootstrap(
        np.array([[np.nan if v is None else v for v in row] for row in holes]), seed=0
    )
    low, high = plainly(holes, 6000)
    assert found.low == pytest.approx(low, abs=0.02) and found.high == pytest.approx(high, abs=0.02)
    assert found.mean == pytest.approx(fmean(v for row in holes for v in row if v is not None))


def test_an_interval_without_spread_is_a_point() -> None:
    found = bootstrap(np.full((1, 5), 0.3), seed=0)
    assert found.low == found.mean == found.high == 0.3


@pytest.mark.parametrize(
    ("rule", "cells", "null", "told"),
    [
        ("same", [0.0, 0.0, 1e-7], 1e-6, "pass"),
        ("same", [0.0, 0.0, 0.0, 0.0, 1e-5], 1e-6, "fail"),
        ("less", [0.1, 0.2, 0.15], 0.5, "pass"),
        ("less", [0.9, 0.8, 0.7], 0.5, "fail"),
        ("less", [0.5, 0.5, 0.5], 0.5, "fail"),
        ("less", [0.1, 0.9, 0.4], 0.5, "flagged"),
        ("more", [0.9, 0.8, 0.7], 0.0, "pass"),
        ("more", [-0.9, -0.1], 0.0, "fail"),
        ("more", [-0.9, 0.8], 0.0, "flagged"),
        ("no more", [0.1, 0.2, -0.1], 0.1, "pass"),
        ("no more", [0.6, 0.7, 0.8], 0.1, "fail"),
        ("no more", [1.0, 1.0], 1.0, "fail"),
        ("no more", [0.7, 0.6, 0.8], 0.75, "flagged"),
    ],
)
def test_rules(rule: str, cells: list[float], null: float, told: str) -> None:
    assert verdict(rule, cells, null) == told


def test_levels_are_paired_with_their_examples() -> None:
    """The values spread more than they differ from their levels: only pairs can tell."""
    cells = [0.1, 0.5, 0.9, 0.3]
    assert verdict("less", cells, None, [c + 0.05 for c in cells]) == "pass"
    assert verdict("less", cells, None, [0.95, 0.15, 0.35, 0.55]) == "flagged"


def test_a_verdict_of_its_own_goes_before_the_rule() -> None:
    outcome = Outcome([[1.0]], told=Told("flagged", "as declared"))
    assert judge(outcome, rule="less", null=0.0, seed=0).told.sentence == "as declared"


def test_undefined_cells_are_counted_by_reason_and_no_value_is_made_of_them() -> None:
    some = judge(Outcome([[0.2, "flat", 0.4, "flat"]]), rule="less", null=1.0, seed=0)
    assert some.n == 2 and some.undefined == {"flat": 2} and some.value == pytest.approx(0.3)
    none = judge(Outcome([["flat", "short"]]), rule="less", null=1.0, seed=0)
    assert none.told.verdict == "undefined" and none.value is None
    assert none.undefined == {"flat": 1, "short": 1}


def test_a_rule_needs_a_level_and_a_name() -> None:
    with pytest.raises(AttrialError, match="NULL"):
        judge(Outcome([[0.1]]), rule="less", null=None, seed=0)
    with pytest.raises(AttrialError, match="no rule"):
        judge(Outcome([[0.1]]), rule="lower", null=0.0, seed=0)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=9))
def test_spearman_is_scipys_and_constants_have_none(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array(column, np.float64) for column in zip(*pairs, strict=True))
    found = spearman(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert isinstance(found, str)
    else:
        assert found == pytest.approx(spearmanr(a, b).statistic)


@given(SCORES)
def test_likeness_sees_through_signs_and_scales(scores: list[float]) -> None:
    s = np.array(scores)
    if len(set(np.abs(s))) > 1:
        assert similarity(s, -s) == pytest.approx(1.0) == similarity(s, 3 * s)
    assert change(s, s) == 0.0 and change(s, -s) == (2.0 if s.any() else 0.0)


def test_rounding_makes_ties_no_order() -> None:
    s = np.array([1.0, 1.0 + 1e-14, 3.0])
    assert spearman(s, np.array([1.0, 1.0, 3.0])) == 1.0


def test_overlap_of_tops() -> None:
    a, b = np.array([4.0, 3.0, 2.0, 1.0]), np.array([4.0, 1.0, 2.0, 3.0])
    assert jaccard(a, b, k=1) == 1.0 and jaccard(a, b, k=2) == pytest.approx(1 / 3)
    assert jaccard(a, b, k=9) == 1.0
    assert isinstance(jaccard(np.ones(3), a[:3], k=2), str)
