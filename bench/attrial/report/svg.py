"""Line charts as inline SVG: geometry here, drawing in a template that escapes every word."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attrial.masks import Floats

WIDTH, HEIGHT = 430, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 30, 44  # margins around the drawing
GRID = np.linspace(0, 1, 41)  # shares k/n at which curves of all lengths are averaged


@dataclass(frozen=True, eq=False)
class Series:
    """One line: ``style`` is the CSS class that gives it its colour and dashes."""

    name: str
    style: str
    values: Floats  # (len(GRID),)


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    place: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Everything that a template needs to draw: places in pixels, words unescaped."""

    title: str
    x_label: str
    y_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    paths: tuple[tuple[Series, str], ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    top: int = TOP
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


def mean_curve(curves: Sequence[Sequence[float]]) -> Floats:
    """Mean over examples of curves at k = 0..n, each laid over the shares k/n.

    >>> mean_curve([[1.0, 0.0], [1.0, 1.0, 0.0]])[[0, 20, 40]]
    array([1.  , 0.75, 0.  ])
    """
    laid = [np.interp(GRID, np.linspace(0, 1, len(c)), c) for c in curves]
    return np.asarray(np.mean(laid, axis=0))


def chart(title: str, *, x_label: str, y_label: str, series: Sequence[Series]) -> Chart:
    """Lay lines out; the scale is 0 to 1 where all of them lie there."""
    everything = np.concatenate([s.values for s in series])
    marks = ticks(float(everything.min()), float(everything.max()))
    low, high = min(marks[0], float(everything.min())), max(marks[-1], float(everything.max()))
    return Chart(
        title,
        x_label,
        y_label,
        tuple(Tick(_x(share), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)),
        tuple(Tick(_y(mark, low, high), f"{mark:.12g}") for mark in marks),
        tuple((s, _path(s.values, low, high)) for s in series),
    )


def ticks(low: float, high: float) -> list[float]:
    """About five round marks that span the values.

    >>> ticks(0.1, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(-3.0, 11.0)
    [-5.0, 0.0, 5.0, 10.0, 15.0]
    """
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    if high - low < 1e-9 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    power = 10.0 ** np.floor(np.log10((high - low) / 5))
    step = next(m * power for m in (1, 2, 5, 10) if (high - low) / (m * power) <= 6)
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    return [float(round(k * step, 12)) for k in np.arange(first, last + 1)]


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _y(value: float, low: float, high: float) -> float:
    return round(TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)


def _path(values: Floats, low: float, high: float) -> str:
    points = zip(GRID, values, strict=True)
    return "M" + " L".join(f"{_x(float(x))},{_y(float(v), low, high)}" for x, v in points)
