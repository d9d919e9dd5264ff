"""ReAGent: which players' replacement makes the answer drop, over random sets of replacements."""

import numpy as np

from attrial.ask import Asking, infill, keep
from attrial.example import Example
from attrial.masks import Scores, everything

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("keep", "infill")
BUDGET = "samples"
VERSION = 1


def reagent(x: Example, *, seed: int, samples: int = 500, ratio: float = 0.3) -> Asking[Scores]:
    """Mean drop of the target over random sets of replaced players: added in, subtracted outside.

    Formula:
        s_i = mean over sets S (a share ``ratio`` of the players) of d(S) if i in S, else -d(S),
        with d(S) = v(x) - v(x with the players of S := stand-ins that the filler draws).

    Source:
        Zhao, Shan. ReAGent: A Model-agnostic Feature Attribution Method for Generative Language
        Models. AAAI 2024 workshop.

    Traps:
        The paper squashes a difference of probabilities by logit((d + 1) / 2) and stops when the
        best players alone give the answer; here the difference is of the target function that all
        methods explain, and the whole budget is spent, so that methods compare at equal cost.

    Args:
        x: The example.
        seed: Of the sets and the stand-ins.
        samples: Rows in all.
        ratio: Share of the players that are replaced at once, at least one and not all.
    """
    rng = np.random.default_rng(seed)
    size = int(np.clip(round(ratio * x.n), 1, max(1, x.n - 1)))
    replaced = rng.random((max(1, samples - 1), x.n)).argsort(axis=1) < size
    (whole,) = yield from keep(everything(x.n))
    values = yield from infill(~replaced, seed=seed)
    drops = whole - values
    return np.asarray(np.where(replaced, 1.0, -1.0).T @ drops / len(drops))
