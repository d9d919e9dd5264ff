"""What so many examples can tell, and how many would settle the rest. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from statistics import median

import numpy as np

from attrial import stats
from attrial.errors import Undefined
from attrial.leaderboard import ALPHA
from attrial.masks import Values
from attrial.trust.ground import Grid


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


def power(grid: Grid) -> Power:
    """What the examples can tell on one metric."""
    i, j = np.triu_indices(len(grid.methods), 1)
    better = grid.comparison.better
    apart = [bool(better[a, b] or better[b, a]) for a, b in zip(i, j, strict=True)]
    differences = [stats.paired(grid.good[a], grid.good[b]) for a, b in zip(i, j, strict=True)]
    open_pairs = [d for d, told in zip(differences, apart, strict=True) if not told]
    by_effect = sorted(open_pairs, key=_effect, reverse=True)  # needs grow as effects shrink
    return Power(
        metric=grid.metric,
        removal=grid.removal,
        family=grid.family,
        pairs=len(differences),
        apart=sum(apart),
        n=min((len(d) for d in differences), default=0),
        detectable=_detectable(differences),
        settle_half=_settled(by_effect, 0.5, len(differences)),
        settle_most=_settled(by_effect, 0.9, len(differences)),
        hopeless=len(open_pairs) - _hopeful(by_effect, len(differences)),
    )


def _effect(differences: Values) -> float:
    """Mean over standard deviation, without its sign: what needed examples depend on."""
    if len(differences) < 2:
        return 0.0
    mean, spread = abs(float(differences.mean())), _spread(differences)
    return mean / spread if spread else inf if mean else 0.0


def _spread(differences: Values) -> float:
    return 0.0 if np.ptp(differences) == 0 else float(differences.std(ddof=1))


def _detectable(differences: Sequence[Values]) -> float | None:
    """Median over pairs; in standard deviations it depends on the number of examples alone."""
    found = []
    factors: dict[int, float | None] = {}
    for d in (d for d in differences if len(d) > 1 and _spread(d) > 0):
        if len(d) not in factors:
            factors[len(d)] = _factor(d, len(differences))
        factor = factors[len(d)]
        if factor is not None:
            found.append(factor * _spread(d))
    return median(found) if found else None


def _factor(d: Values, comparisons: int) -> float | None:
    try:
        found = stats.detectable_difference(d, comparisons=comparisons, alpha=ALPHA)
    except Undefined:
        return None
    return found / _spread(d)


def _settled(by_effect: Sequence[Values], share: float, comparisons: int) -> int | None:
    """So many examples settle this share of the open pairs, hopeless ones counted."""
    place = ceil(share * len(by_effect)) - 1
    return _needed(by_effect[place], comparisons) if place >= 0 else None


def _hopeful(by_effect: Sequence[Values], comparisons: int) -> int:
    """How many pairs some number of examples would settle: the first of the sorted ones."""
    low, high = 0, len(by_effect)
    while low < high:
        middle = (low + high) // 2
        if _needed(by_effect[middle], comparisons) is None:
            high = middle
        else:
            low = middle + 1
    return low


def _needed(differences: Values, comparisons: int) -> int | None:
    if len(differences) < 2:
        return None
    try:
        return stats.needed_examples(differences, comparisons=comparisons, alpha=ALPHA)
    except Undefined:
        return None
