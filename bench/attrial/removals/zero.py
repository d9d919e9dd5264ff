"""Removal by a zero word embedding: position and segment are still told."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, in_place

NEEDS = "embeddings"
VERSION = 1


def zero(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens' word embeddings become zero; positions stay.

    Effect:
        The word embedding becomes the zero vector; position and segment embeddings are still added,
        and the position is still attended to.

    Source:
        The zero baseline of gradient methods, as a removal: Sundararajan, Taly, Yan, ICML 2017,
        arXiv:1703.01365.

    When not to use:
        On models that norm the embedding by its own size first (RMSNorm, as in Llama): a zero
        vector has no direction. As neutral: zero is a point like any other to a trained model,
        often far from every word.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Ids of the tokenizer's special tokens.
    """
    return in_place(x, len(kept), blank=~kept)
