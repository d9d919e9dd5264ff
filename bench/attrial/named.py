"""An asker under its plugin's name: what it asks must fit its example, what it raises is told."""

from collections.abc import Callable, Generator
from numbers import Real
from typing import TypeVar

import numpy as np

from attrial.ask import Asking, Infill, Keep, Question, Reply, Slope, Soften, Suppress
from attrial.errors import AttrialError, Undefined, one_line
from attrial.example import Example
from attrial.masks import Scores

R = TypeVar("R")


def named(who: str, x: Example, start: Callable[[], Asking[R]]) -> Asking[R]:
    """Run a plugin's asker about ``x``, and let its faults name the plugin and the example.

    Args:
        who: The plugin, such as ``method occlusion``.
        x: The example that it is asked about.
        start: Calls the plugin's function.

    Raises:
        AttrialError: For whatever the plugin raises (which is its cause), for a question that
            doesn't fit the example, and for a function that is no generator.
        Undefined: As the plugin raises it.
    """
    where = f"{who}, example {x.id}"
    try:
        asker = start()
        if not isinstance(asker, Generator):
            raise AttrialError(f"{where}: the function must yield; it gave {_kind(asker)}")
        return (yield from _fitting(where, x, asker))
    except (AttrialError, Undefined):
        raise
    except Exception as error:
        raise AttrialError(f"{where}: {one_line(error)}") from error


def _fitting(where: str, x: Example, asker: Asking[R]) -> Asking[R]:
    """Hand questions on if they fit, and replies back."""
    reply: Reply = None
    try:
        while True:
            try:
                question = asker.send(reply)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]  # StopIteration tells no type
            _check(where, x, question)
            reply = yield question
    finally:
        asker.close()


def _check(where: str, x: Example, question: Question) -> None:
    """Rows of masks, shares or points are as wide as the example has players."""
    match question:
        case Keep(masks=rows) | Infill(masks=rows):
            told = "masks"
        case Soften(shares=rows) | Suppress(shares=rows):
            told = "shares"
        case Slope(points=rows):
            told = "points"
        case _ if isinstance(question, Question):
            return
        case _:
            raise AttrialError(f"{where}: {_kind(question)} is no question of attrial.ask")
    shape = np.shape(rows)
    if len(shape) != 2 or shape[1] != x.n:
        raise AttrialError(
            f"{where}: {type(question).__name__.lower()} was asked with {told} of shape {shape}; "
            f"(k, {x.n}) is expected, a column for each of the {x.n} players"
        )


def scores_of(who: str, x: Example, found: object) -> Scores:
    """What a method gave, as (n,) finite numbers.

    Raises:
        AttrialError: If it is something else; the line says what.
    """
    try:
        scores = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        raise AttrialError(
            f"{who}, example {x.id}: scores are numbers, not {_kind(found)}"
        ) from None
    if scores.shape != (x.n,) or not np.isfinite(scores).all():
        raise AttrialError(
            f"{who} gave scores of shape {scores.shape}, finite: "
            f"{bool(np.isfinite(scores).all())}, for the {x.n} players of example {x.id}"
        )
    return scores


def number_of(who: str, x: Example, found: object) -> float:
    """What a metric gave, as a finite number.

    Raises:
        AttrialError: If it is none. Where there is no value, a metric raises ``Undefined``.
    """
    if not isinstance(found, Real) or not np.isfinite(float(found)):
        told = str(found) if isinstance(found, Real) else _kind(found)
        raise AttrialError(
            f"{who}, example {x.id}: gave {told}; a finite number is expected, or "
            "Undefined raised with the reason where there is none"
        )
    return float(found)


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__}"
