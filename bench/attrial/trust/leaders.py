"""Who leads on each metric, how surely, and who is no better than a random order. Pure."""

from dataclasses import dataclass

import numpy as np

from attrial import stats
from attrial.leaderboard import ALPHA
from attrial.masks import Values
from attrial.trust.ground import Grid, means


@dataclass(frozen=True)
class Lead:
    """The best mean of a metric and who is not told to be worse than it.

    Attributes:
        metric, removal, family: Where.
        methods: How many compete.
        leader: The method of the best mean.
        value, low, high: Its mean and 95 % BCa interval over examples (None where one value).
        level: Other methods that no method is told to beat: the leader's equals so far.
        runner_up: The second best mean, if two compete.
        margin, margin_low, margin_high: How much better the leader is than it, above 0, with its
            95 % interval, on the examples that both define.
        p: Of that pair, adjusted over all pairs of the board.
        not_better: Methods that are not told to be better than a random order; None where there
            is nothing to compare with.
    """

    metric: str
    removal: str
    family: str
    methods: int
    leader: str
    value: float
    low: float | None
    high: float | None
    level: tuple[str, ...]
    runner_up: str | None
    margin: float | None
    margin_low: float | None
    margin_high: float | None
    p: float | None
    not_better: tuple[str, ...] | None


def lead(grid: Grid) -> Lead:
    """Who leads on one metric."""
    order = np.argsort(-means(grid.good), kind="stable")
    first = int(order[0])
    found = grid.values[first][~np.isnan(grid.values[first])]
    low, high = _interval(found, grid.seed)
    beaten = np.any(grid.comparison.better, axis=0).tolist()
    level = tuple(grid.methods[i] for i in order[1:] if not beaten[i])
    second = int(order[1]) if len(order) > 1 else None
    runner_up, margin, margin_low, margin_high, p = _margin(grid, first, second)
    return Lead(
        metric=grid.metric,
        removal=grid.removal,
        family=grid.family,
        methods=len(grid.methods),
        leader=grid.methods[first],
        value=float(found.mean()),
        low=low,
        high=high,
        level=level,
        runner_up=runner_up,
        margin=margin,
        margin_low=margin_low,
        margin_high=margin_high,
        p=p,
        not_better=_not_better(grid),
    )


def _interval(values: Values, seed: int) -> tuple[float | None, float | None]:
    return stats.bca_mean(values, seed=seed) if len(values) > 1 else (None, None)


def _margin(
    grid: Grid, first: int, second: int | None
) -> tuple[str | None, float | None, float | None, float | None, float | None]:
    if second is None:
        return None, None, None, None, None
    differences = stats.paired(grid.good[first], grid.good[second])
    mean = float(differences.mean()) if len(differences) else None
    p = float(grid.comparison.p[first, second])
    return (grid.methods[second], mean, *_interval(differences, grid.seed), p)


def _not_better(grid: Grid) -> tuple[str, ...] | None:
    """Sign-flip tests against a random order, Holm's correction over the methods."""
    if np.isnan(grid.chance).all():
        return None
    differences = [stats.paired(row, grid.sign * grid.chance) for row in grid.good]
    p = stats.holm([stats.sign_flip(d, seed=grid.seed) for d in differences])
    told = [q <= ALPHA and d.sum() > 0 for d, q in zip(differences, p, strict=True)]
    return tuple(m for m, better in zip(grid.methods, told, strict=True) if not better)
