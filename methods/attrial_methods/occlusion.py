"""Occlusion: how far the value falls when a window of players goes (Zeiler & Fergus 2014)."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Masks, Scores, everything
from attrial_methods._options import at_least

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("keep",)
VERSION = 1


def occlusion(x: Example, *, seed: int, window: int = 1) -> Asking[Scores]:
    """Score each player by v(all) - v(all but the window), averaged over the windows that hold it.

    With ``window=1`` this is leave-one-out. A wider window's drop is shared equally by its players.
    """
    at_least("occlusion", "window", window, 1)
    gone = _windows(x.n, min(window, x.n))
    values = yield from keep(np.concatenate([everything(x.n), ~gone]))
    shares = (values[0] - values[1:]) / gone.sum(1)
    return np.asarray(shares @ gone / gone.sum(0))


def _windows(n: int, width: int) -> Masks:
    """Row i marks the players i .. i + width - 1: (n - width + 1, n)."""
    start = np.arange(n - width + 1)[:, None]
    at = np.arange(n)[None, :]
    return np.asarray((start <= at) & (at < start + width))
