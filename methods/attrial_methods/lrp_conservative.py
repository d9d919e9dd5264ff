"""Layer-wise relevance propagation that conserves: CP-LRP (Ali et al. 2022)."""

from attrial.ask import Asking, note, relevance
from attrial.example import Example
from attrial.masks import Scores

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("relevance",)
VERSION = 1


def lrp_conservative(x: Example, *, seed: int) -> Asking[Scores]:
    """Score each player by the relevance of its word embeddings, attention weights held fixed.

    Attention weights and the scales of norms are constants of the backward pass, activation
    functions pass relevance on unchanged, and factors of a product share it. So without biases the
    relevances sum to the logit, with what position and type embeddings take: ``conserved`` notes
    what arrived as a share of what started.

    Formula:
        linear: R_in,i = x_i w_i / (Σ_j x_j w_j + bias) R_out
        norm: scale held fixed;  activation: R_in = R_out;  attention: weights held fixed
        s_i = Σ_{t in player i} Σ_d R(word embedding of t)_d

    Source:
        Ali et al., ICML 2022 (CP-LRP), arXiv:2202.07304.

    Traps:
        Blind to what only moves attention: a token that others look for, and whose own value adds
        nothing, gets 0. Biases keep relevance, so ``conserved`` needn't be 1. Position and type
        embeddings take a share that no player gets. Stabilisers added without the denominator's
        sign blow up near 0.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
    """
    found = yield from relevance("conservative")
    yield from note({"conserved": found.conserved})
    return x.to_players(found.tokens)
