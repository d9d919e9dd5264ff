"""Removal by the padding token, left visible: a neutral word rather than a gap."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, with_token

NEEDS = "pad token"
VERSION = 1


def pad(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens become the padding token, which is still attended to; positions stay."""
    return with_token(x, kept, vocabulary.pad, NEEDS)
