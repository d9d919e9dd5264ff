"""Soft removal: scores as shares of their players that stay, and what the drops are worth."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq

from attrial.ask import Asking, note, soften
from attrial.curves import COINCIDE
from attrial.errors import AttrialError, Undefined
from attrial.masks import Floats, Scores, Values


def as_shares(scores: Scores, *, stretch: bool) -> Floats:
    """Scores as shares in [0, 1]: stretched from the least to the greatest, or just clipped.

    >>> as_shares(np.array([-1.0, 0.0, 3.0]), stretch=True).tolist()
    [0.0, 0.25, 1.0]

    Raises:
        Undefined: If there are no players, or scores to be stretched are all equal.
    """
    if not len(scores):
        raise Undefined("no players")
    if not stretch:
        return np.clip(scores, 0, 1)
    if not np.ptp(scores):
        raise Undefined("the scores are constant")
    return np.asarray((scores - scores.min()) / np.ptp(scores))


def matched(shares: Floats, mean: float) -> Floats:
    """The shares shifted by the one amount that makes their mean this, clipped to [0, 1].

    Any mean in (0, 1) can be met so, by any shares, and the order of players stays.

    >>> matched(np.array([1.0, 0.0, 0.0, 0.0]), 0.5).round(3).tolist()
    [1.0, 0.333, 0.333, 0.333]
    """

    def excess(shift: float) -> float:
        return float(np.clip(shares + shift, 0, 1).mean() - mean)

    shift = brentq(excess, -float(shares.max()), 1 - float(shares.min()), xtol=1e-14)
    return np.clip(shares + shift, 0, 1)


def panel(shares: Floats, means: Sequence[float]) -> Floats:
    """The same shares at each of the mean retentions: (n,) -> (means, n).

    Raises:
        AttrialError: For no means, or one outside (0, 1).
    """
    if not means or not all(0 < mean < 1 for mean in means):
        raise AttrialError(f"means are shares in (0, 1), for instance (0.2, 0.5); got {means!r}")
    return np.stack([matched(shares, mean) for mean in means])


def softened(shares: Floats, *, draws: int, seed: int) -> Asking[tuple[Values, float]]:
    """Drops below the whole input, cut at 0, as players fade: (k, n) -> (draws x k,).

    Returns:
        The drops, and the whole input's own drop to an input of zeros: 1 - S0.

    Raises:
        Undefined: If zeros are worth as much as the whole input, that is S0 = 1.
        AttrialError: If there is less than one draw.
    """
    if draws < 1:
        raise AttrialError(f"draws must be at least 1, got {draws}")
    n = shares.shape[1]
    ends = np.stack([np.ones(n), np.zeros(n)])
    values = yield from soften(np.concatenate([ends, np.tile(shares, (draws, 1))]), seed=seed)
    scale = float(values[0] - values[1])
    if scale <= COINCIDE:
        raise Undefined("an input of zeros is worth as much as the whole (S0 = 1)")
    return np.clip(values[0] - values[2:], 0, None), scale


def comprehensive(drops: Values, scale: float) -> Values:
    """Soft comprehensiveness of each draw: its drop as a share of the drop to nothing."""
    return np.asarray(drops / scale)


def sufficient(drops: Values, scale: float) -> Values:
    """Soft sufficiency of each draw: max(0, S - S0) / (1 - S0) with S = 1 - drop."""
    return np.clip(scale - drops, 0, None) / scale


def mean_of(found: Values, *, draws: int) -> Asking[float]:
    """The mean of (draws x k,); notes its ``standard_error``, where there is more than one draw."""
    means = found.reshape(draws, -1).mean(1)
    if draws > 1:
        yield from note({"standard_error": float(means.std(ddof=1) / np.sqrt(draws))})
    return float(means.mean())


def at_random(n: int, *, draws: int, seed: int) -> Floats:
    """Shares (draws, n) of random attributions: uniform in [0, 1], each player on its own."""
    if not n:
        raise Undefined("no players")
    return np.random.default_rng(seed).random((draws, n))
