"""Area under the curve as the most relevant players leave first."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics import deletion_auc as deletion

DIRECTION = "lower"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def morf(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Area as the most relevant leave first (MoRF, Samek et al. 2017). Lower is better.

    The number of ``deletion_auc``, under the name that it bears beside ``lerf`` and ``abc``.

    Formula:
        area = Σ_{k=1..n} [f(k) + f(k−1)] / 2n
        f(k) = v(all but the k highest)

    Range:
        0 to 1 for a probability.

    Direction:
        Lower is better.

    Source:
        Samek et al., IEEE TNNLS 2017, arXiv:1509.06321.

    When not to use:
        Beside ``deletion_auc``: the same number. Raw across models or texts: it rises with the
        model's confidence.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    return (yield from deletion.deletion_auc(x, scores, seed=seed, beam=beam))


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order, under which the curve falls fastest, and of the worst."""
    return (yield from deletion.extremes(x, seed=seed, beam=beam))
