"""Critical-difference diagrams as SVG: methods on an axis of average ranks, bars over the alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite

from attrial.report.template import render

AXIS = 460  # pixels between the ends of the axis
EDGE, LETTER, RANK = 16, 7.4, 44  # margins in pixels: border, one letter, the number beside a name
BAR, ROW, TICKS = 8, 21, 10  # between bars, between names, most ticks on the axis
TOP, LEVEL = 28, 76  # where the critical difference is drawn, and the axis
REACH = 4  # pixels by which a bar passes its outer methods


@dataclass(frozen=True)
class Scale:
    """Where a rank lies: the best is on the left."""

    low: float
    span: float
    left: float

    def x(self, rank: float) -> float:
        """Pixels from the left edge of the drawing."""
        return round(self.left + AXIS * (rank - self.low) / self.span, 1)


@dataclass(frozen=True)
class Label:
    """A name with its average rank: a line from the axis at ``x`` down to ``y``, and sideways."""

    name: str
    rank: str
    x: float
    y: float
    left: bool


@dataclass(frozen=True)
class Bar:
    """Methods that are not told apart."""

    start: float
    end: float
    y: float


def critical_difference_svg(
    names: Sequence[str],
    ranks: Sequence[float],
    cliques: Sequence[Sequence[int]],
    *,
    difference: float,
) -> str:
    """The diagram of Demsar (2006) as one SVG image; names are escaped.

    Args:
        names: k methods.
        ranks: Their average ranks, 1 = best.
        cliques: Groups of methods (numbers in ``names``) that are not told apart.
        difference: The critical difference of average ranks.

    Raises:
        ValueError: If there is not one finite rank a name, or no name.
    """
    if not names or len(names) != len(ranks) or not all(map(isfinite, (*ranks, difference))):
        raise ValueError("a diagram needs names and one finite rank for each")
    margin = round(EDGE + RANK + LETTER * max(len(name) for name in names))
    low, high = floor(min(ranks)), ceil(max(ranks))
    scale = Scale(low, max(high - low, difference, 1), margin)
    bars = _bars([sorted(ranks[i] for i in group) for group in cliques], scale)
    first = max([LEVEL, *(bar.y for bar in bars)]) + ROW
    return render(
        "critical_difference.svg.jinja",
        labels=_labels(names, ranks, scale, first),
        bars=bars,
        marks=[(scale.x(rank), f"{rank:g}") for rank in _marks(low, low + scale.span)],
        difference=(scale.x(low), scale.x(low + difference), f"{difference:.2f}"),
        axis=(scale.x(low), scale.x(low + scale.span)),
        sides=(margin - 6, margin + AXIS + 6),
        size=(2 * margin + AXIS, round(first + ROW * ((len(names) + 1) // 2 - 1) + EDGE)),
        top=TOP,
        level=LEVEL,
    )


def _labels(
    names: Sequence[str], ranks: Sequence[float], scale: Scale, first: float
) -> list[Label]:
    """The better half on the left, best on top; the others on the right, worst on top.

    So no line crosses another: each goes down less far than those nearer to the middle.
    """
    order = sorted(range(len(names)), key=lambda i: (ranks[i], names[i]))
    half = (len(order) + 1) // 2
    places = [(i, row, True) for row, i in enumerate(order[:half])]
    places += [(i, row, False) for row, i in enumerate(reversed(order[half:]))]
    return [
        Label(names[i], f"{ranks[i]:.2f}", scale.x(ranks[i]), first + ROW * row, left)
        for i, row, left in places
    ]


def _bars(spans: Sequence[list[float]], scale: Scale) -> list[Bar]:
    """Each bar on the first level on which it overlaps none."""
    ends: list[float] = []  # of the last bar on each level
    bars = []
    for span in sorted(spans):
        start, end = scale.x(span[0]) - REACH, scale.x(span[-1]) + REACH
        free = [level for level, last in enumerate(ends) if last + REACH < start]
        level = free[0] if free else len(ends)
        ends[level : level + 1] = [end]
        bars.append(Bar(start, end, LEVEL + BAR * (level + 1)))
    return bars


def _marks(low: float, high: float) -> list[float]:
    """At most ``TICKS`` + 1 whole ranks, at round steps."""
    steps = (step * 10**power for power in range(9) for step in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= TICKS)
    return [float(rank) for rank in range(ceil(low / step) * step, floor(high) + 1, step)]
