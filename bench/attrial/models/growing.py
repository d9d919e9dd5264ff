"""What language models say by themselves: where it ends, and how an example grows by it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from attrial.example import Example


def ends(model: PreTrainedModel) -> frozenset[int]:
    """Tokens that end what is generated; configs name one, a list, or none."""
    generation = model.generation_config
    named = generation.eos_token_id if generation is not None else None
    if named is None:
        named = model.config.get_text_config().eos_token_id
    return frozenset(named if isinstance(named, list) else [named]) - {None}


def grown(x: Example, said: Sequence[int], texts: Sequence[str]) -> Example:
    """The example followed by tokens that were generated, each a player; nothing is asked."""
    return replace(
        x,
        players=(*x.players, *texts),
        ids=np.append(x.ids, np.array(said, np.int64)),
        types=np.append(x.types, np.zeros(len(said), np.int64)),
        owner=np.append(x.owner, np.arange(x.n, x.n + len(said))),
        read=len(x.ids) + len(said) - 1,
        spans=(*x.spans, *[(0, 0)] * len(said)),
        truth=None,
        options=(),
        labels=(),
        explained=None,
    )


def shown(tokenizer: PreTrainedTokenizerBase, said: Sequence[int]) -> tuple[str, ...]:
    """What each token adds to the text, for the eye alone."""
    texts = [str(tokenizer.decode(list(said[:i]))) for i in range(len(said) + 1)]
    return tuple(b[len(a) :] if b.startswith(a) else b for a, b in pairwise(texts))
