"""Overlap of runs of relevant players with runs of known evidence."""

import numpy as np

from attrial.ask import Asking
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Bools, Floats, Masks, Scores
from attrial.metrics._evidence import chosen, known
from attrial.metrics._ranks import tops

DIRECTION = "higher"
READS = "probability"
FAMILY = "evidence"
UNIT = ""
RANKED = True
VERSION = 1


def iou_f1(
    x: Example,
    scores: Scores,
    *,
    seed: int,
    share: float | None = 0.2,
    overlap: float = 0.5,
) -> Asking[float]:
    """F1 of runs of top players that overlap the evidence (ERASER, 2020). Higher is better.

    Formula:
        The top k = ceil(share x n) players and the evidence are cut into runs of neighbours. A run
        of top players is right if its intersection over union with some run of the evidence is at
        least ``overlap``. F1 of precision (right runs over runs of top players) and recall (right
        runs over runs of the evidence); 0 if none is right. Ties are averaged.

    Range:
        [0, 1].

    Direction:
        Higher is better.

    Source:
        ERASER, DeYoung et al. 2020.

    When not to use:
        With scores that jump from word to word: one gap halves a run, and the value jumps with it.
        Against human rationales it measures plausibility, which is not faithfulness.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        share: Of the players that are taken, in (0, 1]: give the data set's mean share of evidence.
            None takes as many as the evidence has.
        overlap: Least intersection over union of a right run, in (0, 1].

    Raises:
        Undefined: If no evidence is known, or every player is evidence.
        AttrialError: If the share or the overlap is outside (0, 1].
    """
    yield from ()
    if not 0 < overlap <= 1:
        raise AttrialError(f"overlap must be in (0, 1], got {overlap}")
    truth = known(x)
    sets = tops(scores, [chosen(truth, share)], seed=seed).masks
    return float(np.mean([_f1(mask, truth, overlap) for mask in sets]))


def _f1(mask: Bools, truth: Bools, overlap: float) -> float:
    """2 x right / (runs of the one + runs of the other)."""
    mine, gold = runs(mask), runs(truth)
    right = (_shared(mine, gold).max(1) >= overlap).sum()
    return float(2 * right / (len(mine) + len(gold)))


def _shared(mine: Masks, gold: Masks) -> Floats:
    """(i, j) intersection over union of run i of the one with run j of the other."""
    both = (mine[:, None] & gold[None]).sum(2)
    return np.asarray(both / (mine[:, None] | gold[None]).sum(2))


def runs(mask: Bools) -> Masks:
    """Runs of neighbours, a row each: (n,) -> (runs, n).

    >>> runs(np.array([True, True, False, True])).astype(int)
    array([[1, 1, 0, 0],
           [0, 0, 0, 1]])
    """
    starts = mask & ~np.concatenate([[False], mask[:-1]])
    number = np.cumsum(starts) * mask
    return np.asarray(number[None] == np.arange(1, starts.sum() + 1)[:, None])
