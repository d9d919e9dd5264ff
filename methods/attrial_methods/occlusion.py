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

    Formula:
        s_i = mean over windows W with i of [v(all) − v(all but W)] / |W|

    Source:
        Zeiler & Fergus, ECCV 2014, arXiv:1311.2901; for text: Li, Monroe, Jurafsky 2016,
        arXiv:1612.08220.

    Traps:
        No ground truth: of evidence that occurs twice each copy alone changes nothing, and where
        several players are needed each seems to be the whole. Deleting, masking and blanking are
        three methods, so the removal is part of the record. Re-tokenising the shortened text can
        make a new word of what is left; ids are edited here.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        window: Neighbouring players that leave together.
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
