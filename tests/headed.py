"""Small random text models with other heads, scaled until removing a word moves their answer."""

import copy
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
)

from attrial.models.text import TextClassifier
from tests import tiny

LABELS = ("toxic", "rude", "spam")
SEVERAL: dict[str, object] = {
    "problem_type": "multi_label_classification",
    "id2label": dict(enumerate(LABELS)),
    "label2id": {name: i for i, name in enumerate(LABELS)},
}
HEADS: dict[str, dict[str, object]] = {
    "one number": {"num_labels": 1, "problem_type": "regression"},
    "several labels": SEVERAL,
}


def config(family: str, **named: object) -> PreTrainedConfig:
    """The family's small configuration, with another head."""
    sizes: dict[str, object] = {**tiny.SIZES, **tiny.FAMILIES[family]}
    if "id2label" in named:
        sizes.pop("num_labels")
    found: PreTrainedConfig = AutoConfig.for_model(family, **(sizes | named))
    return found


def sharpened(made: PreTrainedModel, moved: Callable[[PreTrainedModel], Tensor]) -> PreTrainedModel:
    """The model in eval mode, its matrices scaled until the typical removal moves its answer."""
    made.eval()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for _ in range(40):
            if moved(made).abs().median() >= tiny.TEETH:
                return made
            for parameter in made.parameters():
                if parameter.ndim > 1:
                    parameter.data *= 1.2
    raise AssertionError("no scale gives it teeth")


def ids(family: str, *texts: str) -> Tensor:
    """Token ids (1, t) of a text or a pair, by the tokenizer alone."""
    return torch.tensor([tiny.tokenizer(family)(*texts)["input_ids"]])


def masked(whole: Tensor, family: str) -> list[Tensor]:
    """One copy for each inner position, which reads the mask token there."""
    copies = [whole.clone() for _ in range(1, whole.shape[1] - 1)]
    for place, one in enumerate(copies, 1):
        one[0, place] = tiny.tokenizer(family).mask_token_id
    return copies


@cache
def _made(head: str, family: str, seed: int) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made: PreTrainedModel = AutoModelForSequenceClassification.from_config(  # type: ignore[no-untyped-call]
            config(family, **HEADS[head])
        )
    whole = ids(family, tiny.TEXT)

    def moved(model: PreTrainedModel) -> Tensor:
        full = model(input_ids=whole).logits[:, 0]
        return torch.cat([model(input_ids=m).logits[:, 0] - full for m in masked(whole, family)])

    return sharpened(made, moved)


def model(head: str, family: str = "bert", *, seed: int = 0) -> PreTrainedModel:
    """A fresh copy of a random model with one of ``HEADS``."""
    return copy.deepcopy(_made(head, family, seed))


def classifier(head: str, family: str = "bert", *, seed: int = 0) -> TextClassifier:
    """The same behind the questions."""
    return TextClassifier.of(
        model(head, family, seed=seed), tiny.tokenizer(family), batch_tokens=1024
    )
