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
    relevance of their product. ``conserved`` notes what arrived as a share of what started.

    Formula:
        norms, activations: as lrp_conservative
        product of two activations: half of the relevance to each factor
        softmax: R_in = z (R_out − softmax(z) Σ R_out)

    Source:
        Achtibat et al., ICML 2024 (AttnLRP), arXiv:2402.05602.

    Traps:
        It doesn't conserve end to end: the softmax rule loses or makes relevance, and changes if a
        constant is added to all of a row's logits, which changes no answer. Packages that patch the
        process leave later gradients, of any model, silently wrong; this is a mode around one
        forward. For a language model compare with a contrast, and look at the first token's share.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
    """
    found = yield from relevance("attention")
    yield from note({"conserved": found.conserved})
    return x.to_players(found.tokens)
