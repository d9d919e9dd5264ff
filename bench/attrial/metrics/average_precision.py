"""Average precision of a ranking against known evidence."""

import numpy as np

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._evidence import contrary, groups, ideal, known

DIRECTION = "higher"
READS = "probability"
FAMILY = "evidence"
UNIT = ""
RANKED = True
VERSION = 1


def average_precision(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Precision at each rise of recall, averaged over the evidence. Higher is better.

    Tied players share one threshold, as in scikit-learn: constant scores get the share of evidence.
    Never the trapezoid under the precision-recall curve, which gives them (1 + share)/2.

    Formula:
        AP = Σ_t (R_t − R_{t−1}) P_t,  thresholds t from the highest score down
        random order: E[AP] = ((p − 1)/(n − 1) · (n − H_n) + H_n) / n
        p of n players are evidence, H_n = 1 + 1/2 + ... + 1/n

    Range:
        0 to 1, above 0; a constant gets p/n, a random order more.

    Direction:
        Higher is better.

    Source:
        The definition of information retrieval, as in scikit-learn's average_precision_score; for
        explanations of text: Atanasova et al., EMNLP 2020, arXiv:2009.13295.

    When not to use:
        To compare with AUPRC of ERASER, ferret or EvalxNLP: theirs is the trapezoid, .6 instead of
        .2 for a constant with one player in five. With rationales of people as evidence it measures
        plausibility, not faithfulness. Across tasks of unlike shares of evidence, unless beside the
        random order's value.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Not used.

    Raises:
        Undefined: If no evidence is known, or every player is evidence.
    """
    yield from ()
    found = groups(scores, known(x))
    hits = np.cumsum(found.hits)
    return float((found.hits / hits[-1] * hits / np.cumsum(found.sizes)).sum())


def extremes(x: Example, *, seed: int) -> Asking[tuple[Scores, Scores]]:
    """The evidence on top; the evidence last, untied (a tie at the end would score higher)."""
    yield from ()
    return ideal(x), contrary(x)


def expected(x: Example, *, seed: int) -> Asking[float]:
    """Expectation over random orders without ties, in closed form.

    ((p - 1)/(n - 1) (n - H) + H)/n for p of n players, H the n-th harmonic number. More than the
    value of constant scores, p/n: precision at a hit counts the hit itself.
    """
    yield from ()
    n, p = x.n, int(known(x).sum())
    harmonic = float((1 / np.arange(1, n + 1)).sum())
    return ((p - 1) / (n - 1) * (n - harmonic) + harmonic) / n
