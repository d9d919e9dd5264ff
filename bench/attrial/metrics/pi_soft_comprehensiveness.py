"""Drop when elements of the most relevant players vanish, as many for every method."""

import numpy as np

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._soft import as_shares, at_random, comprehensive, mean_of, panel, softened

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = False
ASKS = ("soften",)
VERSION = 1


def pi_soft_comprehensiveness(
    x: Example,
    scores: Scores,
    *,
    seed: int,
    stretch: bool = True,
    means: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9),
    draws: int = 10,
) -> Asking[float]:
    """Soft comprehensiveness at equal shares removed (after Huang & Chan 2026). Higher is better.

    Formula:
        ``soft_comprehensiveness`` of the scores as shares a, shifted by the one amount under which
        clip(a + shift, 0, 1) has a fixed mean; averaged over the means. Every attribution so
        removes the same share of the input in expectation.

    Range:
        [0, 1].

    Direction:
        Higher is better.

    Source:
        The critique of Huang & Chan 2026 (arXiv 2601.03089). The shift is this project's way to
        match the shares: any mean in (0, 1) can be met by any scores, which scaling and powers
        can't do where scores are 0.

    When not to use:
        Where only the order is to be judged: gaps between scores still count. An input with zeroed
        elements may be unlike anything that the model has seen.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; their values matter, but no constant added to them.
        seed: Of the draws.
        stretch: Stretch the scores so that the least is 0 and the greatest 1; False takes them as
            shares, clipped to [0, 1] before they are shifted.
        means: The shares that are removed in expectation, each in (0, 1).
        draws: How many times the elements are drawn at each mean; notes the ``standard_error``.

    Raises:
        Undefined: If an input of zeros is worth as much as the whole (S0 = 1), there are no
            players, or scores to be stretched are constant.
        AttrialError: If there is less than one draw, or a mean is outside (0, 1).
    """
    shares = 1 - panel(as_shares(scores, stretch=stretch), means)
    drops, scale = yield from softened(shares, draws=draws, seed=seed)
    return (yield from mean_of(comprehensive(drops, scale), draws=draws))


def expected(
    x: Example,
    *,
    seed: int,
    stretch: bool = True,
    means: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9),
    draws: int = 10,
) -> Asking[float]:
    """Random attributions, drawn anew each time: uniform shares, matched like all others."""
    drawn = at_random(x.n, draws=draws, seed=seed)
    shares = np.concatenate([1 - panel(row, means) for row in drawn])
    drops, scale = yield from softened(shares, draws=1, seed=seed)
    return (yield from mean_of(comprehensive(drops, scale), draws=draws))
