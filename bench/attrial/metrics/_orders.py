"""The best and the worst order of one input, as chains of nested sets: exact where small.

An order is the chain of sets that it passes through, from no player to all. Deletion, insertion,
AOPC, comprehensiveness and sufficiency are weighted sums of values along a chain, so one collection
of sets with known values serves them all: each takes the chain through it with the least or the
greatest sum. The collection holds all subsets up to ``EXACT`` players; above, those that beams met
on their way up from no player and down from all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from attrial.ask import Asking, keep
from attrial.errors import AttrialError
from attrial.masks import Floats, Ints, Masks, Scores, Values, all_subsets, everything, nothing
from attrial.metrics._sets import nested

EXACT = 12
# Sets kept a size and extreme, half of them on the way up, half on the way down. The smallest
# width that found the exact extremes of 19 in 20 random interacting games of 12 players.
BEAM = 6


@dataclass(frozen=True, eq=False)
class Level:
    """Sets of one size: ``masks`` (k, n) and their ``values`` (k,)."""

    masks: Masks
    values: Values


def extremal(n: int, weights: npt.ArrayLike, *, beam: int) -> Asking[tuple[Scores, Scores]]:
    """Two rankings of the n players: the highest ranked are kept longest.

    Args:
        n: Number of players.
        weights: (n + 1,) how much the value counts while that many players are kept; at least 0.
        beam: Width of the search above ``EXACT`` players.

    Returns:
        Scores (n,) under which keeping the top ones sums to the least value, and to the greatest.
    """
    return both_chains((yield from explored(n, beam=beam)), weights)


def both_chains(levels: Sequence[Level], weights: npt.ArrayLike) -> tuple[Scores, Scores]:
    """How many sets of the least chain, and of the greatest, each player is in: (n,) and (n,)."""
    low, high = (chain(levels, weights, sign).sum(0).astype(float) for sign in (1, -1))
    return low, high


def explored(n: int, *, beam: int = BEAM, exact: int = EXACT) -> Asking[list[Level]]:
    """Sets with known values, by size 0..n: all of them, or those that beams meet.

    Raises:
        AttrialError: If ``beam`` is less than 1.
    """
    if beam < 1:
        raise AttrialError(f"beam must be at least 1, got {beam}")
    if n > exact:
        return (yield from _searched(n, beam))
    masks = all_subsets(n)
    return _levels(masks, (yield from keep(masks)))


def chain(levels: Sequence[Level], weights: npt.ArrayLike, sign: float) -> Masks:
    """Nested sets, one for each size with a weight, with the least sign x weighted sum of values.

    Between two sizes with weights any nesting will do: what lies between them counts nothing.
    """
    shares = sign * np.asarray(weights, np.float64)
    used: list[int] = np.flatnonzero(shares).tolist()
    costs = shares[used[0]] * levels[used[0]].values
    froms: list[Ints] = []
    for below, size in pairwise(used):
        inside = nested(levels[below].masks, levels[size].masks)
        reach = np.where(inside, costs[:, None], np.inf)
        froms.append(reach.argmin(0))
        costs = reach.min(0) + shares[size] * levels[size].values
    picks = [int(costs.argmin())]
    for back in reversed(froms):
        picks.append(int(back[picks[-1]]))
    return np.stack([levels[s].masks[i] for s, i in zip(used, reversed(picks), strict=True)])


def _levels(masks: Masks, values: Values) -> list[Level]:
    sizes = masks.sum(1)
    return [Level(masks[sizes == s], values[sizes == s]) for s in range(masks.shape[1] + 1)]


@dataclass(frozen=True, eq=False)
class _Beam:
    """The sets that one search stands on, and the sums of values that led to them.

    ``sign`` 1 seeks small sums, -1 great ones; ``up`` adds players, else they leave.
    """

    up: bool
    sign: float
    width: int
    masks: Masks
    sums: Floats

    def steps(self) -> tuple[Masks, Ints]:
        """Sets one player away (k, n), and which of its own each one comes from (k,)."""
        parents, players = np.nonzero(self.masks != self.up)
        masks = self.masks[parents]
        masks[np.arange(len(masks)), players] = self.up
        return masks, parents

    def onto(self, masks: Masks, sums: Floats) -> "_Beam":
        """The beam on the ``width`` best distinct sets among these."""
        order = np.argsort(self.sign * sums, kind="stable")
        first = np.unique(masks[order], axis=0, return_index=True)[1]
        best = order[np.sort(first)[: self.width]]
        return replace(self, masks=masks[best], sums=sums[best])


def _searched(n: int, beam: int) -> Asking[list[Level]]:
    """All sets that the beams meet in n steps, each step one question."""
    ends = np.concatenate([nothing(n), everything(n)])
    met, known = [ends], [(yield from keep(ends))]
    beams = _beams(n, beam)
    for _ in range(n):
        steps = [b.steps() for b in beams]
        asked, back = _distinct([masks for masks, _ in steps])
        values = yield from keep(asked)
        met.append(asked)
        known.append(values)
        beams = [
            b.onto(masks, b.sums[parents] + values[at])
            for b, (masks, parents), at in zip(beams, steps, back, strict=True)
        ]
    masks, first = np.unique(np.concatenate(met), axis=0, return_index=True)
    return _levels(masks, np.concatenate(known)[first])


def _beams(n: int, beam: int) -> list[_Beam]:
    """Both extremes, from both ends; a width of one leaves only the way down."""
    ways = [(False, (beam + 1) // 2, everything(n)), (True, beam // 2, nothing(n))]
    return [
        _Beam(up, sign, width, start, np.zeros(1))
        for up, width, start in ways
        for sign in (1.0, -1.0)
        if width
    ]


def _distinct(parts: Sequence[Masks]) -> tuple[Masks, list[Ints]]:
    """The distinct rows of several parts, and where each part's rows are among them."""
    rows, back = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
    return rows, np.split(back.reshape(-1), np.cumsum([len(part) for part in parts])[:-1])
