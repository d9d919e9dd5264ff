"""Removal by the unknown-word token, for models that never saw a mask token."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, with_token

NEEDS = "unk token"
VERSION = 1


def unk(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens become the unknown-word token; positions stay."""
    return with_token(x, kept, vocabulary.unk, NEEDS)
