"""Removal by the mask token: what masked language models were trained to read as a gap."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, with_token

NEEDS = "mask token"
VERSION = 1


def mask(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens become the mask token; positions stay."""
    return with_token(x, kept, vocabulary.mask, NEEDS)
