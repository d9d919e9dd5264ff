"""Sequential integrated gradients on long inputs: fewer steps, no more gradients than allowed."""

import numpy as np
import pytest

from attrial import plugin_call, testing
from attrial.errors import AttrialError
from attrial.games import Smooth
from attrial.masks import Floats
from attrial.value import Answer, Subject, Value, answer

NAME = "sequential_integrated_gradients"


def curved(n: int) -> Smooth:
    """A polynomial of degree 4 along each player's own way, with neighbours that interact."""
    worth = np.random.default_rng(n).normal(size=n)

    def value(points: Floats) -> Floats:
        z = points[..., 0]
        return np.asarray(((worth * z**4) + z * np.roll(z, 1, -1)).sum(-1))

    def gradient(points: Floats) -> Floats:
        z = points[..., 0]
        slope = 4 * worth * z**3 + np.roll(z, 1, -1) + np.roll(z, -1, -1)
        return np.asarray(slope[..., None])

    return testing.smooth(value, gradient, np.ones((n, 1)), np.zeros((n, 1)))


def played(n: int, options: str = "") -> Answer[Floats]:
    game = curved(n)
    asker = plugin_call.method(f"{NAME}({options})")(game.example, 0)
    return answer(Value(game), [(Subject(game.example, "game", game.target), asker)])[0]


def left_out(n: int) -> Floats:
    """What the answer loses when one player is at the baseline."""
    ones, points = np.ones((n, 1)), np.ones((n, n, 1))
    points[np.arange(n), np.arange(n)] = 0
    return np.subtract(curved(n).function(ones[None]), curved(n).function(points))


@pytest.mark.parametrize(
    ("n", "steps", "asked"),
    [
        (10, 20, 211),
        (47, 20, 988),
        (48, 19, 961),
        (100, 8, 901),
        (333, 2, 1000),
        (334, 1, 669),
        (500, 0, 501),
    ],
)
def test_no_input_takes_more_gradients_than_the_bound(n: int, steps: int, asked: int) -> None:
    got = played(n)
    assert got.cost.slopes == asked and (asked <= 1000 or steps == 0)
    assert got.notes["steps"] == steps
    assert got.notes["bounded"] == (steps < 20)


def test_a_short_input_is_not_touched_by_the_bound() -> None:
    bounded, free = played(47), played(47, "gradients=1000000")
    assert bounded.result is not None and free.result is not None
    assert bounded.result.tobytes() == free.result.tobytes()
    assert played(48, "gradients=1000000").cost.slopes == 48 * 21 + 1


def test_more_players_than_gradients_get_the_ends_of_their_ways() -> None:
    got = played(30, "gradients=7")
    assert (got.cost.slopes, got.notes["steps"], got.notes["bounded"]) == (31, 0, 1)
    game = curved(30)
    ends = np.ones((31, 30, 1))
    ends[np.arange(30), np.arange(30)] = 0
    slopes = np.asarray(game.gradient(ends))[..., 0]
    assert got.result is not None
    np.testing.assert_allclose(got.result, (np.diagonal(slopes) + slopes[-1]) / 2, atol=1e-12)
    gap = np.abs(got.result - left_out(30)).max()
    assert got.notes["completeness_gap"] == pytest.approx(gap, abs=1e-12)
    assert gap > 0.1  # degree 4 by two points: the gap says so


@pytest.mark.parametrize("quadrature", ["gauss_legendre", "midpoint", "trapezoid", "left", "right"])
def test_every_quadrature_comes_to_leaving_one_out(quadrature: str) -> None:
    got = played(6, f"steps=400, gradients=1000000, quadrature='{quadrature}'")
    assert got.result is not None
    np.testing.assert_allclose(got.result, left_out(6), atol=0.05)
    ends = {"trapezoid": 2, "left": 1, "right": 1}.get(quadrature, 0)
    between = 400 + (quadrature == "trapezoid") - ends
    assert got.cost.slopes == 6 * between + 7  # ends are asked about once


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(AttrialError, match="gradients=0; it takes 1 to 1000000"):
        played(3, "gradients=0")
