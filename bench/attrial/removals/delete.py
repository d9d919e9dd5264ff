"""Removal by deletion, as an editor would: the sentence gets shorter."""

from dataclasses import replace

import numpy as np

from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, closed_up, in_place

NEEDS = "text"
VERSION = 1


def delete(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens are taken out and the others close up: positions shift.

    Effect:
        Removed tokens are taken out, the others close up and take the positions 0, 1, 2 and so on.
        Ids are cut, nothing is decoded or tokenised again.

    Source:
        Deletion as in ERASER, DeYoung et al., ACL 2020, arXiv:1911.03429.

    When not to use:
        To tell words from places: every later word moves, so the model's answer to the shift is
        part of the drop. On models trained with masks in the input (the planted tasks'), for which
        a shorter text is the stranger one.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Ids of the tokenizer's special tokens.
    """
    if NEEDS not in vocabulary.has:
        raise NotApplicable("the patches of an image don't close up")
    rows = closed_up(in_place(x, len(kept), visible=kept))
    return replace(rows, positions=np.broadcast_to(np.arange(len(x.ids)), kept.shape))
