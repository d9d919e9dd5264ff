"""Removal by deletion, as an editor would: the sentence gets shorter."""

from dataclasses import replace

import numpy as np

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, closed_up, in_place

VERSION = 1


def delete(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens are taken out and the others close up: positions shift."""
    rows = closed_up(in_place(x, len(kept), visible=kept))
    return replace(rows, positions=np.broadcast_to(np.arange(len(x.ids)), kept.shape))
