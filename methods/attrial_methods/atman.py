"""AtMan: what the answer loses when a player is attended to less."""

import numpy as np

from attrial.ask import Asking, keep, slope, suppress
from attrial.example import Example
from attrial.masks import Floats, Scores, everything

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("keep", "suppress")
VERSION = 1


def atman(
    x: Example, *, seed: int, factor: float = 0.9, similarity: float | None = None
) -> Asking[Scores]:
    """Drop of the target when attention scores to a player are scaled down in all layers.

    Formula:
        s_i = v(x) - v(x with every layer's score of key j multiplied by 1 - factor * c_ij), with
        c_ii = 1 and, where a similarity is given, c_ij = cos(e_i, e_j) if that is at least the
        similarity, else 0.

    Source:
        Deiseroth, Deb, Weinbach, Brack, Schramowski, Kersting. AtMan: Understanding Transformer
        Predictions Through Memory Efficient Attention Manipulation. NeurIPS 2023.

    Traps:
        Scores are scaled before the softmax, so that a key with negative scores is attended to
        *more*. With a similarity, words of like embeddings fade together.

    Args:
        x: The example.
        seed: Not used.
        factor: How much of the score goes: 0 nothing, 1 all (then all its scores are 0).
        similarity: Least cosine of two players' summed word embeddings from which the one fades
            with the other; None: every player by itself. Needs ``slope`` too.
    """
    shares = np.eye(x.n)
    if similarity is not None:
        shares = yield from _fading_together(x, similarity)
    (whole,) = yield from keep(everything(x.n))
    values = yield from suppress(factor * shares)
    return np.asarray(whole - values)


def _fading_together(x: Example, similarity: float) -> Asking[Floats]:
    """Cosines (n, n) of the players' embeddings, 0 below the similarity."""
    found = yield from slope(np.ones((1, x.n)), baseline="zero")
    embedded = x.to_players(found.difference[0].T).T
    length = np.linalg.norm(embedded, axis=1, keepdims=True)
    unit = embedded / np.where(length == 0, 1.0, length)
    cosine = np.clip(unit @ unit.T, -1.0, 1.0)
    return np.where(np.eye(x.n, dtype=bool), 1.0, cosine * (cosine >= similarity))
