"""How much of the answer is left when players stay as far as they are relevant."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._soft import as_shares, at_random, mean_of, softened, sufficient

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = False
ASKS = ("soften",)
VERSION = 1


def soft_sufficiency(
    x: Example, scores: Scores, *, seed: int, stretch: bool = True, draws: int = 20
) -> Asking[float]:
    """What relevant players hold alone (Soft-NS, Zhao & Aletras 2023). Higher is better.

    Formula:
        max(0, S - S0) / (1 - S0), S = 1 - max(0, v(all) - v(x')), where x' keeps each embedding
        element of player i with probability a_i, a the scores as shares, and S0 is S of an input of
        zeros.

    Range:
        [0, 1] for all inputs; the maxima are part of the definition.

    Direction:
        Higher is better.

    Source:
        Zhao & Aletras 2023.

    When not to use:
        To compare attributions of unlike means. The value grows with the share that is kept,
        whatever the order: of an additive model it is the sum of share x weight, so that scores
        shifted up win. ``pi_soft_sufficiency`` holds the share fixed.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; their values matter, not only their order.
        seed: Of the draws.
        stretch: Stretch the scores so that the least is 0 and the greatest 1; False takes them as
            shares, clipped to [0, 1].
        draws: How many times the elements are drawn; notes the ``standard_error`` of their mean.

    Raises:
        Undefined: If an input of zeros is worth as much as the whole (S0 = 1), there are no
            players, or scores to be stretched are constant.
        AttrialError: If there is less than one draw.
    """
    shares = as_shares(scores, stretch=stretch)
    drops, scale = yield from softened(shares[None], draws=draws, seed=seed)
    return (yield from mean_of(sufficient(drops, scale), draws=draws))


def expected(x: Example, *, seed: int, stretch: bool = True, draws: int = 20) -> Asking[float]:
    """Random attributions, drawn anew each time: uniform shares, each player on its own."""
    shares = at_random(x.n, draws=draws, seed=seed)
    drops, scale = yield from softened(shares, draws=1, seed=seed)
    return (yield from mean_of(sufficient(drops, scale), draws=draws))
