"""Who shares a rank with whom: rank intervals and letters from pairs that are told apart."""

from collections.abc import Sequence
from itertools import combinations

from attrial.masks import Bools

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def rank_intervals(better: Bools) -> list[tuple[int, int]]:
    """Ranks that each of m methods may have: better (m, m) -> m pairs (low, high), 1 = best.

    low = 1 + how many are told to be better, high = m - how many are told to be worse.

    >>> import numpy as np
    >>> rank_intervals(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], bool))
    [(1, 1), (2, 3), (2, 3)]
    """
    m = len(better)
    lows, highs = 1 + better.sum(axis=0), m - better.sum(axis=1)
    return [(int(low), int(high)) for low, high in zip(lows, highs, strict=True)]


def tied_groups(apart: Bools, order: Sequence[int] | None = None) -> list[str]:
    """Letters of m methods: two share one exactly if they can't be told apart.

    A compact letter display by insertion and absorption (Piepho 2004). Where those told apart are
    neighbours in the order, its groups are the longest runs in which no pair is told apart.

    Args:
        apart: (m, m) symmetric, which pairs are told apart.
        order: Best method first; letters are given in this order.

    >>> import numpy as np
    >>> tied_groups(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    sequence = list(range(len(apart))) if order is None else list(order)
    groups = [frozenset(sequence)]
    for i, j in combinations(sequence, 2):
        if apart[i, j]:
            groups = _split(groups, i, j)
    place = {member: k for k, member in enumerate(sequence)}
    ranked = sorted(groups, key=lambda group: sorted(place[i] for i in group))
    letters = [_letter(k) for k in range(len(ranked))]
    return [
        "".join(name for name, group in zip(letters, ranked, strict=True) if i in group)
        for i in range(len(apart))
    ]


def _split(groups: list[frozenset[int]], i: int, j: int) -> list[frozenset[int]]:
    """Cut every group that holds both, and drop what another group contains."""
    cut = [part for g in groups for part in ((g - {i}, g - {j}) if {i, j} <= g else (g,))]
    unique = list(dict.fromkeys(cut))
    return [g for g in unique if not any(g < other for other in unique)]


def _letter(k: int) -> str:
    return LETTERS[k] if k < len(LETTERS) else f"({k})"
