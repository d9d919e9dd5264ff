"""Share of known evidence among as many top players."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics import precision_at_k as precision

DIRECTION = "higher"
READS = "probability"
FAMILY = "evidence"
UNIT = ""
RANKED = True
VERSION = 1


def relevance_rank(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Share of evidence in as many top players (RRA, Arras et al. 2022). Higher is better.

    The expectation over tied players. The number of ``precision_at_k`` without k.

    Formula:
        RRA = |evidence among the p highest| / p,  p = |evidence|

    Range:
        0 to 1; p/n for a random order.

    Direction:
        Higher is better.

    Source:
        Arras, Osman, Samek, Information Fusion 2022, arXiv:2003.07258.

    When not to use:
        Beside ``precision_at_k`` without k: the same number. Where evidence makes up most of the
        text. With rationales of people as evidence it is plausibility, not faithfulness.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Not used.

    Raises:
        Undefined: If no evidence is known, or every player is evidence.
    """
    return (yield from precision.precision_at_k(x, scores, seed=seed))


def extremes(x: Example, *, seed: int) -> Asking[tuple[Scores, Scores]]:
    """The evidence on top; the evidence last."""
    return (yield from precision.extremes(x, seed=seed))
