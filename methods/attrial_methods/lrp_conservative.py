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
    what arrived as a share of what started. Blind to what only moves attention.
    """
    found = yield from relevance("conservative")
    yield from note({"conserved": found.conserved})
    return x.to_players(found.tokens)
