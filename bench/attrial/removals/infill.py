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

    Effect:
        Each removed token's id becomes a drawn one; the draw is decided by the example and the set,
        so the same question has the same answer.

    Source:
        Removal by a generative model, as in input marginalisation: Kim et al., EMNLP 2020,
        arXiv:2010.13984.

    When not to use:
        Where the masked model can guess the word from its neighbours: evidence comes back by the
        side door, and drops are small. One draw a set is noisy; an average over draws is what
        ``input_marginalisation`` does.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Ids of the tokenizer's special tokens, and the filler.
    """
    if vocabulary.filler is None:
        raise NotApplicable("there is nothing to draw stand-ins from")
    return in_place(x, len(kept), ids=vocabulary.filler.fill(x, kept, by_content(x, kept)))
