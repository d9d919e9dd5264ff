"""Methods that ask many gradients ask them in portions, and come to the same numbers."""

from collections.abc import Sequence

import numpy as np
import pytest

from attrial import plugin_call, testing
from attrial.ask import Slope, Slopes
from attrial.errors import AttrialError
from attrial.games import Smooth
from attrial.masks import Floats
from attrial.value import Subject, Value, answer
from attrial_methods import _ways

RNG = np.random.default_rng(5)
WAY = RNG.normal(size=(4, 3))
INPUT, BASELINE = RNG.normal(size=(2, 4, 3))


def value(x: Floats) -> Floats:
    return np.asarray(np.tanh((x * WAY).sum((1, 2))))


def gradient(x: Floats) -> Floats:
    return np.asarray((1 - value(x) ** 2)[:, None, None] * WAY)


class Counting(Smooth):
    """A smooth game that remembers how many points each question had."""

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        SIZES.extend(len(q.points) for _, q in asks)
        return super().slope(asks)


SIZES: list[int] = []


def scores(method: str, portion: int, monkeypatch: pytest.MonkeyPatch, seed: int = 3) -> Floats:
    monkeypatch.setattr(_ways, "PORTION", portion)
    SIZES.clear()
    made = testing.smooth(value, gradient, INPUT, BASELINE)
    game = Counting(**vars(made))
    asker = plugin_call.method(method)(game.example, seed)
    (got,) = answer(Value(game), [(Subject(game.example, "game", game.target), asker)])
    assert got.result is not None
    return got.result


@pytest.mark.parametrize(
    "method",
    [
        "integrated_gradients(steps=100, refine=False)",
        "integrated_gradients(steps=40, quadrature='left')",
        "sequential_integrated_gradients(steps=50)",
        "expected_gradients(samples=150, baseline='reference')",
    ],
)
def test_portions_change_no_bit(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scores(method, 10**6, monkeypatch)
    asked = sum(SIZES)
    parts = scores(method, 16, monkeypatch)
    assert whole.tobytes() == parts.tobytes() and np.ptp(whole) > 0
    assert max(SIZES) == 16 and sum(SIZES) == asked


def test_noise_is_drawn_anew_in_each_portion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were each portion to draw alike, more samples would be no more than the first ones."""
    few, many = (
        np.stack([scores(f"smooth_grad(samples={k})", 16, monkeypatch, s) for s in range(40)])
        for k in (16, 160)
    )
    assert max(SIZES) == 16
    spread = few.std(0) / many.std(0)
    assert (spread > 2).all()  # the root of ten, but for chance


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("integrated_gradients(steps=1000000)", "steps=1000000; it takes 1 to 1000"),
        ("integrated_gradients(cap=1000000)", "cap=1000000; it takes 1 to 1000"),
        ("integrated_gradients(steps=0)", "steps=0; it takes 1 to 1000"),
        ("sequential_integrated_gradients(steps=1001)", "steps=1001; it takes 1 to 1000"),
        ("attention_attribution(steps=1000000)", "steps=1000000; it takes 1 to 1000"),
        ("expected_gradients(samples=1000000)", "samples=1000000; it takes 1 to 100000"),
        ("smooth_grad(samples=1000000)", "samples=1000000; it takes 1 to 100000"),
    ],
)
def test_numbers_without_bounds_are_refused(method: str, said: str) -> None:
    with pytest.raises(AttrialError, match=said):
        testing.attribute(method, testing.smooth(value, gradient, INPUT, BASELINE))
