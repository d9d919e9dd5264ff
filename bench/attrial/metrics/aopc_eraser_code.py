"""Mean drop over the bins of ERASER, as its code has it."""

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


def aopc_eraser_code(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Mean drop over ERASER's bins, as its code computes it. Higher is better.

    ``comprehensiveness`` under the name that published tables use for it: the sum of drops over |B|
    bins.

    Formula:
        AOPC = 1/|B| Σ_{q in B} [v(all) − v(all but the ⌈q n⌉ highest)]
        B = {1 %, 5 %, 10 %, 20 %, 50 %}
             = 6/5 of aopc_eraser_paper

    Range:
        −1 to 1 for a probability.

    Direction:
        Higher is better.

    Source:
        DeYoung et al., ACL 2020 (ERASER), arXiv:1911.03429; the form of its code, which averages
        over the thresholds without the empty one.

    When not to use:
        Beside ``comprehensiveness``: it is the same number. On texts of a few words, where 1 %, 5 %
        and 10 % all mean one word, so that one word is counted three times: ``aopc`` weighs every
        step once. Raw across models, like every mean drop.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    drop = eraser.comprehensiveness(x, scores, seed=seed, zero_bin=False, beam=beam)
    return (yield from drop)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the order that is best at these bins, and of the worst."""
    return (yield from eraser.extremes(x, seed=seed, beam=beam))
