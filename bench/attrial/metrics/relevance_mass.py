"""Share of the positive relevance that lies on known evidence."""

import numpy as np

from attrial.ask import Asking
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._evidence import ideal, known

DIRECTION = "higher"
READS = "probability"
FAMILY = "evidence"
UNIT = ""
RANKED = False
VERSION = 1


def relevance_mass(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Share of positive relevance on the evidence (RMA, Arras et al. 2022). Higher is better.

    Sum of positive scores on evidence over the sum of all positive scores, in [0, 1]. Depends on
    the values of the scores, not only on their order.

    Formula:
        RMA = Σ_{i evidence} max(s_i, 0) / Σ_i max(s_i, 0)

    Range:
        0 to 1; the share of evidence for a random order.

    Direction:
        Higher is better.

    Source:
        Arras, Osman, Samek, Information Fusion 2022, arXiv:2003.07258.

    When not to use:
        To compare methods that differ by a shift: attention rows give every player a little, which
        lowers their mass while their order may be perfect. For magnitudes on texts with evidence
        against the class: all of it counts as positive. Undefined without a positive score: see how
        many examples are left.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant.
        seed: Not used.

    Raises:
        Undefined: If no evidence is known, or every player is evidence, or no score is positive.
    """
    yield from ()
    truth, positive = known(x), np.clip(scores, 0, None)
    if not positive.any():
        raise Undefined("no positive relevance")
    return float(positive[truth].sum() / positive.sum())


def extremes(x: Example, *, seed: int) -> Asking[tuple[Scores, Scores]]:
    """All relevance on the evidence; all of it elsewhere."""
    yield from ()
    return ideal(x), 1 - ideal(x)


def expected(x: Example, *, seed: int) -> Asking[float]:
    """The share of evidence: in a random order of any scores, each player has its equal part."""
    yield from ()
    return float(known(x).mean())
