"""Registered methods and metrics played on games: what oracles and plugin authors call."""

from dataclasses import replace
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from attrial import plugin_call
from attrial.ask import Asking
from attrial.curves import normalise
from attrial.errors import AttrialError, Undefined
from attrial.games import Playable
from attrial.masks import Scores
from attrial.value import Answer, Subject, Value, answer

R = TypeVar("R")


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
    if not measure.has_extremes:
        raise Undefined("the metric has no best and worst order")
    best, worst = _played(answer(value, [(subject, measure.extremes(x, seed))])[0])
    return normalise(raw, run(measure.value(x, best, seed)), run(measure.value(x, worst, seed)))


def _checked(scores: npt.ArrayLike, n: int) -> Scores:
    checked = np.asarray(scores, np.float64)
    if not np.isfinite(checked).all():
        raise AttrialError("scores must be finite")
    if checked.shape != (n,):
        raise AttrialError(f"scores have shape {checked.shape}; the game has {n} players")
    return checked


def _played(played: Answer[R]) -> R:
    if played.undefined is not None:
        raise Undefined(played.undefined)
    return cast(R, played.result)
