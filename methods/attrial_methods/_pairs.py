"""Sets drawn to see pairs of players come and go, and what they tell of Shapley's indices.

A drawn set is asked with every single player changed, and with pairs of players changed. A player
joins the set at a share q of all players, q even in [0, 1]: then what is left of it without any two
players is a set of the others drawn as the interaction index weighs it, and what is left without
one player as the Shapley value does. So one drawn set serves all players and all pairs.
"""

from dataclasses import dataclass

import numpy as np

from attrial.masks import Floats, Ints, Masks, Scores, Values


@dataclass(frozen=True, eq=False)
class Draws:
    """Sets with their changes.

    Attributes:
        rows: (k, n) what is asked: a set, its n changes of one, its changes of two, the next set.
        bases: (b, n) the sets.
        pairs: For each set, the (m, 2) pairs that are changed.
    """

    rows: Masks
    bases: Masks
    pairs: list[Ints]


def sampled(n: int, rows: int, seed: int) -> Draws:
    """Sets in complementary pairs while rows last, at least one; the last with what pairs it can.

    Which pairs a last set is asked with is drawn, those of earlier ones are all n (n - 1) / 2.
    """
    rng = np.random.default_rng(seed)
    every = np.stack(np.triu_indices(n, 1), axis=1)
    counts = _pair_counts(rows, n, len(every))
    half = (len(counts) + 1) // 2
    drawn = rng.random((half, n)) < rng.random((half, 1))
    bases = np.stack([drawn, ~drawn], axis=1).reshape(-1, n)[: len(counts)]
    pairs = [every if m == len(every) else rng.permutation(every)[:m] for m in counts]
    asked = [_changes(base, these) for base, these in zip(bases, pairs, strict=True)]
    return Draws(np.concatenate(asked), bases, pairs)


def _pair_counts(rows: int, n: int, every: int) -> list[int]:
    """How many pairs each set is asked with: a set costs 1 + n rows, and one a pair."""
    counts = [max(0, min(every, rows - 1 - n))]
    rows -= 1 + n + counts[0]
    while rows > 1 + n:
        counts.append(min(every, rows - 1 - n))
        rows -= 1 + n + counts[-1]
    return counts


def _changes(base: Masks, pairs: Ints) -> Masks:
    """A set (n,), with each player changed, with each of the pairs changed: (1 + n + m, n)."""
    one = np.eye(len(base), dtype=bool)
    return np.asarray(base ^ np.concatenate([np.zeros_like(one[:1]), one, one[pairs].any(1)]))


def estimated(draws: Draws, values: Values) -> tuple[Scores, Floats, float]:
    """Shapley values (n,), interactions (n, n) with a zero diagonal, and the share of pairs seen.

    ``values`` (k,) are those of ``draws.rows``. A pair that was never changed gets 0.
    """
    n = draws.bases.shape[1]
    scores, total, seen = np.zeros(n), np.zeros((n, n)), np.zeros((n, n))
    start = 0
    for base, pairs in zip(draws.bases, draws.pairs, strict=True):
        end = start + 1 + n + len(pairs)
        at, one, two = values[start], values[start + 1 : start + 1 + n], values[start + 1 + n : end]
        sign = np.where(base, -1.0, 1.0)  # of a change: joining or leaving
        scores += sign * (one - at) / len(draws.bases)
        i, j = pairs.T
        total[i, j] += sign[i] * sign[j] * (two - one[i] - one[j] + at)
        seen[i, j] += 1
        start = end
    mean = total / np.maximum(seen, 1)
    return scores, mean + mean.T, float((seen > 0).sum() / max(1, n * (n - 1) // 2))
