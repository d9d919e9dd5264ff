"""Removal by the unknown-word token, for models that never saw a mask token."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, with_token

NEEDS = "unk token"
VERSION = 1


def unk(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens become the unknown-word token; positions stay.

    Effect:
        Each removed token's id becomes the unknown-word token's. Positions and length stay.

    Source:
        A common stand-in where there is no mask token; no one paper's.

    When not to use:
        On models with subwords, which hardly ever saw the unknown token in training. Where it means
        something to the model, as names do.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Ids of the tokenizer's special tokens.
    """
    return with_token(x, kept, vocabulary.unk, NEEDS)
