"""Removal by the mean colour: a patch of an image becomes even."""

import numpy as np

from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Bools
from attrial.patches import MEAN, ImageVocabulary
from attrial.removal import Rows, Vocabulary, in_place

NEEDS = "patches"
VERSION = 1


def mean(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed patches take the mean colour of the model's normalisation; positions stay.

    Effect:
        Every pixel of a removed patch becomes 0 after normalisation, which is the mean colour that
        the image processor subtracts. The patch is still attended to.

    Source:
        The common baseline of occlusion: Zeiler & Fergus, ECCV 2014, arXiv:1311.2901.

    When not to use:
        Where an even square says something by itself. The edges between kept and removed patches
        are new to a model that was trained on photographs.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Of an image classifier.
    """
    if not isinstance(vocabulary, ImageVocabulary):
        raise NotApplicable("text has no patches")
    return in_place(x, len(kept), ids=np.where(kept, x.ids, MEAN))
