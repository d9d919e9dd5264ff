"""Evidence metrics: known answers, ties, random expectations, slow second derivations."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from attrial import plugin_call, testing
from attrial.errors import AttrialError, Undefined
from attrial.example import plain
from attrial.games import Game
from attrial.masks import Bools, Floats
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import slow

METRICS = ("average_precision", "precision_at_k", "pointing_game")
LOGIT = Target(0, "logit")
grid = st.integers(-3, 3).map(float)
cases = st.lists(st.tuples(grid, st.booleans()), min_size=2, max_size=6)


def untouched(n: int) -> Game:
    """A game whose model must not be asked."""

    def value(masks: Bools) -> Floats:
        raise AssertionError("an evidence metric asked the model")

    return testing.game(n, value)


def score(metric: str, scores: Sequence[float], truth: Sequence[bool]) -> float:
    return testing.score(metric, untouched(len(scores)), scores, truth=truth)


def random_expectation(metric: str, truth: Sequence[bool]) -> float:
    x = plain(len(truth), np.array(truth))
    asker = plugin_call.metric(metric).expected(x, 0)
    (got,) = answer(Value(untouched(x.n)), [(Subject(x, "game", LOGIT), asker)])
    if got.undefined is not None:
        raise Undefined(got.undefined)
    assert got.result is not None
    return got.result


def precision_of_order(order: slow.Order, truth: Sequence[bool], k: int) -> float:
    return sum(truth[i] for i in order[:k]) / k


def average_precision_of_order(order: slow.Order, truth: Sequence[bool]) -> float:
    """Precision at each evidence player's rank, averaged."""
    ranks = [r for r, i in enumerate(order, 1) if truth[i]]
    return sum(hit / r for hit, r in enumerate(ranks, 1)) / len(ranks)


def split(case: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    scores, truth = [s for s, _ in case], [t for _, t in case]
    assume(any(truth) and not all(truth))
    return scores, truth


@given(cases)
def test_average_precision_is_scikit_learns(case: list[tuple[float, bool]]) -> None:
    scores, truth = split(case)
    expected = average_precision_score(truth, scores)
    assert score("average_precision", scores, truth) == pytest.approx(expected, abs=1e-12)


@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_average_precision_without_ties(order: list[int], truth: list[bool]) -> None:
    assume(any(truth) and not all(truth))
    scores = np.empty(6)
    scores[order] = np.arange(6, 0, -1)
    expected = average_precision_of_order(tuple(order), truth)
    assert score("average_precision", scores.tolist(), truth) == pytest.approx(expected, abs=1e-12)


def test_constant_scores_get_the_share_of_evidence_never_the_trapezoid() -> None:
    one_of_five = [False, False, True, False, False]
    assert score("average_precision", [0.0] * 5, one_of_five) == pytest.approx(0.2, abs=1e-12)
    recall, precision = [0, 1], [1, 0.2]
    assert np.trapezoid(precision, recall) == pytest.approx(0.6)  # what others call AUPRC


def test_expected_average_precision_of_two_in_six() -> None:
    truth = [True, True, False, False, False, False]
    assert random_expectation("average_precision", truth) == pytest.approx(0.526667, abs=5e-7)
    assert random_expectation("precision_at_k", truth) == pytest.approx(2 / 6, abs=1e-12)


@pytest.mark.parametrize(("n", "p"), [(2, 1), (3, 1), (4, 2), (5, 1), (5, 3), (6, 2), (6, 5)])
def test_random_expectations_are_means_over_all_orders(n: int, p: int) -> None:
    truth = [i < p for i in range(n)]
    orders = list(itertools.permutations(range(n)))
    for metric, one in (
        ("average_precision", average_precision_of_order),
        ("precision_at_k", lambda order, truth: precision_of_order(order, truth, p)),
        ("precision_at_k(k=3)", lambda order, truth: precision_of_order(order, truth, min(3, n))),
        ("pointing_game", lambda order, truth: precision_of_order(order, truth, 1)),
    ):
        expected = sum(one(order, truth) for order in orders) / len(orders)
        assert random_expectation(metric, truth) == pytest.approx(expected, abs=1e-12), metric


@given(cases, st.integers(1, 8))
def test_precision_is_the_mean_over_every_way_to_break_ties(
    case: list[tuple[float, bool]], k: int
) -> None:
    scores, truth = split(case)
    orders = list(slow.orders(scores))
    for metric, size in (
        (f"precision_at_k(k={k})", min(k, len(scores))),
        ("precision_at_k", sum(truth)),
        ("pointing_game", 1),
    ):
        expected = sum(precision_of_order(order, truth, size) for order in orders) / len(orders)
        assert score(metric, scores, truth) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@given(cases)
def test_extremes_are_those_of_all_orders(metric: str, case: list[tuple[float, bool]]) -> None:
    scores, truth = split(case)
    n = len(scores)
    found = [score(metric, np.argsort(o).tolist(), truth) for o in itertools.permutations(range(n))]
    got = testing.score(metric, untouched(n), scores, truth=truth, normalised=True)
    raw, best, worst = score(metric, scores, truth), max(found), min(found)
    assert got == pytest.approx((raw - worst) / (best - worst), abs=1e-9)
    assert 0 <= got <= 1


@pytest.mark.parametrize("metric", METRICS)
@given(cases, st.integers(0, 99))
def test_only_the_order_matters_and_names_do_not(
    metric: str, case: list[tuple[float, bool]], seed: int
) -> None:
    scores, truth = split(case)
    got, s = score(metric, scores, truth), np.array(scores)
    for same in (np.exp(s), 3 * s + 1):
        assert score(metric, same.tolist(), truth) == got
    names = np.random.default_rng(seed).permutation(len(scores))
    renamed = score(metric, [scores[i] for i in names], [truth[i] for i in names])
    assert renamed == pytest.approx(got, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("truth", "why"),
    [
        (None, "no known evidence"),
        ([False] * 3, "no known evidence"),
        ([True] * 3, "every player is evidence"),
    ],
)
def test_nothing_to_find_has_no_value(metric: str, truth: list[bool] | None, why: str) -> None:
    for normalised in (False, True):
        with pytest.raises(Undefined, match=why):
            testing.score(metric, untouched(3), [1, 2, 3], truth=truth, normalised=normalised)
    if truth is not None:
        with pytest.raises(Undefined, match=why):
            random_expectation(metric, truth)


def test_a_k_below_one_is_refused() -> None:
    with pytest.raises(AttrialError, match="k must be at least 1"):
        score("precision_at_k(k=0)", [1.0, 2.0], [True, False])


@pytest.mark.parametrize("metric", METRICS)
def test_declared_as_evidence(metric: str) -> None:
    facts = plugin_call.metric(metric).facts
    assert facts.family == "evidence" and facts.higher_is_better


@pytest.mark.parametrize(
    "method", ["occlusion", "shapley", "input_x_gradient", "integrated_gradients"]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_planted_shortcut_is_put_on_top(method: str, seed: int) -> None:
    """y = 10 [token = S] + small additive noise."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 11))
    truth = np.arange(n) == rng.integers(n)
    tokens = np.stack([truth.astype(float), rng.normal(size=n)], axis=1)
    direction = np.array([10.0, 0.1])
    game = testing.smooth(
        lambda x: (x @ direction).sum(1),
        lambda x: np.broadcast_to(direction, x.shape),
        tokens,
        np.zeros_like(tokens),
    )
    scores = testing.attribute(method, game)
    assert testing.score("precision_at_k(k=1)", game, scores, truth=truth) == 1
    assert testing.score("precision_at_k(k=1)", game, np.zeros(n), truth=truth) == 1 / n
