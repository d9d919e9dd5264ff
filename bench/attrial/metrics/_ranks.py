"""The sets of top players that metrics ask about: ties are averaged, never cut by position."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from attrial.ask import Asking, keep
from attrial.errors import Undefined
from attrial.masks import Bools, Floats, Ints, Masks, Scores

SMALL = 12  # up to here all subsets of tied players are asked about
FEW = 32  # and above, where there are no more than this


@dataclass(frozen=True, eq=False)
class Tops:
    """Sets of top players of several sizes, equally likely within a size.

    Attributes:
        masks: (m, n) True = among the top.
        level: (m,) which of the sizes a row belongs to.
    """

    masks: Masks
    level: Ints

    def mean(self, values: npt.ArrayLike) -> Floats:
        """Mean over each size's sets: (m,) -> (number of sizes,)."""
        weights = np.asarray(values, np.float64)
        return np.asarray(np.bincount(self.level, weights) / np.bincount(self.level))


def tops(scores: Scores, sizes: npt.ArrayLike, *, seed: int, chained: bool = False) -> Tops:
    """Sets of the players with the highest of the scores (n,), for each of the sizes.

    Players are tied if their scores are equal as floats. A size cuts at most one group of tied
    players: the expectation is over which of them are in. All choices are listed where n <= 12 or
    they are few. Otherwise the windows round a seeded circle of the group stand for them: each
    player is in equally many, so the mean is exact for additive models and unbiased for all.
    ``chained`` lists a group's choices at every size or at none: each set then holds one of the
    size before, as a walk through the sizes needs.

    Raises:
        Undefined: If there are no players.
    """
    if not len(scores):
        raise Undefined("no players")
    group = np.unique(-scores, return_inverse=True)[1]  # 0 is the highest score
    circle = np.random.default_rng(seed).permutation(len(scores))
    parts = [_of_size(group, int(size), circle, chained) for size in np.asarray(sizes)]
    level = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Tops(np.concatenate(parts), level)


def _of_size(group: Ints, size: int, circle: Ints, chained: bool) -> Masks:
    """Every equally likely set of ``size`` top players, or windows that stand for them."""
    ends = np.cumsum(np.bincount(group))
    cut = int(np.searchsorted(ends, size))  # the group that the size runs through
    firm = group < cut
    tied = circle[group[circle] == cut]
    g, r = len(tied), size - int(firm.sum())
    most = math.comb(g, g // 2 if chained and r else r)
    picks = choices(g, r, all_of_them=len(group) <= SMALL or most <= FEW)
    masks = np.repeat(firm[None], len(picks), axis=0)
    masks[:, tied] = picks
    return masks


def choices(g: int, r: int, *, all_of_them: bool) -> Bools:
    """Which r of g are in: all choices (m, g), or the g windows round a circle."""
    if r == g:
        return np.ones((1, g), bool)
    if not all_of_them:
        return (np.arange(g)[None] - np.arange(g)[:, None]) % g < r
    rows = list(combinations(range(g), r))
    picks = np.zeros((len(rows), g), bool)
    np.put_along_axis(picks, np.array(rows, np.int64).reshape(len(rows), r), True, axis=1)
    return picks


def without_tops(scores: Scores, sizes: npt.ArrayLike, *, seed: int) -> Asking[Floats]:
    """Values after the top players left, one for each size: most relevant first."""
    sets = tops(scores, sizes, seed=seed)
    return sets.mean((yield from keep(~sets.masks)))


def only_tops(scores: Scores, sizes: npt.ArrayLike, *, seed: int) -> Asking[Floats]:
    """Values with the top players alone, one for each size."""
    sets = tops(scores, sizes, seed=seed)
    return sets.mean((yield from keep(sets.masks)))
