"""Removal by the attention mask: the token stays at its place and nobody sees it."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, in_place

VERSION = 1


def attention_off(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens are attended to by no token; positions stay."""
    return in_place(x, len(kept), visible=kept)
