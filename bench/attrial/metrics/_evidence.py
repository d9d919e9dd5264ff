"""What is known of the evidence in an example, and how much of it a ranking's tied groups hold."""

from dataclasses import dataclass

import numpy as np

from attrial.curves import bin_sizes
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Bools, Ints, Scores


def known(x: Example) -> Bools:
    """The known evidence (n,), where there is something to find.

    Raises:
        Undefined: If nothing is known, no player is evidence, or every player is.
    """
    if x.truth is None or not x.truth.any():
        raise Undefined("no known evidence")
    if x.truth.all():
        raise Undefined("every player is evidence")
    return x.truth


def ideal(x: Example) -> Scores:
    """Scores (n,) that put the evidence on top."""
    return known(x).astype(float)


def contrary(x: Example) -> Scores:
    """Scores (n,) that put the evidence last, without ties."""
    return np.where(known(x), -x.n, 0.0) - np.arange(x.n)


def chosen(truth: Bools, share: float | None) -> int:
    """How many top players stand for an explanation: a share of all, or as many as the evidence.

    Raises:
        AttrialError: If the share is outside (0, 1].
    """
    return int(truth.sum()) if share is None else int(bin_sizes((share,), len(truth))[0])


@dataclass(frozen=True, eq=False)
class Groups:
    """Tied players from the highest score down: how many, and how many of them are evidence."""

    sizes: Ints
    hits: Ints


def groups(scores: Scores, truth: Bools) -> Groups:
    """The tied groups of a ranking.

    >>> groups(np.array([1.0, 3.0, 1.0]), np.array([True, False, False]))
    Groups(sizes=array([1, 2]), hits=array([0, 1]))
    """
    group = np.unique(-scores, return_inverse=True)[1]
    sizes = np.bincount(group)
    return Groups(sizes, np.bincount(group[truth], minlength=len(sizes)))


def expected_hits(found: Groups, k: int) -> float:
    """Expected evidence among the top k, ties in random order.

    >>> expected_hits(Groups(np.array([1, 2]), np.array([0, 1])), 2)
    0.5
    """
    above = np.cumsum(found.sizes) - found.sizes
    taken = np.clip(k - above, 0, found.sizes)
    return float((found.hits * taken / found.sizes).sum())
