"""Removal by infilling: other words stand in, so that the text stays a text."""

from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.filling import by_content
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, in_place

NEEDS = "filler"
VERSION = 1


def infill(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens are replaced by drawn ones, a draw that the set decides; positions stay.

    The draws come from the masked model of ``--infill``, else from the tokens of the texts tried.
    """
    if vocabulary.filler is None:
        raise NotApplicable("there is nothing to draw stand-ins from")
    return in_place(x, len(kept), ids=vocabulary.filler.fill(x, kept, by_content(x, kept)))
