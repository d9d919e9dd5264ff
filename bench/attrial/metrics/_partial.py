"""Random parts of an explained set, and the drops as they leave: the input stays nearly whole."""

import math
from dataclasses import dataclass

import numpy as np

from attrial.ask import Asking, keep
from attrial.curves import bin_sizes
from attrial.errors import AttrialError, Undefined
from attrial.masks import Bools, Masks, Scores, all_subsets
from attrial.metrics._ranks import choices, tops
from attrial.metrics._sets import drops, nested

SEARCHED = 12  # players up to which all sets are tried for the best and the worst


@dataclass(frozen=True)
class Plan:
    """How large the explained set is, and how much of it, or of the rest, leaves at a time."""

    top: int
    leaving: int


def planned(n: int, *, share: float, part: float, most: float, of_rest: bool) -> Plan:
    """Sizes for n players: a part of the set, but never more than ``most`` of the whole input.

    >>> planned(20, share=0.2, part=0.5, most=0.1, of_rest=False)
    Plan(top=4, leaving=2)

    Raises:
        Undefined: If there are no players, or nothing is left outside the set.
        AttrialError: If one of the shares is outside (0, 1].
    """
    if not n:
        raise Undefined("no players")
    top, cap = (int(size) for size in bin_sizes((share, most), n))
    whole = n - top if of_rest else top
    if not whole:
        raise Undefined("every player is in the explained set")
    return Plan(top, min(int(bin_sizes((part,), whole)[0]), cap))


def parts(members: Bools, size: int, *, samples: int, rng: np.random.Generator) -> Masks:
    """Subsets (k, n) of some players: all of a size, or random ones where they are many."""
    at = np.flatnonzero(members)
    if math.comb(len(at), size) <= samples:
        picks = choices(len(at), size, all_of_them=True)
    else:
        picks = rng.permuted(np.tile(np.arange(len(at)) < size, (samples, 1)), axis=1)
    rows = np.zeros((len(picks), len(members)), bool)
    rows[:, at] = picks
    return rows


def mean_drop(
    scores: Scores, plan: Plan, *, of_rest: bool, samples: int, seed: int
) -> Asking[float]:
    """Mean drop as random parts of the top players, or of the rest, leave; ties are averaged."""
    if samples < 1:
        raise AttrialError(f"samples must be at least 1, got {samples}")
    rng = np.random.default_rng(seed)
    sets = tops(scores, [plan.top], seed=seed).masks ^ of_rest
    gone = [parts(members, plan.leaving, samples=samples, rng=rng) for members in sets]
    fell = yield from drops(np.concatenate(gone))
    each = np.split(fell, np.cumsum([len(rows) for rows in gone])[:-1])
    return float(np.mean([part.mean() for part in each]))


def most_and_least(n: int, plan: Plan, *, of_rest: bool) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the set whose parts cost most as they leave, and of the set of the least.

    Raises:
        Undefined: If there are more than 12 players.
    """
    if n > SEARCHED:
        raise Undefined(f"more than {SEARCHED} players: too many sets to search for the best")
    masks = all_subsets(n)
    sets, gone = (masks[masks.sum(1) == size] for size in (plan.top, plan.leaving))
    lost = -(yield from keep(~gone))
    inside = nested(gone, sets ^ of_rest)
    worth = (inside * lost[:, None]).sum(0) / inside.sum(0)
    return sets[worth.argmax()].astype(float), sets[worth.argmin()].astype(float)
