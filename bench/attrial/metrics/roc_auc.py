"""How often evidence is ranked above what is none."""

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


def roc_auc(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Chance that evidence is ranked above what is none (area under ROC). Higher is better.

    Formula:
        Share of the pairs (player of the evidence, other player) in which the first has the higher
        score; a tie counts one half. The same as the area under the ROC curve.

    Range:
        0 to 1; a random order and constant scores get 1/2, whatever the share of evidence.

    Direction:
        Higher is better.

    Source:
        Fawcett, Pattern Recognition Letters 2006; for rationales DeYoung et al., ACL 2020.

    When not to use:
        Where evidence is rare and only the top is looked at: with one player of 50, the tenth place
        still gets 0.82. ``average_precision`` and ``mrr`` weigh the top.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Not used.

    Raises:
        Undefined: If no evidence is known, or every player is evidence.
    """
    yield from ()
    found = groups(scores, known(x))
    others = found.sizes - found.hits
    below = others.sum() - np.cumsum(others)
    wins = (found.hits * (below + others / 2)).sum()
    return float(wins / (found.hits.sum() * others.sum()))


def extremes(x: Example, *, seed: int) -> Asking[tuple[Scores, Scores]]:
    """The evidence on top; the evidence last."""
    yield from ()
    return ideal(x), contrary(x)
