"""Who leads on each metric, how surely, and how many examples would settle the rest. Pure."""

from dataclasses import dataclass
from statistics import median

import numpy as np

from attrial import stats
from attrial.errors import Undefined
from attrial.leaderboard import ALPHA
from attrial.masks import Floats
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


@dataclass(frozen=True)
class Power:
    """What so many examples can tell on one metric.

    Attributes:
        metric, removal, family: Where.
        pairs: Of methods.
        apart: Pairs that are told apart.
        n: The fewest examples that a pair has in common.
        detectable: Median over pairs of the smallest mean difference that these examples would
            tell apart with 80 % power; None where nothing can be.
        settle_half: So many examples would settle half of the open pairs, were their means and
            spreads as seen; None where none is open or none can be settled.
        settle_most: The same for nine in ten of them.
        hopeless: Open pairs that differ too little for any number of examples.
    """

    metric: str
    removal: str
    family: str
    pairs: int
    apart: int
    n: int
    detectable: float | None
    settle_half: int | None
    settle_most: int | None
    hopeless: int


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


def _interval(values: Floats, seed: int) -> tuple[float | None, float | None]:
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


def power(grid: Grid) -> Power:
    """What the examples can tell on one metric."""
    i, j = np.triu_indices(len(grid.methods), 1)
    apart = (grid.comparison.better | grid.comparison.better.T)[i, j]
    differences = [stats.paired(grid.good[a], grid.good[b]) for a, b in zip(i, j, strict=True)]
    told = [_detectable(d, len(i)) for d in differences]
    open_pairs = [d for d, known in zip(differences, apart, strict=True) if not known]
    needs = [_needed(d, len(i)) for d in open_pairs]
    settled = sorted(n for n in needs if n is not None)
    known_differences = [d for d in told if d is not None]
    return Power(
        *(grid.metric, grid.removal, grid.family, len(i), int(apart.sum())),
        n=min((len(d) for d in differences), default=0),
        detectable=median(known_differences) if known_differences else None,
        settle_half=_quantile(settled, 0.5, len(needs)),
        settle_most=_quantile(settled, 0.9, len(needs)),
        hopeless=len(needs) - len(settled),
    )


def _detectable(differences: Floats, comparisons: int) -> float | None:
    if len(differences) < 2:
        return None
    try:
        return stats.detectable_difference(differences, comparisons=comparisons, alpha=ALPHA)
    except Undefined:
        return None


def _needed(differences: Floats, comparisons: int) -> int | None:
    if len(differences) < 2:
        return None
    try:
        return stats.needed_examples(differences, comparisons=comparisons, alpha=ALPHA)
    except Undefined:
        return None


def _quantile(settled: list[int], share: float, of: int) -> int | None:
    """So many examples settle this share of all open pairs, hopeless ones counted."""
    place = int(np.ceil(share * of)) - 1
    return settled[place] if 0 <= place < len(settled) else None
