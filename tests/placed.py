"""Small random token classifiers and answer finders with teeth, and their answers by hand."""

import copy
from functools import cache

import torch
from torch import Tensor
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForTokenClassification,
    PreTrainedModel,
)

from attrial.models.heads_models import AnswerModel, TokenModel
from tests import headed, tiny

NAMES = ("O", "PER", "LOC")
WORD = 6  # of tiny.TEXT: "and"; its token stands at position 7, behind the special one
QUESTION, CONTEXT = "was the film good", "the plot was dull and the acting bright"


@cache
def _token(family: str) -> PreTrainedModel:
    names = dict(enumerate(NAMES))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made: PreTrainedModel = AutoModelForTokenClassification.from_config(  # type: ignore[no-untyped-call]
            headed.config(family, id2label=names, label2id={n: i for i, n in names.items()})
        )
    whole = headed.ids(family, tiny.TEXT)

    def moved(model: PreTrainedModel) -> Tensor:
        full = model(input_ids=whole).logits[0, WORD + 1]
        found = [model(input_ids=m).logits[0, WORD + 1] for m in headed.masked(whole, family)]
        return tiny.log_odds(torch.stack(found)) - tiny.log_odds(full)

    return headed.sharpened(made, moved)


@cache
def _answer(family: str) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made: PreTrainedModel = AutoModelForQuestionAnswering.from_config(  # type: ignore[no-untyped-call]
            headed.config(family, num_labels=2)
        )
    whole = headed.ids(family, QUESTION, CONTEXT)

    def moved(model: PreTrainedModel) -> Tensor:
        full = model(**pair(family, whole)).start_logits[0].log_softmax(dim=0)
        found = [model(**pair(family, m)).start_logits[0] for m in headed.masked(whole, family)]
        return torch.median(torch.stack(found).log_softmax(dim=1) - full, dim=1).values

    return headed.sharpened(made, moved)


def pair(family: str, ids: Tensor) -> dict[str, Tensor]:
    """What the model alone is called with for question and context."""
    told = tiny.tokenizer(family)(QUESTION, CONTEXT)
    named = {"input_ids": ids}
    if "token_type_ids" in told:
        named["token_type_ids"] = torch.tensor([told["token_type_ids"]])
    return named


def token_model(family: str = "bert") -> TokenModel:
    """A fresh token classifier behind the questions."""
    made = copy.deepcopy(_token(family))
    return TokenModel.of(made, tiny.tokenizer(family), batch_tokens=1024)


def answer_model(family: str = "bert") -> AnswerModel:
    """A fresh answer finder behind the questions."""
    made = copy.deepcopy(_answer(family))
    return AnswerModel.of(made, tiny.tokenizer(family), batch_tokens=1024)
