"""What methods cost beside what they reach: fronts that nothing dominates. Pure."""

from dataclasses import dataclass

from attrial.record import Cost
from attrial.stats import above
from attrial.store import Entry
from attrial.trust.ground import Grid, Ground, means

BACKWARD = 2  # a gradient row is a forward and a backward pass


@dataclass(frozen=True)
class Price:
    """What one explanation asked for, mean per example.

    Attributes:
        rows: Masks asked about; ``computed`` of them nobody had asked about before.
        slopes: Gradient rows.
        attends: Passes that read attention.
        passes: rows + 2 slopes + attends: every pass through the model counted once.
        seconds, peak_bytes: Of the run that made the record, all methods together.
    """

    method: str
    rows: float
    computed: float
    slopes: float
    attends: float
    passes: float
    seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Point:
    """One method on one metric: what it reaches and what it costs.

    ``front`` tells whether no other method is at least as good for at most as many passes, and
    better in one of both.
    """

    method: str
    quality: float
    passes: float
    front: bool


def prices(ground: Ground) -> list[Price]:
    """Each method once, from the records of the removal that it explained under."""
    own = {
        e.record.spec.label: e
        for e in ground.entries
        if not e.record.spec.control and e.record.spec.removal == e.record.spec.explained_under
    }
    return [_price(own[name]) for name in ground.methods if name in own]


def _price(entry: Entry) -> Price:
    cost, n = entry.record.cost, max(len(entry.trials), 1)
    parts = (cost.rows / n, cost.computed / n, cost.slopes / n, cost.attends / n)
    passes = _passes(cost) / n
    return Price(entry.record.spec.label, *parts, passes, cost.seconds, cost.peak_bytes)


def _passes(cost: Cost) -> float:
    return cost.rows + BACKWARD * cost.slopes + cost.attends


def front(grid: Grid, found: list[Price]) -> list[Point]:
    """Methods of one metric, cheapest first; quality is the mean, in the metric's own direction."""
    passes = {price.method: price.passes for price in found}
    index = [i for i, name in enumerate(grid.methods) if name in passes]
    good = means(grid.good)
    points = [(good[i], passes[grid.methods[i]], grid.methods[i]) for i in index]
    told = [
        Point(name, float(grid.sign * q), c, not any(_dominates(o, (q, c)) for o in points))
        for q, c, name in points
    ]
    return sorted(told, key=lambda p: (p.passes, -grid.sign * p.quality, p.method))


def _dominates(other: tuple[float, float, str], own: tuple[float, float]) -> bool:
    """Whether it is as good for fewer passes, or better for no more; noise makes none better."""
    ahead = bool(above(other[0], own[0]))
    behind = bool(above(own[0], other[0]))
    return not behind and other[1] <= own[1] and (ahead or other[1] < own[1])
