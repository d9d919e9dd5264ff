"""One metric under one removal: values of methods by examples, means and best means. Pure."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attrial import stats
from attrial.masks import Bools, Floats, Values


@dataclass(frozen=True, eq=False)
class Grid:
    """One metric under one removal: m methods that have a value on any of n examples.

    Attributes:
        metric: Its label.
        removal: The removal that it is read under.
        family: Metrics of unlike families are never averaged.
        higher: Whether higher values are better.
        unit: Of the values.
        methods: Labels of the m methods.
        values: (m, n), NaN where undefined.
        swapped: (m, n) read through the other function of the target, NaN where not recorded.
        chance: (n,) of a random order, NaN where undefined.
        seed: Of the run, for all draws about this grid.
    """

    metric: str
    removal: str
    family: str
    higher: bool
    unit: str
    methods: tuple[str, ...]
    values: Floats
    swapped: Floats
    chance: Values
    seed: int

    @property
    def sign(self) -> int:
        """1 where higher is better, else -1."""
        return 1 if self.higher else -1

    @cached_property
    def good(self) -> Floats:
        """(m, n) values turned so that higher is better."""
        return self.sign * self.values

    @cached_property
    def comparison(self) -> stats.Comparison:
        """All pairs of methods, on the examples that both define."""
        return stats.compare(self.values, higher=self.higher, seed=self.seed)

    @cached_property
    def partial(self) -> tuple[tuple[str, int], ...]:
        """Methods with values on fewer examples than others, and on how many: they don't lead."""
        counts = (~np.isnan(self.values)).sum(axis=1)
        return tuple(
            (name, int(n)) for name, n in zip(self.methods, counts, strict=True) if n < counts.max()
        )

    @cached_property
    def whole(self) -> Bools:
        """(m,) which methods have values on as many examples as any."""
        partial = dict(self.partial)
        return np.array([name not in partial for name in self.methods], bool)

    @property
    def claims(self) -> tuple[tuple[int, int], ...]:
        """Pairs (better, worse) that are told apart."""
        better = np.argwhere(self.comparison.better)
        return tuple((int(i), int(j)) for i, j in better)


def means(values: Floats) -> Values:
    """Mean of each row over its defined cells, NaN where none is: (m, n) -> (m,).

    >>> means(np.array([[1.0, 3.0, np.nan], [np.nan] * 3]))
    array([ 2., nan])
    """
    defined = ~np.isnan(values)
    counts = defined.sum(axis=1)
    totals = np.where(defined, values, 0.0).sum(axis=1)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)


def tops(found: Floats) -> Bools:
    """Which values are level with the best one of their row: (..., m) -> (..., m).

    >>> tops(np.array([1.0, 3.0, 3.0 - 1e-7, np.nan]))
    array([False,  True,  True, False])
    """
    best = np.fmax.reduce(found, axis=-1, keepdims=True)
    return np.asarray(~stats.above(best, found) & ~np.isnan(found))
