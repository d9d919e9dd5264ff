"""Mean drop over the bins of ERASER, as its paper has it."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics import comprehensiveness as eraser

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def aopc_eraser_paper(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Mean drop over ERASER's bins and the empty one (eq. 3 of the paper). Higher is better.

    ``comprehensiveness`` with ``zero_bin=True``: the drop of the empty bin, 0, is counted.

    Formula:
        AOPC = 1/(|B| + 1) Σ_{q in B} [v(all) − v(all but the ⌈q n⌉ highest)]
        B = {1 %, 5 %, 10 %, 20 %, 50 %}
             = 5/6 of aopc_eraser_code

    Range:
        −5/6 to 5/6 for a probability.

    Direction:
        Higher is better.

    Source:
        DeYoung et al., ACL 2020 (ERASER), arXiv:1911.03429, equation 3.

    When not to use:
        To compare with published numbers: ERASER's code divides by |B|, which makes them 6/5 of
        this. Beside ``aopc_eraser_code``, which ranks alike.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    drop = eraser.comprehensiveness(x, scores, seed=seed, zero_bin=True, beam=beam)
    return (yield from drop)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the order that is best at these bins, and of the worst."""
    return (yield from eraser.extremes(x, seed=seed, beam=beam))
