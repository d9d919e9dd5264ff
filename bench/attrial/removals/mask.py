"""Removal by the mask token: what masked language models were trained to read as a gap."""

from attrial.example import Example
from attrial.masks import Bools
from attrial.removal import Rows, Vocabulary, with_token

NEEDS = "mask token"
VERSION = 1


def mask(x: Example, kept: Bools, vocabulary: Vocabulary) -> Rows:
    """Removed tokens become the mask token; positions stay.

    Effect:
        Each removed token's id becomes the mask token's, one for one. Positions and length stay.

    Source:
        What masked language models read as a gap in pre-training: Devlin et al., NAACL 2019,
        arXiv:1810.04805. For models fine-tuned with it: Madsen, Reddy, Chandar, ICML 2024,
        arXiv:2310.07819.

    When not to use:
        On a model whose fine-tuning never showed it a mask: many gaps are then out of distribution,
        and their number alone may move the answer. On models without a mask token (GPT-2, Llama):
        use ``attention_off``, ``delete`` or ``unk``.

    Args:
        x: The example.
        kept: (k, t) which positions stay.
        vocabulary: Ids of the tokenizer's special tokens.
    """
    return with_token(x, kept, vocabulary.mask, NEEDS)
