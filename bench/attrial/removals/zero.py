"""Removal by a zero word embedding: position and segment are still told."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, in_place

VERSION = 1


def zero(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens' word embeddings become zero; positions stay."""
    return in_place(x, len(kept), blank=~kept)
