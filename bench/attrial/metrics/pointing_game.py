"""Whether the top player is known evidence."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._evidence import contrary, expected_hits, groups, ideal, known

DIRECTION = "higher"
READS = "probability"
FAMILY = "evidence"
UNIT = ""
RANKED = True
VERSION = 1


def pointing_game(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Whether the top player is evidence (Zhang et al. 2018). Higher is better.

    1 or 0; where players tie for the top, the share of evidence among them.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant; only the top matters.
        seed: Not used.

    Raises:
        Undefined: If no evidence is known, or every player is evidence.
    """
    yield from ()
    return expected_hits(groups(scores, known(x)), 1)


def extremes(x: Example, *, seed: int) -> Asking[tuple[Scores, Scores]]:
    """The evidence on top; the evidence last."""
    yield from ()
    return ideal(x), contrary(x)
