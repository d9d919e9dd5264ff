"""Games with known answers: models that need no network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from attrial.ask import Attend, Attention, Infill, Slope, Slopes, Soften
from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example, plain
from attrial.masks import Floats, Masks
from attrial.target import Target
from attrial.value import Model, Subject

SetFunction = Callable[[Masks], npt.ArrayLike]  # (k, n) bool -> (k,)
VectorFunction = Callable[[Floats], npt.ArrayLike]  # (k, n, d) -> (k,), its gradient -> (k, n, d)
ONLY = Target(0, "logit")  # the one output of a game


class Playable(Model, Protocol):
    """A model with one example of its own and the target that is explained."""

    @property
    def example(self) -> Example:
        """The one example."""

    @property
    def target(self) -> Target:
        """What is read of the outputs."""


@dataclass(frozen=True)
class Game:
    """A set function as a model: n players, one output, nothing to differentiate or attend."""

    example: Example
    value: SetFunction
    target: Target
    answers: frozenset[str] = frozenset({"keep", "soften", "infill"})

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """The set function's values, as one output a row."""
        return [_column(self.value(masks), len(masks)) for _, masks in asks]

    def soften(self, asks: Sequence[tuple[Subject, Soften]]) -> list[Floats]:
        """Values of random sets: a player has one element here, so it stays or goes."""
        return [
            _column(self.value(_kept(q, (self.example.n, 1))[:, :, 0]), len(q.shares))
            for _, q in asks
        ]

    def infill(self, asks: Sequence[tuple[Subject, Infill]]) -> list[Floats]:
        """The set function's values: nobody stands in for who is gone."""
        return [_column(self.value(q.masks), len(q.masks)) for _, q in asks]

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """A set function has no gradient."""
        raise NotApplicable("a set function has no gradient; use testing.smooth")

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """A set function has no attention."""
        raise NotApplicable("a set function has no attention; use testing.toy")


def _kept(q: Soften, shape: tuple[int, int]) -> Masks:
    """(k, n, d) which elements stay, drawn row by row: the same in any company."""
    drawn = [np.random.default_rng([q.seed, row]).random(shape) for row in range(len(q.shares))]
    return np.asarray(np.stack(drawn) < q.shares[:, :, None])


def _column(values: npt.ArrayLike, k: int) -> Floats:
    column = np.asarray(values, np.float64).reshape(-1, 1)
    if len(column) != k:
        raise AttrialError(
            f"the game's value gave {len(column)} values for {k} masks; it takes (k, n) to (k,)"
        )
    return column


def game(n: int, value: SetFunction) -> Game:
    """A game of n players; ``value`` takes masks (k, n) bool to values (k,). No torch needed."""
    return Game(plain(n), value, ONLY)


@dataclass(frozen=True)
class Smooth:
    """A differentiable function of token vectors; a removed player becomes its baseline vector."""

    example: Example
    function: VectorFunction
    gradient: VectorFunction
    point: Floats
    baseline: Floats
    target: Target
    answers: frozenset[str] = frozenset({"keep", "slope", "soften", "infill"})

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """Values of the input with removed players' vectors replaced by the baseline's."""
        return [
            _column(
                self.function(np.where(masks[:, :, None], self.point, self.baseline)), len(masks)
            )
            for _, masks in asks
        ]

    def soften(self, asks: Sequence[tuple[Subject, Soften]]) -> list[Floats]:
        """Values of the input with some elements of its vectors set to zero."""
        return [
            _column(self.function(self.point * _kept(q, self.point.shape)), len(q.shares))
            for _, q in asks
        ]

    def infill(self, asks: Sequence[tuple[Subject, Infill]]) -> list[Floats]:
        """As ``keep``: the baseline's vector stands in for who is gone."""
        return self.keep([(subject, q.masks) for subject, q in asks])

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Analytic gradients on the way from the baseline to the input."""
        return [self._slopes(question) for _, question in asks]

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """A function of vectors has no attention."""
        raise NotApplicable("a function of vectors has no attention; use testing.toy")

    def _slopes(self, q: Slope) -> Slopes:
        start = np.zeros_like(self.baseline) if q.baseline == "zero" else self.baseline
        difference = np.broadcast_to(self.point - start, (len(q.points), *self.point.shape))
        at = start + q.points[:, :, None] * difference + self._noise(q)
        gradient = np.asarray(self.gradient(at), np.float64)
        return Slopes(gradient, difference, _column(self.function(at), len(at))[:, 0])

    def _noise(self, q: Slope) -> Floats:
        seeds = [[q.seed, row] for row in range(len(q.points))]
        drawn = [np.random.default_rng(seed).standard_normal(self.point.shape) for seed in seeds]
        return q.noise * np.ptp(self.point) * np.stack(drawn)


def smooth(
    value: VectorFunction, gradient: VectorFunction, point: npt.ArrayLike, baseline: npt.ArrayLike
) -> Smooth:
    """A differentiable game on n token vectors of width d.

    Args:
        value: (k, n, d) -> (k,).
        gradient: (k, n, d) -> (k, n, d), of ``value``.
        point: (n, d) the input.
        baseline: (n, d) what a removed player turns into, and where ``slope`` starts (but for
            ``baseline="zero"``, which starts at zero; there is no vocabulary to sample from).
    """
    x, b = (np.asarray(a, np.float64) for a in (point, baseline))
    return Smooth(plain(len(x)), value, gradient, x, b, ONLY)


def toy(name: str, *, beta: float = 50.0) -> Playable:
    """A hand-set transformer with known answers: ``first_token``, ``majority`` or ``induction``.

    ``beta`` is the inverse temperature of its attention: at 50 attention is one-hot.
    """
    from attrial.models import toy as toys  # torch is imported for toys alone

    return toys.toy(name, beta=beta)
