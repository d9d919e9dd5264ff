"""Small random multiple-choice models with teeth, and what they are called with by hand."""

import copy
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor
from transformers import AutoModelForMultipleChoice, PreTrainedModel

from attrial.models.heads_choice import ChoiceModel
from tests import headed, tiny

CONTEXT, QUESTION = "the plot was not very good", "was the film"
CHOICES = ("bright", "dull and brighter", "a story")
CASES = [(CONTEXT,), (CONTEXT, QUESTION)]
Call = dict[str, Tensor]


def called(family: str, texts: Sequence[str], hidden: Sequence[int] = ()) -> Call:
    """The three sequences as a tokenizer alone makes and pads them: (1, 3, w); some words masked.

    ``hidden`` are positions in the part that all share.
    """
    second = [" ".join([*texts[1:], choice]) for choice in CHOICES]
    told = tiny.tokenizer(family)([texts[0]] * 3, second, padding=True, return_tensors="pt")
    ids = told["input_ids"]
    ids[:, list(hidden)] = tiny.tokenizer(family).mask_token_id
    names = tiny.tokenizer(family).model_input_names
    return {name: told[name][None] for name in names}


@cache
def _made(family: str) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made: PreTrainedModel = AutoModelForMultipleChoice.from_config(  # type: ignore[no-untyped-call]
            headed.config(family)
        )

    def moved(model: PreTrainedModel) -> Tensor:
        full = model(**called(family, CASES[1])).logits[0]
        found = [model(**called(family, CASES[1], [i])).logits[0] for i in range(1, 7)]
        return tiny.log_odds(torch.stack(found)) - tiny.log_odds(full)

    return headed.sharpened(made, moved)


@cache
def chooser(family: str = "bert") -> ChoiceModel:
    """A multiple-choice model behind the questions."""
    made = copy.deepcopy(_made(family))
    return ChoiceModel.of(made, tiny.tokenizer(family), batch_tokens=1024)
