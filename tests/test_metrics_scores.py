"""Metrics that read scores alone: concentration, and where relevance lies; nothing is asked."""

import itertools
from collections.abc import Sequence
from math import exp, log
from statistics import fmean

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attrial import plugin_call, testing
from attrial.errors import Undefined
from attrial.example import plain
from attrial.masks import Floats, Masks
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import slow

COMPLEXITY = ("gini", "entropy", "effective_size")
grid = st.integers(-3, 3).map(float)
cases = st.lists(st.tuples(grid, st.booleans()), min_size=2, max_size=6)


def score(
    metric: str, scores: Sequence[float] | Floats, truth: Sequence[bool] | None = None
) -> float:
    def value(masks: Masks) -> Floats:
        raise AssertionError("the model was asked")

    return testing.score(metric, testing.game(len(scores), value), scores, truth=truth)


@pytest.mark.parametrize("n", [1, 2, 4, 9])
def test_concentration_of_equal_scores_and_of_a_single_one(n: int) -> None:
    equal = {metric: score(metric, [-2.0] * n) for metric in COMPLEXITY}
    assert equal == pytest.approx({"gini": 0, "entropy": log(n), "effective_size": n}, abs=1e-12)
    for place in range(n):  # Gini without sorting would depend on the place
        one = {metric: score(metric, np.arange(n) == place) for metric in COMPLEXITY}
        assert one == pytest.approx({"gini": (n - 1) / n, "entropy": 0, "effective_size": 1})


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=6), st.floats(0.1, 9))
def test_concentration_is_of_shares(scores: list[float], factor: float) -> None:
    sizes = [abs(s) for s in scores]
    assume(sum(sizes) > 1e-3)
    n, mean = len(sizes), fmean(sizes)
    gaps = sum(abs(a - b) for a, b in itertools.product(sizes, sizes))
    p = [s / sum(sizes) for s in sizes]
    expected = {
        "gini": gaps / (2 * n * n * mean),
        "entropy": -sum(q * log(q) for q in p if q),
        "effective_size": 1 / sum(q * q for q in p),
    }
    for same in (scores, [-factor * s for s in scores], scores[::-1]):
        got = {metric: score(metric, same) for metric in COMPLEXITY}
        assert got == pytest.approx(expected, abs=1e-9)
    assert 1 - 1e-9 <= expected["effective_size"] <= exp(expected["entropy"]) + 1e-9 <= n + 1e-6


@pytest.mark.parametrize("metric", COMPLEXITY)
def test_no_relevance_has_no_concentration(metric: str) -> None:
    with pytest.raises(Undefined, match="every score is 0"):
        score(metric, [0.0, 0.0])
    with pytest.raises(Undefined, match="no players"):
        score(metric, [])
    assert plugin_call.metric(metric).facts.family == "complexity"


@given(cases)
def test_mrr_is_the_mean_over_every_way_to_break_ties(case: list[tuple[float, bool]]) -> None:
    scores, truth = [s for s, _ in case], [t for _, t in case]
    assume(any(truth) and not all(truth))
    found = [next(1 / r for r, i in enumerate(o, 1) if truth[i]) for o in slow.orders(scores)]
    assert score("mrr", scores, truth) == pytest.approx(fmean(found), abs=1e-12)


@given(cases)
def test_relevance_on_the_evidence(case: list[tuple[float, bool]]) -> None:
    scores, truth = [s for s, _ in case], [t for _, t in case]
    assume(any(truth) and not all(truth))
    rank = score("relevance_rank", scores, truth)
    p = sum(truth)
    hits = [sum(truth[i] for i in order[:p]) / p for order in slow.orders(scores)]
    assert rank == pytest.approx(fmean(hits), abs=1e-12)
    positive = sum(s for s in scores if s > 0)
    if not positive:
        with pytest.raises(Undefined, match="no positive relevance"):
            score("relevance_mass", scores, truth)
        return
    inside = sum(s for s, t in case if s > 0 and t)
    assert score("relevance_mass", scores, truth) == pytest.approx(inside / positive)


def test_expected_mass_is_the_mean_over_all_orders() -> None:
    truth, scores = np.array([True, True, False, False, False]), [3.0, -1.0, 0.5, 2.0, 0.0]
    found = [score("relevance_mass", p, truth.tolist()) for p in itertools.permutations(scores)]
    game = testing.game(5, lambda m: np.zeros(len(m)))
    assert fmean(found) == pytest.approx(0.4, abs=1e-12)
    asker = plugin_call.metric("relevance_mass").expected(plain(5, truth), 0)
    (got,) = answer(Value(game), [(Subject(plain(5, truth), "game", Target(0, "logit")), asker)])
    assert got.result == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize("metric", ["relevance_mass", "relevance_rank", "mrr"])
def test_evidence_on_top_is_best(metric: str) -> None:
    truth = [False, True, True, False, False, False]
    game = testing.game(6, lambda m: np.zeros(len(m)))
    for scores, place in (([0, 2, 1, 0, 0, 0], 1), ([4, 0, 0, 3, 2, 1], 0)):
        got = testing.score(metric, game, scores, truth=truth, normalised=True)
        assert got == pytest.approx(place, abs=1e-12)
    for unknown in (None, [False] * 6, [True] * 6):
        with pytest.raises(Undefined):
            testing.score(metric, game, range(6), truth=unknown)
