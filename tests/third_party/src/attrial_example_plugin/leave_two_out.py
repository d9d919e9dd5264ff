"""Leave two out: how far the value falls when a player goes together with each other one."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Scores, everything

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("keep",)
VERSION = 1


def leave_two_out(x: Example, *, seed: int, weight: float = 1.0) -> Asking[Scores]:
    """Score each player by its mean drop over all partners, itself included."""
    pairs = [(i, j) for i in range(x.n) for j in range(x.n)]
    masks = np.ones((len(pairs), x.n), bool)
    for row, pair in enumerate(pairs):
        masks[row, list(pair)] = False
    values = yield from keep(np.concatenate([everything(x.n), masks]))
    drops = (values[0] - values[1:]).reshape(x.n, x.n)
    return np.asarray(weight * drops.mean(axis=1))
