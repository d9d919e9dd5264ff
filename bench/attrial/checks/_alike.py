"""How alike two explanations of one input are: ranks, sizes, the top."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from attrial.check_bench import Cell, Explained, averaged, defined
from attrial.masks import Scores

Compare = Callable[[Scores, Scores], Cell]
TIE = 1e-9  # scores closer than this share of the largest are tied: they differ by rounding


def spearman(a: Scores, b: Scores) -> Cell:
    """Spearman's rank correlation in [-1, 1], ties averaged; undefined where scores are constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0]))
    1.0
    """
    x, y = _ranks(a), _ranks(b)
    if len(x) < 2:
        return "one player has no ranking"
    if not np.ptp(x) or not np.ptp(y):
        return "constant scores have no ranking"
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1.0, 1.0))


def _ranks(scores: Scores) -> Scores:
    step = TIE * float(np.abs(scores).max(initial=0.0))
    return np.asarray(rankdata(np.round(scores / step) if step else scores))


def similarity(a: Scores, b: Scores) -> Cell:
    """The greater of the Spearman correlations of s and of |s|: a flipped sign hides nothing."""
    pairs = ((a, b), (np.abs(a), np.abs(b)))
    found = [c for x, y in pairs if not isinstance(c := spearman(x, y), str)]
    return max(found) if found else "constant scores have no ranking"


def change(a: Scores, b: Scores) -> Cell:
    """The largest difference as a share of the largest score: 0 where both are the same.

    >>> change(np.array([2.0, 1.0]), np.array([1.0, 1.0]))
    0.5
    """
    size = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return float(np.abs(a - b).max(initial=0.0) / size) if size else 0.0


def unchanged(cells: Sequence[Cell]) -> bool:
    """Whether every change that is defined is 0, and one is."""
    found = defined(cells)
    return bool(found.size) and not found.any()


def jaccard(a: Scores, b: Scores, *, k: int) -> Cell:
    """Overlap of the k highest: shared players over all that are in either top, in [0, 1].

    Where a tie straddles the edge of a top there is none.
    """
    tops = _top(a, k), _top(b, k)
    if tops[0] is None or tops[1] is None:
        return "the top is tied"
    return len(tops[0] & tops[1]) / len(tops[0] | tops[1])


def _top(scores: Scores, k: int) -> set[int] | None:
    order = np.argsort(-scores, kind="stable")
    tied = len(scores) > k and scores[order[k - 1]] == scores[order[k]]
    return None if tied else set(order[:k].tolist())


def compared(how: Compare, a: Explained, b: Explained) -> Cell:
    """Compare two explanations; the reason where one is lacking."""
    if isinstance(a, str) or isinstance(b, str):
        return a if isinstance(a, str) else str(b)
    return how(a, b)


def each(how: Compare, a: Sequence[Explained], b: Sequence[Explained]) -> list[Cell]:
    """Compare the explanations of each example."""
    return [compared(how, x, y) for x, y in zip(a, b, strict=True)]


def between(how: Compare, runs: Sequence[Sequence[Explained]]) -> list[Cell]:
    """Mean over all pairs of runs, example by example."""
    pairs = [each(how, a, b) for a, b in combinations(runs, 2)]
    return [averaged(cells) for cells in zip(*pairs, strict=True)]


def furthest(
    how: Compare, first: Sequence[Explained], others: Sequence[Sequence[Explained]]
) -> list[Cell]:
    """The greatest value against any of the others, example by example; a reason if one lacks."""
    found = [each(how, first, other) for other in others]
    return [_greatest(cells) for cells in zip(*found, strict=True)]


def _greatest(cells: Sequence[Cell]) -> Cell:
    reasons = [c for c in cells if isinstance(c, str)]
    return reasons[0] if reasons else max(c for c in cells if not isinstance(c, str))
