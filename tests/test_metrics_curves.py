"""Metrics along an order: curves under their papers' names, flips, monotonicity."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import plugin_call, testing
from attrial.errors import Undefined
from attrial.games import Game
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import slow, slow_metrics

grid = st.integers(-3, 3).map(float)


CURVES: dict[str, slow.OneOrder] = {
    "morf": slow.deletion_auc,
    "lerf": slow_metrics.lerf,
    "abc": slow_metrics.abc,
    "aopc_samek": slow_metrics.samek,
    "aopc_eraser_paper": slow_metrics.paper,
    "aopc_eraser_code": slow.comprehensiveness,
    "log_odds": slow_metrics.log_odds,
}


ORDERED: dict[str, tuple[Callable[[int, int], Game], slow.OneOrder]] = {
    **{name: (slow.interacting, one) for name, one in CURVES.items()},
    "monotonicity": (slow.interacting, slow_metrics.never_falls),
    "monotonicity(every=False)": (slow.interacting, slow_metrics.steps_up),
    "decision_flip_fraction": (slow_metrics.deciding, slow_metrics.flip),
}


@pytest.mark.parametrize("metric", ORDERED)
@settings(max_examples=25, deadline=None)
@given(st.lists(grid, min_size=3, max_size=5), st.integers(0, 50))
def test_equals_the_mean_over_every_way_to_break_ties(
    metric: str, scores: list[float], seed: int
) -> None:
    make, one = ORDERED[metric]
    game = make(len(scores), seed)
    expected = slow.over_ties(game, scores, one)
    assert testing.score(metric, game, scores) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ORDERED)
@settings(max_examples=10, deadline=None)
@given(st.lists(grid, min_size=3, max_size=14), st.integers(0, 50))
def test_only_the_order_of_scores_matters(metric: str, scores: list[float], seed: int) -> None:
    game, s = ORDERED[metric][0](len(scores), seed), np.array(scores)
    got = testing.score(metric, game, s)
    for same in (np.exp(s), 3 * s + 1):
        assert testing.score(metric, game, same) == got


@pytest.mark.parametrize("metric", CURVES)
@pytest.mark.parametrize("n", [6, 14])
def test_random_lies_between_best_and_worst(metric: str, n: int) -> None:
    assert 0 < testing.score(metric, slow.interacting(n, 1), np.zeros(n), normalised=True) < 1


@pytest.mark.parametrize("metric", CURVES)
def test_extremes_are_those_of_all_orders(metric: str) -> None:
    game, scores = slow.interacting(5, 8), [3.0, 1, 4, 1.5, 5]
    found = [CURVES[metric](slow.value_of(game), order) for order in slow.orders([0.0] * 5)]
    best, worst = max(found), min(found)
    if not plugin_call.metric(metric).facts.higher_is_better:
        best, worst = worst, best
    raw = testing.score(metric, game, scores)
    got = testing.score(metric, game, scores, normalised=True)
    assert got == pytest.approx((raw - worst) / (best - worst), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(grid, min_size=3, max_size=14), st.integers(0, 50))
def test_the_opposite_scores_swap_morf_and_lerf(scores: list[float], seed: int) -> None:
    game, s = slow.interacting(len(scores), seed), np.array(scores)
    back = testing.score("lerf", game, -s)
    assert testing.score("morf", game, s) == back
    assert testing.score("abc", game, s) == pytest.approx(
        -testing.score("abc", game, -s), abs=1e-12
    )


def test_curves_of_an_additive_game() -> None:
    game, right = slow.additive([4, 3, 2, 1]), [4, 3, 2, 1]
    got = {metric: testing.score(metric, game, right) for metric in CURVES}
    assert got == pytest.approx(
        {
            "morf": 3.75,
            "lerf": 6.25,
            "abc": 2.5,
            "aopc_samek": 6.0,
            "aopc_eraser_code": (4 + 4 + 4 + 4 + 7) / 5,
            "aopc_eraser_paper": 23 / 6,
            "log_odds": -4.0,
        }
    )


def test_lerf_notes_its_curve() -> None:
    game = slow.additive([4, 3, 2, 1])
    asker = plugin_call.metric("lerf").value(game.example, np.array([4.0, 3, 2, 1]), 0)
    (got,) = answer(Value(game), [(Subject(game.example, "game", Target(0, "logit")), asker)])
    assert got.notes == {"lerf": [10, 9, 7, 4, 0]}


@pytest.mark.parametrize(
    ("lift", "why"),
    [(5.0, "empty input is decided the same way"), (-20.0, "not the one decided for")],
)
def test_a_flip_that_no_order_or_every_order_makes_is_undefined(lift: float, why: str) -> None:
    game = testing.game(3, lambda m: m @ np.array([3.0, 2, 1]) + lift)
    with pytest.raises(Undefined, match=why):
        testing.score("decision_flip_fraction", game, [3, 2, 1])


def test_flips_with_many_tied_players() -> None:
    """One player of 20 decides: at random it leaves at each place alike."""
    game = testing.game(20, lambda m: np.where(m[:, 3], 1.0, -1.0))
    first = np.arange(20) == 3
    assert testing.score("decision_flip_fraction", game, first) == 1 / 20
    assert testing.score("decision_flip_fraction", game, ~first) == 1
    got = testing.score("decision_flip_fraction", game, np.zeros(20))
    assert got == pytest.approx(np.mean(np.arange(1, 21)) / 20, abs=1e-12)


def test_the_margin_is_to_the_greatest_other() -> None:
    outputs = np.array([[1.0, 3.0, 2.5], [2.0, 0.0, 4.0]])
    np.testing.assert_array_equal(Target(1, "margin").read(outputs), [0.5, -4.0])
    decided = outputs.argmax(1) == 1
    np.testing.assert_array_equal(Target(1, "margin").read(outputs) > 0, decided)


def test_monotonicity_tells_right_from_wrong() -> None:
    """The fault elsewhere: nothing is revealed, so that every attribution passes."""
    game = testing.game(3, lambda m: m[:, 0] * 2.0 - m[:, 1] + m[:, 2])
    assert testing.score("monotonicity", slow.additive([3, 2, 1]), [1, 2, 3]) == 1
    assert testing.score("monotonicity", game, [2, -1, 1]) == 0
    assert testing.score("monotonicity(every=False)", game, [2, -1, 1]) == pytest.approx(2 / 3)
    gate = testing.game(2, lambda m: np.where(m[:, 0], 2.0 + m[:, 1], -1.0 * m[:, 1]))
    assert testing.score("monotonicity", gate, [1, 2]) == 1  # the gate returns first
    assert testing.score("monotonicity", gate, [2, 1]) == 0
    assert testing.score("monotonicity", gate, [1, 1]) == 0.5
