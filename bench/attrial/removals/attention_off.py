"""Removal by the attention mask: the token stays at its place and nobody sees it."""

from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, in_place

NEEDS = "hidden positions"
VERSION = 1


def attention_off(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens are attended to by no token; positions stay.

    Effect:
        The attention mask is 0 at removed positions in every layer: no token looks there, and what
        is computed there reaches nobody. Position ids of the others stay.

    Source:
        Erasure by the attention mask, as in Yin & Neubig, EMNLP 2022, arXiv:2202.10419. Where a
        probe at load finds it exact, removed tokens are dropped from the row instead, which costs
        less. In image classifiers removed patches are always dropped, the others keeping their
        places; a probe finds out whether the architecture allows it.

    When not to use:
        On models that were never padded in training, or whose attention can't be switched off (the
        run says so). With nearly all words gone the rest stand at far positions with nothing
        between, which is no text.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Ids of the tokenizer's special tokens.
    """
    if NEEDS not in vocabulary.has:
        raise NotApplicable("the model takes whole images only")
    return in_place(x, len(kept), visible=kept)
