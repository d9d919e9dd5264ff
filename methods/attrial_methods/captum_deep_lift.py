"""Captum's DeepLift, run by the model's side of a question."""

from attrial.ask import Asking, note, relevance
from attrial.example import Example
from attrial.masks import Scores

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("relevance",)
VERSION = 1


def captum_deep_lift(x: Example, *, seed: int) -> Asking[Scores]:
    """Captum's DeepLift: contributions by differences of activations, from zero embeddings.

    How much of y(input) - y(baseline) they sum to is noted as ``conserved``.

    Formula:
        s_i = sum over the player's embeddings of (input - baseline) * multiplier, multipliers being
        chained backwards: a gradient, or at a non-linear module that Captum knows, the difference
        of its outputs over the difference of its inputs.

    Source:
        Shrikumar, Greenside, Kundaje. Learning Important Features Through Propagating Activation
        Differences. ICML 2017. As Captum implements it (the rescale rule).

    Traps:
        Captum sees modules alone, and of a few types (ReLU, Tanh, Softmax and the like).
        Attention's softmax, layer norm and transformers' own GELU pass as plain gradients, so that
        the scores of a BERT are nearly gradient times input, and don't sum to the change.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
    """
    reply = yield from relevance("deep_lift")
    yield from note({"conserved": reply.conserved})
    return x.to_players(reply.tokens)
