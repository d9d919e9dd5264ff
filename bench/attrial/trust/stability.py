"""How much verdicts change with the removal, the target function, the length and the data. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from attrial.masks import Bools, Floats, Ints, Values
from attrial.stats import above
from attrial.trust.ground import FIRST, Grid, Ground, means, tops
from attrial.trust.kendall import agreement, signs, tau_b

Axis = Literal["removal", "target", "length", "half"]
SPLITS = 200  # random halves; the odd and even examples are one more


@dataclass(frozen=True)
class Change:
    """One metric's ranking of the methods under two conditions.

    Attributes:
        axis: What changes.
        metric, removal, family: Of the ranking; for removals, of the first condition.
        here, there: The two conditions.
        n_here, n_there: Examples under each.
        tau: Kendall's tau-b of the method means: 1 = ranked alike, -1 = reversed; None where
            either ranks nobody.
        leaders_here, leaders_there: The best mean under each; several where they tie. Who has
            values on fewer examples than others doesn't lead.
        claims: Pairs that all examples tell apart under the first removal.
        kept: Claims that point the same way under both conditions.
        turned: (better, worse) of the claims that point the other way under either.
    """

    axis: Axis
    metric: str
    removal: str
    family: str
    here: str
    there: str
    n_here: int
    n_there: int
    tau: float | None
    leaders_here: tuple[str, ...]
    leaders_there: tuple[str, ...]
    claims: int
    kept: int
    turned: tuple[tuple[str, str], ...]

    @property
    def same_leader(self) -> bool:
        """Whether a method has the best mean under both."""
        return bool(set(self.leaders_here) & set(self.leaders_there))


@dataclass(frozen=True)
class Halves:
    """How alike random halves of the examples rank the methods by one metric.

    Attributes:
        metric, removal, family: Where.
        splits: How many random halves were drawn.
        tau: Mean Kendall's tau-b of the two halves' method means; None where none ranks anybody.
        low, high: Its 2.5 % and 97.5 % quantiles over splits.
        same_leader: Share of splits whose halves have the same best mean, or the same several where
            it ties, of those whose halves rank anybody; None where there are none.
        undefined: Splits of which a half ranks nobody.
    """

    metric: str
    removal: str
    family: str
    splits: int
    tau: float | None
    low: float | None
    high: float | None
    same_leader: float | None
    undefined: int


def removals(ground: Ground) -> list[Change]:
    """Every faithfulness metric under every two removals of the panel."""
    by: dict[str, list[Grid]] = {}
    for grid in (g for g in ground.grids if g.family == FIRST):
        by.setdefault(grid.metric, []).append(grid)
    return [_between(a, b) for found in by.values() for a, b in combinations(found, 2)]


def _between(a: Grid, b: Grid) -> Change:
    common = [m for m in a.methods if m in b.methods]
    here, there = (means(g.good[[g.methods.index(m) for m in common]]) for g in (a, b))
    place = {m: k for k, m in enumerate(common)}
    named = [(a.methods[i], a.methods[j]) for i, j in a.claims]
    claims = [(place[i], place[j]) for i, j in named if i in place and j in place]
    n = a.values.shape[1]
    return _change("removal", a, (a.removal, b.removal), (n, n), (here, there), common, claims)


def targets(ground: Ground) -> list[Change]:
    """Every faithfulness metric against itself read through the other function of the target.

    Only where every method has such values: records of before, and metrics that would have had to
    ask anew, have none.
    """
    found = [g for g in ground.grids if g.family == FIRST]
    return [_target(g) for g in found if not np.isnan(g.swapped).all(axis=1).any()]


def _target(grid: Grid) -> Change:
    both = ~np.isnan(grid.swapped) & ~np.isnan(grid.good)
    here = means(np.where(both, grid.good, np.nan))
    there = means(np.where(both, grid.sign * grid.swapped, np.nan))
    n = int(both.any(axis=0).sum())
    names = ("as it reads", "the other function")
    return _change("target", grid, names, (n, n), (here, there), grid.methods, grid.claims)


def lengths(ground: Ground) -> list[Change]:
    """Every metric between terciles of the number of players; empty if all have as many."""
    found = buckets(ground.sizes)
    return [
        _cut("length", grid, here, there)
        for grid in ground.grids
        for here, there in combinations(found, 2)
    ]


def buckets(sizes: Ints) -> list[tuple[str, Bools]]:
    """Examples by terciles of their number of players: up to three (name, (n,) which).

    >>> [name for name, _ in buckets(np.array([2, 3, 4, 5, 6, 7]))]
    ['2-3 players', '4-5 players', '6-7 players']
    """
    low, high = np.quantile(sizes, [1 / 3, 2 / 3])
    cut = (sizes <= low, (sizes > low) & (sizes <= high), sizes > high)
    return [(_span(sizes[which]), which) for which in cut if which.any()]


def _span(sizes: Ints) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low} players" if low == high else f"{low}-{high} players"


def odd_even(ground: Ground) -> list[Change]:
    """Every metric between the odd and the even examples, in the order of the data."""
    odd = np.arange(len(ground.ids)) % 2 == 0  # people count from 1
    return [_cut("half", grid, ("odd", odd), ("even", ~odd)) for grid in ground.grids]


def _cut(axis: Axis, grid: Grid, a: tuple[str, Bools], b: tuple[str, Bools]) -> Change:
    here, there = (means(grid.good[:, which]) for _, which in (a, b))
    counts = (int(a[1].sum()), int(b[1].sum()))
    return _change(axis, grid, (a[0], b[0]), counts, (here, there), grid.methods, grid.claims)


def _change(
    axis: Axis,
    grid: Grid,
    names: tuple[str, str],
    counts: tuple[int, int],
    found: tuple[Values, Values],
    methods: Sequence[str],
    claims: Sequence[tuple[int, int]],
) -> Change:
    here, there = found
    one, two = (above(v[:, None], v[None, :]) for v in (here, there))
    turned = [(methods[i], methods[j]) for i, j in claims if one[j, i] or two[j, i]]
    kept = sum(bool(one[i, j] and two[i, j]) for i, j in claims)
    tau = tau_b(here, there)
    return Change(
        axis=axis,
        metric=grid.metric,
        removal=grid.removal,
        family=grid.family,
        here=names[0],
        there=names[1],
        n_here=counts[0],
        n_there=counts[1],
        tau=None if np.isnan(tau) else tau,
        leaders_here=_best(here, methods, grid),
        leaders_there=_best(there, methods, grid),
        claims=len(claims),
        kept=kept,
        turned=tuple(turned),
    )


def _best(found: Values, methods: Sequence[str], grid: Grid) -> tuple[str, ...]:
    partial = dict(grid.partial)
    whole = np.where([m not in partial for m in methods], found, np.nan)
    return tuple(m for m, best in zip(methods, tops(whole), strict=True) if best)


def halves(grid: Grid) -> Halves:
    """Random halves of the examples, drawn with the run's seed."""
    parts = _parts(grid.values.shape[1], grid.seed)
    one, two = (_split_means(grid.good, part) for part in (parts, ~parts))
    usable = ~(np.isnan(one).any(1) | np.isnan(two).any(1))
    taus = agreement(signs(one[usable]), signs(two[usable]))
    found = taus[~np.isnan(taus)]
    low, high = np.quantile(found, [0.025, 0.975]) if len(found) else (None, None)
    first, second = (tops(np.where(grid.whole, v[usable], np.nan)) for v in (one, two))
    alike = (first == second).all(axis=1)[~np.isnan(taus)]
    return Halves(
        *(grid.metric, grid.removal, grid.family, SPLITS),
        *(float(found.mean()) if len(found) else None, _plain(low), _plain(high)),
        float(alike.mean()) if len(alike) else None,
        SPLITS - len(found),
    )


def _plain(value: float | None) -> float | None:
    return None if value is None else float(value)


def _parts(n: int, seed: int) -> Bools:
    """(SPLITS, n) which examples are in the first half; halves differ by one at most."""
    rng = np.random.default_rng([seed, n])
    draws = np.tile(np.arange(n) < n // 2, (SPLITS, 1))
    return rng.permuted(draws, axis=1)


def _split_means(good: Floats, parts: Bools) -> Floats:
    """Method means of each split: (m, n), (s, n) -> (s, m), NaN where nothing is defined."""
    defined = ~np.isnan(good)
    counts = parts.astype(np.float64) @ defined.T
    totals = parts @ np.where(defined, good, 0.0).T
    return np.asarray(np.where(counts > 0, totals / np.maximum(counts, 1), np.nan))
