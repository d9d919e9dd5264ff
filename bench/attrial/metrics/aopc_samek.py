"""Mean drop over the whole deletion curve, with its start."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics import aopc as edin

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def aopc_samek(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Mean drop over k = 0..n players gone (AOPC of Samek et al. 2017). Higher is better.

    1/(n + 1) sum over k = 0..n of v(all) - v(all but the top k): n/(n + 1) times ``aopc``, since
    the term of k = 0 is 0. In [-1, 1] for a probability.

    Formula:
        AOPC = 1/(n + 1) Σ_{k=0..n} [v(all) − v(all but the k highest)]
             = n/(n + 1) · aopc

    Range:
        −n/(n + 1) to n/(n + 1) for a probability.

    Direction:
        Higher is better.

    Source:
        Samek et al., IEEE TNNLS 2017, arXiv:1509.06321. There players are image patches, and the
        mean is over a data set.

    When not to use:
        To compare texts of unlike lengths: the term of k = 0, always 0, weighs more in short ones.
        Beside ``aopc``: within one text both rank alike.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    return (yield from edin.aopc(x, scores, seed=seed, beam=beam)) * x.n / (x.n + 1)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order, under which the curve falls fastest, and of the worst."""
    return (yield from edin.extremes(x, seed=seed, beam=beam))
