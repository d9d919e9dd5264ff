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

    Where players tie for the top, the share of evidence among them.

    Formula:
        1 if the player with the highest score is evidence, else 0

    Range:
        0 to 1; p/n for a random order with p players of evidence.

    Direction:
        Higher is better.

    Source:
        Zhang et al., IJCV 2018, arXiv:1608.00507. There the highest pixel has to lie in the
        object's box.

    When not to use:
        With few examples: each one is a coin, intervals are wide. Where evidence makes up most of
        the text: any player is right. Where the rest of the order matters.

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
