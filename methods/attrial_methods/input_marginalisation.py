"""Input marginalisation: what the answer loses when other words take a word's place."""

import numpy as np

from attrial.ask import Asking, infill, keep
from attrial.example import Example
from attrial.masks import Scores, all_but_each, everything

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("keep", "infill")
BUDGET = "samples"
VERSION = 1


def input_marginalisation(x: Example, *, seed: int, samples: int = 500) -> Asking[Scores]:
    """Drop of the target when a player is replaced by drawn stand-ins, averaged over the draws.

    Formula:
        s_i = v(x) - mean over draws w of v(x with player i := w), with w from the filler (a masked
        language model given the rest, or the tokens of the texts tried).

    Source:
        Kim, Yi, Kim, Yoon. Interpretation of NLP models through input marginalization. EMNLP 2020.

    Traps:
        The paper averages probabilities and takes log-odds afterwards; here the mean is of the
        target function that every method explains, so that methods stay comparable. A word that
        the filler can predict from its context keeps much of its influence when it is replaced.

    Args:
        x: The example.
        seed: Of the draws.
        samples: Rows in all, shared evenly between players; at least one draw a player.
    """
    (whole,) = yield from keep(everything(x.n))
    draws = max(1, (samples - 1) // x.n)
    values = yield from infill(np.repeat(all_but_each(x.n), draws, axis=0), seed=seed)
    return np.asarray(whole - values.reshape(x.n, draws).mean(axis=1))
