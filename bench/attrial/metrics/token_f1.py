"""Overlap of the most relevant players with the known evidence."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._evidence import chosen, contrary, expected_hits, groups, ideal, known

DIRECTION = "higher"
READS = "probability"
FAMILY = "evidence"
UNIT = ""
RANKED = True
VERSION = 1


def token_f1(x: Example, scores: Scores, *, seed: int, share: float | None = 0.2) -> Asking[float]:
    """F1 of the top players against the evidence (ERASER, DeYoung et al. 2020). Higher is better.

    Formula:
        2 x hits / (k + p): the top k = ceil(share x n) players against the p of the evidence. The
        expectation over tied players, in closed form.

    Range:
        [0, 1]; 1 only where k = p.

    Direction:
        Higher is better.

    Source:
        ERASER, DeYoung et al. 2020, where k is the mean length of a rationale in the data set.

    When not to use:
        To compare data sets, since the greatest possible value depends on how far k is from p.
        Against human rationales it measures plausibility, which is not faithfulness.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Not used.
        share: Of the players that are taken, in (0, 1]: give the data set's mean share of evidence.
            None takes as many as the evidence has, and F1 is then precision at p.

    Raises:
        Undefined: If no evidence is known, or every player is evidence.
        AttrialError: If the share is outside (0, 1].
    """
    yield from ()
    truth = known(x)
    k, p = chosen(truth, share), int(truth.sum())
    return 2 * expected_hits(groups(scores, truth), k) / (k + p)


def extremes(x: Example, *, seed: int, share: float | None = 0.2) -> Asking[tuple[Scores, Scores]]:
    """The evidence on top; the evidence last."""
    yield from ()
    return ideal(x), contrary(x)
