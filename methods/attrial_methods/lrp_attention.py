"""Layer-wise relevance propagation through attention: AttnLRP (Achtibat et al. 2024)."""

from attrial.ask import Asking, note, relevance
from attrial.example import Example
from attrial.masks import Scores

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("relevance",)
VERSION = 1


def lrp_attention(x: Example, *, seed: int) -> Asking[Scores]:
    """Score each player by the relevance of its word embeddings, through values and attention.

    As ``lrp_conservative``, but the softmax is differentiated, and weights and values share the
    relevance of their product (uniform rule). The softmax rule loses or makes relevance:
    ``conserved`` notes what arrived as a share of what started.
    """
    found = yield from relevance("attention")
    yield from note({"conserved": found.conserved})
    return x.to_players(found.tokens)
