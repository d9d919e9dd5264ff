"""Drop when a random part of the most relevant players leaves."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._partial import mean_drop, most_and_least, planned

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 1


def f_fidelity_plus(
    x: Example,
    scores: Scores,
    *,
    seed: int,
    share: float = 0.2,
    part: float = 0.5,
    most: float = 0.1,
    samples: int = 50,
) -> Asking[float]:
    """Drop as random parts of the top leave (FFid+, Zheng et al. 2024). Higher is better.

    Formula:
        Mean of v(all) - v(all but R) over random R within the top ceil(share x n) players: as many
        as ``part`` of them, but at most ``most`` of the input.

    Range:
        [-1, 1] for a probability.

    Direction:
        Higher is better.

    Source:
        F-Fidelity, Zheng et al. 2024 (arXiv 2410.02970).

    When not to use:
        With a model that was never trained with removed players. The original fine-tunes a copy of
        the model with random parts removed; this asks the model as it is, so that inputs are in its
        distribution only if it was trained so, as those of the planted tasks were. On short inputs
        one player leaves at a time.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the parts, and of the sample of ties, where they are too many to list.
        share: Of the players in the explained set, in (0, 1].
        part: Of the explained set that leaves at a time, in (0, 1].
        most: Of the input that leaves at a time, in (0, 1].
        samples: How many parts; all of them, each once, where there are no more.

    Raises:
        Undefined: If there are no players.
        AttrialError: If a share is outside (0, 1], or there is less than one sample.
    """
    plan = planned(x.n, share=share, part=part, most=most, of_rest=False)
    return (yield from mean_drop(scores, plan, of_rest=False, samples=samples, seed=seed))


def extremes(
    x: Example,
    *,
    seed: int,
    share: float = 0.2,
    part: float = 0.5,
    most: float = 0.1,
    samples: int = 50,
) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best explained set and of the worst: exact, up to 12 players."""
    plan = planned(x.n, share=share, part=part, most=most, of_rest=False)
    return (yield from most_and_least(x.n, plan, of_rest=False))
