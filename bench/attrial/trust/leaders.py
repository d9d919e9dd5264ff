"""Who leads on each metric, how surely, and who is no better than a random order. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attrial import stats
from attrial.leaderboard import ALPHA
from attrial.masks import Values
from attrial.trust.ground import Grid, means, tops


@dataclass(frozen=True)
class Lead:
    """The best mean of a metric and who is not told to be worse than it.

    Attributes:
        metric, removal, family: Where.
        methods: How many compete.
        leaders: The methods of the best mean: several where it ties. Who has values on fewer
            examples than others is not among them.
        value, low, high: The mean of the first and its 95 % percentile interval over examples, as
            boards show it (None where one value).
        level: Other methods that no method is told to beat: the leaders' equals so far.
        examples: How many were tried.
        partial: Methods that can't lead, and on how many examples they have values.
        runner_up: The next best mean, if it is another one.
        margin, margin_low, margin_high: How much better the first is than it, above 0, with its
            95 % interval, on the examples that both define; the interval is of this pair alone.
        p: Of that pair, adjusted over all pairs of the board.
        not_better: Methods that are not told to be better than a random order; None where there
            is nothing to compare with.
    """

    metric: str
    removal: str
    family: str
    methods: int
    leaders: tuple[str, ...]
    value: float
    low: float | None
    high: float | None
    level: tuple[str, ...]
    examples: int
    partial: tuple[tuple[str, int], ...]
    runner_up: str | None
    margin: float | None
    margin_low: float | None
    margin_high: float | None
    p: float | None
    not_better: tuple[str, ...] | None

    @property
    def leader(self) -> str:
        """The first of the leaders."""
        return self.leaders[0]


def lead(grid: Grid) -> Lead:
    """Who leads on one metric."""
    order = [int(i) for i in np.argsort(-means(grid.good), kind="stable") if grid.whole[i]]
    best = tops(np.where(grid.whole, means(grid.good), np.nan))
    first, rest = order[0], [i for i in order if not best[i]]
    found = grid.values[first][~np.isnan(grid.values[first])]
    low, high = _interval(found, grid.seed)
    beaten = np.any(grid.comparison.better, axis=0)
    runner_up, margin, margin_low, margin_high, p = _margin(grid, first, rest)
    return Lead(
        *(grid.metric, grid.removal, grid.family, len(grid.methods)),
        leaders=tuple(grid.methods[i] for i in order if best[i]),
        value=float(found.mean()),
        low=low,
        high=high,
        level=tuple(grid.methods[i] for i in rest if not beaten[i]),
        examples=grid.values.shape[1],
        partial=grid.partial,
        runner_up=runner_up,
        margin=margin,
        margin_low=margin_low,
        margin_high=margin_high,
        p=p,
        not_better=_not_better(grid),
    )


def _interval(values: Values, seed: int) -> tuple[float | None, float | None]:
    return stats.bootstrap_mean(values, seed=seed) if len(values) > 1 else (None, None)


def _margin(
    grid: Grid, first: int, rest: Sequence[int]
) -> tuple[str | None, float | None, float | None, float | None, float | None]:
    if not rest:
        return None, None, None, None, None
    differences = stats.paired(grid.good[first], grid.good[rest[0]])
    mean = float(differences.mean()) if len(differences) else None
    p = float(grid.comparison.p[first, rest[0]])
    return (grid.methods[rest[0]], mean, *_interval(differences, grid.seed), p)


def _not_better(grid: Grid) -> tuple[str, ...] | None:
    """Sign-flip tests against a random order, Holm's correction over the methods."""
    if np.isnan(grid.chance).all():
        return None
    differences = [stats.paired(row, grid.sign * grid.chance) for row in grid.good]
    p = stats.holm([stats.sign_flip(d, seed=grid.seed) for d in differences])
    told = [q <= ALPHA and d.sum() > 0 for d, q in zip(differences, p, strict=True)]
    return tuple(m for m, better in zip(grid.methods, told, strict=True) if not better)
