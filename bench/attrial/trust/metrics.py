"""Where metrics disagree: how alike every two metrics rank the methods. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attrial.masks import Floats
from attrial.trust.ground import Grid, means
from attrial.trust.kendall import spearman, tau_b


@dataclass(frozen=True, eq=False)
class Matrix:
    """Agreement of k things with each other.

    Attributes:
        names: Of the k things.
        values: (k, k), symmetric, NaN where undefined.
        defined: (k, k) examples (or 1) on which a value is the mean.
        of: Examples that were tried.
    """

    names: tuple[str, ...]
    values: Floats
    defined: Floats
    of: int


def of_means(grids: Sequence[Grid]) -> Matrix:
    """Kendall's tau-b over the method means of every two metrics, each turned so higher is better.

    Only methods that both metrics define count.
    """
    pairs = [[_tau(a, b) for b in grids] for a in grids]
    values = np.reshape(np.array(pairs, np.float64), (len(grids), len(grids)))
    return Matrix(_names(grids), values, (~np.isnan(values)).astype(np.float64), 1)


def _names(grids: Sequence[Grid]) -> tuple[str, ...]:
    return tuple(g.metric for g in grids)


def _tau(a: Grid, b: Grid) -> float:
    common = [m for m in a.methods if m in b.methods]
    rows = [means(g.good[[g.methods.index(m) for m in common]]) for g in (a, b)]
    return tau_b(*rows) if len(common) > 1 else float("nan")


def of_examples(grids: Sequence[Grid]) -> Matrix:
    """Spearman's rho over the methods on each example, averaged over examples.

    Examples where either metric ranks nobody, or a method has no value, are undefined and counted.
    """
    k, n = len(grids), grids[0].values.shape[1] if grids else 0
    values, defined = np.full((k, k), np.nan), np.zeros((k, k))
    for i in range(k):
        for j in range(i, k):
            found = _rhos(grids[i], grids[j])
            found = found[~np.isnan(found)]
            defined[i, j] = defined[j, i] = len(found)
            if len(found):
                values[i, j] = values[j, i] = found.mean()
    return Matrix(_names(grids), values, defined, n)


def _rhos(a: Grid, b: Grid) -> Floats:
    common = [m for m in a.methods if m in b.methods]
    if len(common) < 2:
        return np.full(a.values.shape[1], np.nan)
    rows = [g.good[[g.methods.index(m) for m in common]].T for g in (a, b)]
    return spearman(*rows)
