"""Reciprocal rank of the best-placed known evidence."""

import math

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


def mrr(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """1 over the rank of the best-placed evidence (mean reciprocal rank). Higher is better.

    The expectation over tied players, in closed form.

    Formula:
        1 / (rank of the highest-ranked player of evidence)

    Range:
        0 to 1, above 0; 1 with evidence on top.

    Direction:
        Higher is better.

    Source:
        Voorhees, TREC-8 1999 (question answering track); for token-level explanations with known
        evidence: Arras et al. 2025, arXiv:2502.15886.

    When not to use:
        Where all of the evidence should be found: it stops at the first. Across texts of unlike
        lengths or amounts of evidence, unless beside the random order. With rationales of people as
        evidence it is plausibility.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Not used.

    Raises:
        Undefined: If no evidence is known, or every player is evidence.
    """
    yield from ()
    found = groups(scores, known(x))
    first = int(np.flatnonzero(found.hits)[0])
    above, size, hits = (
        int(a) for a in (found.sizes[:first].sum(), found.sizes[first], found.hits[first])
    )
    return sum(
        math.comb(size - place, hits - 1) / math.comb(size, hits) / (above + place)
        for place in range(1, size - hits + 2)
    )


def extremes(x: Example, *, seed: int) -> Asking[tuple[Scores, Scores]]:
    """The evidence on top; the evidence last."""
    yield from ()
    return ideal(x), contrary(x)
