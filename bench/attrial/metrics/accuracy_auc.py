"""Area under the curve of examples that are still decided alike."""

import numpy as np

from attrial.ask import Asking, keep, note
from attrial.curves import area
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._orders import Level, both_chains, explored
from attrial.metrics._ranks import tops

DIRECTION = "lower"
READS = "margin"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def accuracy_auc(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Area under the share still decided alike as the top players leave. Lower is better.

    Formula:
        Trapezoids over k/n, k = 0..n, of [the decision stays without the top k], 0 or 1 for one
        example: its mean over examples is the area under the accuracy against the model's own
        decisions. Ties are averaged. Notes the curve as ``accuracy`` (n + 1 values).

    Range:
        [0, 1]; at least 1/(2n), since the whole input is decided as it is.

    Direction:
        Lower is better.

    Source:
        The accuracy curves of DecompX (Modarressi et al. 2023), and Samek et al. 2017.

    When not to use:
        Where a decision hangs on few players every method is at one of few values; unlike
        ``decision_flip_fraction`` it counts decisions that come back.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players, or the class is not the one decided for.
    """
    sets = tops(scores, np.arange(x.n + 1), seed=seed)
    stays = (yield from keep(~sets.masks)) >= 0
    if not stays[0]:
        raise Undefined("the class is not the one decided for")
    curve = sets.mean(stays)
    yield from note({"accuracy": curve.tolist()})
    return area(curve)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the order with the fewest decisions that stay, and with the most."""
    found = yield from explored(x.n, beam=beam)
    levels = [Level(level.masks, (level.values >= 0).astype(float)) for level in found]
    low, high = both_chains(levels, np.ones(x.n + 1))
    return -low, -high
