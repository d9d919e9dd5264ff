"""Removal by blurring: a patch of an image keeps its colour and loses its detail."""

import numpy as np

from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Bools
from attrial.patches import ImageVocabulary
from attrial.removal import Rows, Vocabulary, in_place

NEEDS = "patches"
VERSION = 1


def blur(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed patches are taken from a blurred image; positions stay.

    Effect:
        The whole image is blurred once (a Gaussian with a standard deviation of half a patch's
        side) and removed patches show that.

    Source:
        Blurring as a removal: Fong & Vedaldi, ICCV 2017, arXiv:1704.03296.

    When not to use:
        Where colour is the evidence: it is still there after a blur, and drops are small.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Of an image classifier.
    """
    if not isinstance(vocabulary, ImageVocabulary) or vocabulary.patches is None:
        raise NotApplicable("text has no patches")
    return in_place(x, len(kept), ids=np.where(kept, x.ids, vocabulary.patches.blurred(x)))
