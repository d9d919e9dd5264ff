"""Removal by the padding token, left visible: a neutral word rather than a gap."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, with_token

NEEDS = "pad token"
VERSION = 1


def pad(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens become the padding token, which is still attended to; positions stay.

    Effect:
        Each removed token's id becomes the padding token's, and is attended to like a word.
        Positions and length stay.

    Source:
        A common baseline of integrated gradients and of erasure; no one paper's.

    When not to use:
        As "padding": a model is trained with padding switched off in attention, so a visible pad is
        an untrained embedding to many of them. ``attention_off`` is what hidden padding would be.
        Heads that look for the last token that is no pad read another position where the end is
        removed.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Ids of the tokenizer's special tokens.
    """
    return with_token(x, kept, vocabulary.pad, NEEDS)
