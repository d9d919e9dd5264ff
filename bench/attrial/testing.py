"""Games with known answers, and the contract that plugins keep: for their authors.

game = testing.game(3, lambda masks: masks @ [2.0, 1.0, 0.0])
testing.attribute("shapley", game)                   # -> array([2., 1., 0.])
testing.score("deletion_auc", game, [2.0, 1.0, 0.0])  # -> 1.1666...
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from attrial import plugin_call
from attrial.ask import Asking, Attend, Attention, Slope, Slopes
from attrial.curves import normalise
from attrial.errors import AttrialError, NotApplicable, Undefined
from attrial.example import Example, plain
from attrial.masks import Floats, Masks, Scores
from attrial.target import Target
from attrial.value import Answer, Model, Subject, Value, answer

R = TypeVar("R")
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
    answers: frozenset[str] = frozenset({"keep"})

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """The set function's values, as one output a row."""
        return [_column(self.value(masks), len(masks)) for _, masks in asks]

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """A set function has no gradient."""
        raise NotApplicable("a set function has no gradient; use testing.smooth")

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """A set function has no attention."""
        raise NotApplicable("a set function has no attention; use testing.toy")


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
    answers: frozenset[str] = frozenset({"keep", "slope"})

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """Values of the input with removed players' vectors replaced by the baseline's."""
        return [
            _column(
                self.function(np.where(masks[:, :, None], self.point, self.baseline)), len(masks)
            )
            for _, masks in asks
        ]

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Analytic gradients on the way from the baseline to the input."""
        return [self._slopes(question) for _, question in asks]

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """A function of vectors has no attention."""
        raise NotApplicable("a function of vectors has no attention; use testing.toy")

    def _slopes(self, q: Slope) -> Slopes:
        start = np.zeros_like(self.baseline) if q.baseline == "zero" else self.baseline
        difference = np.broadcast_to(self.point - start, (len(q.points), *self.point.shape))
        at = start + q.points[:, :, None] * difference
        gradient = np.asarray(self.gradient(at), np.float64)
        return Slopes(gradient, difference, _column(self.function(at), len(at))[:, 0])


def smooth(
    value: VectorFunction, gradient: VectorFunction, point: npt.ArrayLike, baseline: npt.ArrayLike
) -> Smooth:
    """A differentiable game on n token vectors of width d.

    Args:
        value: (k, n, d) -> (k,).
        gradient: (k, n, d) -> (k, n, d), of ``value``.
        point: (n, d) the input.
        baseline: (n, d) what a removed player turns into, and where ``slope`` starts (but for
            ``baseline="zero"``, which starts at zero).
    """
    x, b = (np.asarray(a, np.float64) for a in (point, baseline))
    return Smooth(plain(len(x)), value, gradient, x, b, ONLY)


def toy(name: str, *, beta: float = 50.0) -> Playable:
    """A hand-set transformer with known answers: ``first_token``, ``majority`` or ``induction``.

    ``beta`` is the inverse temperature of its attention: at 50 attention is one-hot.
    """
    from attrial.models import toy as toys  # torch is imported for toys alone

    return toys.toy(name, beta=beta)


def attribute(method: str, game: Playable, *, seed: int = 0) -> Scores:
    """Scores (n,) that a registered method gives the game's players.

    ``method`` is a name, a name with arguments, or the path of a file.
    """
    return _played(attempt(method, game, seed=seed))


def attempt(method: str, game: Playable, *, seed: int = 0) -> Answer[Scores]:
    """Like ``attribute``, with what the method noted and asked for."""
    subject = Subject(game.example, "game", game.target)
    asker = plugin_call.method(method)(game.example, seed)
    return answer(Value(game), [(subject, asker)])[0]


def score(
    metric: str,
    game: Playable,
    scores: npt.ArrayLike,
    truth: npt.ArrayLike | None = None,
    seed: int = 0,
    *,
    normalised: bool = False,
) -> float:
    """What a registered metric says of scores (n,) on a game; evidence metrics read ``truth`` (n,).

    With ``normalised`` the value is placed between the metric's worst (0) and best (1) order.

    Raises:
        Undefined: Where the metric has no value.
    """
    known = None if truth is None else np.asarray(truth, bool)
    x = replace(game.example, truth=known)
    measure = plugin_call.metric(metric)
    subject = Subject(x, "game", game.target.through(measure.reads))
    value = Value(game)

    def run(asker: Asking[float]) -> float:
        return _played(answer(value, [(subject, asker)])[0])

    raw = run(measure.value(x, _checked(scores, x.n), seed))
    if not normalised:
        return raw
    best, worst = _played(answer(value, [(subject, measure.extremes(x, seed))])[0])
    return normalise(raw, run(measure.value(x, best, seed)), run(measure.value(x, worst, seed)))


def _checked(scores: npt.ArrayLike, n: int) -> Scores:
    checked = np.asarray(scores, np.float64)
    if checked.shape != (n,):
        raise AttrialError(f"scores have shape {checked.shape}; the game has {n} players")
    return checked


def _played(played: Answer[R]) -> R:
    if played.undefined is not None:
        raise Undefined(played.undefined)
    return cast(R, played.result)
