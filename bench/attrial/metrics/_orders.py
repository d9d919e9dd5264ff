"""The best and the worst order of one input, as chains of nested sets: exact where small.

An order is the chain of sets that it passes through, from no player to all. Deletion, insertion,
AOPC, comprehensiveness and sufficiency are weighted sums of values along a chain, so one collection
of sets with known values serves them all: each takes the chain through it with the least or the
greatest sum. The collection holds all subsets up to ``EXACT`` players; above, those that beams met
on their way up from no player and down from all of them.

Metrics that read one function of the target search alike: what a search does next follows from the
values that it has been told, so those who were told the same share each step, and each best chain.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from attrial.ask import Asking, keep, note
from attrial.errors import AttrialError
from attrial.masks import (
    Bools,
    Floats,
    Ints,
    Masks,
    Scores,
    Values,
    all_subsets,
    everything,
    nothing,
)
from attrial.metrics._climbs import LONG, climbed
from attrial.metrics._sets import nested

EXACT = 12
# Sets kept a size and extreme, half of them on the way up, half on the way down. The smallest
# width that found the exact extremes of 19 in 20 random interacting games of 12 players.
BEAM = 6
SHARED = 256  # steps of searches that are remembered for others: more than run side by side

Told = bytes  # values (k,) of float64, as what they are told apart by


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
        beam: Width of the search above ``EXACT`` players, up to ``LONG``.

    Returns:
        Scores (n,) under which keeping the top ones sums to the least value, and to the greatest.
    """
    if n > LONG and beam >= 1:
        return both_chains((yield from _climbed(n, np.asarray(weights) > 0)), weights)
    return both_chains((yield from explored(n, beam=beam)), weights)


def both_chains(levels: Sequence[Level], weights: npt.ArrayLike) -> tuple[Scores, Scores]:
    """How many sets of the least chain, and of the greatest, each player is in: (n,) and (n,)."""
    shares = np.asarray(weights, np.float64)
    if levels[0].masks.shape[1] > LONG:  # those are large, and one metric's own
        return _chains(levels, shares)
    return _both(tuple(levels), shares.tobytes())


@lru_cache(maxsize=SHARED)
def _both(levels: tuple[Level, ...], weights: Told) -> tuple[Scores, Scores]:
    """The same for equal levels: those of one search are the same objects."""
    return _chains(levels, np.frombuffer(weights))


def _chains(levels: Sequence[Level], shares: Floats) -> tuple[Scores, Scores]:
    low, high = (chain(levels, shares, sign).sum(0).astype(float) for sign in (1, -1))
    return low, high


def explored(n: int, *, beam: int = BEAM, exact: int = EXACT) -> Asking[Sequence[Level]]:
    """Sets with known values, by size 0..n: all of them, or those that a search meets.

    Raises:
        AttrialError: If ``beam`` is less than 1.
    """
    if beam < 1:
        raise AttrialError(f"beam must be at least 1, got {beam}")
    if n > LONG:
        return (yield from _climbed(n, np.ones(n + 1, bool)))
    if n > exact:
        return (yield from _searched(n, beam))
    return _all_of(n, (yield from keep(all_subsets(n))).tobytes())


@lru_cache(maxsize=SHARED)
def _all_of(n: int, values: Told) -> Sequence[Level]:
    return _levels(all_subsets(n), np.frombuffer(values))


def chain(levels: Sequence[Level], weights: npt.ArrayLike, sign: float) -> Masks:
    """Nested sets, one for each size with a weight, with the least sign x weighted sum of values.

    Between two sizes with weights any nesting will do: what lies between them counts nothing.
    """
    shares = sign * np.asarray(weights, np.float64)
    used: list[int] = np.flatnonzero(shares).tolist()
    costs = shares[used[0]] * levels[used[0]].values
    froms: list[Ints] = []
    for below, size in pairwise(used):
        reach = np.where(_inside(levels[below], levels[size]), costs[:, None], np.inf)
        froms.append(reach.argmin(0))
        costs = reach.min(0) + shares[size] * levels[size].values
    picks = [int(costs.argmin())]
    for back in reversed(froms):
        picks.append(int(back[picks[-1]]))
    return np.stack([levels[s].masks[i] for s, i in zip(used, reversed(picks), strict=True)])


@lru_cache(maxsize=4 * EXACT)
def _inside(below: Level, above: Level) -> Bools:
    """(i, j) whether set i lies within set j: looked at for the least chain and the greatest."""
    return nested(below.masks, above.masks)


def _levels(masks: Masks, values: Values) -> tuple[Level, ...]:
    sizes = masks.sum(1)
    return tuple(Level(masks[sizes == s], values[sizes == s]) for s in range(masks.shape[1] + 1))


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


@dataclass(frozen=True, eq=False)
class _Search:
    """How far a search has come: where its beams stand, and all sets met with their values."""

    beams: tuple[_Beam, ...]
    met: tuple[Level, ...]

    @cached_property
    def steps(self) -> list[tuple[Masks, Ints]]:
        """Where each beam may go."""
        return [b.steps() for b in self.beams]

    @cached_property
    def asked(self) -> tuple[Masks, list[Ints]]:
        """The distinct sets among these, and where each beam's are among them."""
        return _distinct([masks for masks, _ in self.steps])

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """All sets that were met, each once."""
        masks, first = np.unique(
            np.concatenate([part.masks for part in self.met]), axis=0, return_index=True
        )
        return _levels(masks, np.concatenate([part.values for part in self.met])[first])


def _climbed(n: int, sizes: Bools) -> Asking[Sequence[Level]]:
    """The sets that climbs meet, and their orders at these sizes; others may have no set."""
    yield from note({"bounded": 1.0})
    return _levels(*(yield from climbed(n, sizes)))


def _searched(n: int, beam: int) -> Asking[Sequence[Level]]:
    """All sets that the beams meet in n steps, each step one question."""
    search = _begun(n, beam, (yield from keep(_ends(n))).tobytes())
    for _ in range(n):
        search = _moved(search, (yield from keep(search.asked[0])).tobytes())
    return search.levels


def _ends(n: int) -> Masks:
    return np.concatenate([nothing(n), everything(n)])


@lru_cache(maxsize=SHARED)
def _begun(n: int, beam: int, values: Told) -> _Search:
    return _Search(tuple(_beams(n, beam)), (Level(_ends(n), np.frombuffer(values)),))


@lru_cache(maxsize=SHARED)
def _moved(search: _Search, told: Told) -> _Search:
    """The search one step on, once it is told the values of the sets that it asked about."""
    values, (masks, back) = np.frombuffer(told), search.asked
    beams = tuple(
        b.onto(sets, b.sums[parents] + values[at])
        for b, (sets, parents), at in zip(search.beams, search.steps, back, strict=True)
    )
    return _Search(beams, (*search.met, Level(masks, values)))


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
