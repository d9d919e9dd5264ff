"""Which method serves which kind of model: every cell that is not applicable is listed here."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    BertConfig,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from attrial import plugin_call, registry, testing
from attrial.contract import linear
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.models.text import TextClassifier
from attrial.subject import Model, Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import tiny

METHODS = [
    name
    for name, plugin in registry.plugins("methods").items()
    if plugin.module.startswith("attrial_methods.")
]
Cell = tuple[Model, Example, Target]


class BagForSequenceClassification(PreTrainedModel):
    """The sum of its visible words' vectors, squashed: no position, no attention."""

    config_class = BertConfig

    def __init__(self, config: PreTrainedConfig) -> None:
        super().__init__(config)
        self.words = nn.Embedding(tiny.VOCABULARY, 8)
        self.out = nn.Linear(8, 3)
        self.post_init()  # type: ignore[no-untyped-call]
        self.words.weight.data.normal_()

    def get_input_embeddings(self) -> nn.Module:
        return self.words

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None
    ) -> SequenceClassifierOutput:
        seen = self.words(input_ids)
        if attention_mask is not None:
            seen = seen * attention_mask[:, :, None]
        return SequenceClassifierOutput(logits=self.out(torch.tanh(seen.sum(1))))


def classified(it: TextClassifier) -> Cell:
    return it, it.encode("x", [tiny.TEXT]), Target(0)


def filled() -> Cell:
    it = tiny.classifier()
    return classified(it.filled_by(corpus_of([it.encode("x", [tiny.TEXT])])))


def bag() -> Cell:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model("bert", **tiny.SIZES)
        model = BagForSequenceClassification(config).eval()  # type: ignore[no-untyped-call]
    return classified(TextClassifier.of(model, tiny.tokenizer(), batch_tokens=1024))


def deberta() -> Cell:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model("deberta", **tiny.SIZES)
        model = AutoModelForSequenceClassification.from_config(config).eval()  # type: ignore[no-untyped-call]
    return classified(TextClassifier.of(model, tiny.tokenizer(), batch_tokens=1024))


def played(game: testing.Playable) -> Cell:
    return game, game.example, game.target


MODELS: Mapping[str, Callable[[], Cell]] = {
    "encoder": lambda: classified(tiny.classifier()),
    "encoder with a filler": filled,
    "attention is shown, not taken": deberta,
    "no attention": bag,
    "game": lambda: played(testing.game(5, lambda masks: masks @ np.arange(5.0))),
    "smooth": lambda: played(linear(np.array([1.0, 2.0, 3.0]))),
    "toy": lambda: played(testing.toy("induction")),
}

INFILL = {"input_marginalisation", "reagent"}
SUPPRESS = {"atman"}
LAYERS = {"alti", "attention_norm", "value_zeroing"}
ATTEND = {
    *("attention", "attention_attribution", "attention_flow", "attention_grad_cam"),
    *("attention_rollout", "attention_x_gradient", "chefer"),
}
SLOPE = {
    *("captum_integrated_gradients", "expected_gradients", "gradient_norm", "gradient_sum_abs"),
    *("input_x_gradient", "integrated_gradients", "sequential_integrated_gradients"),
    "smooth_grad",
}
RELEVANCE = {"captum_deep_lift", "lrp_attention", "lrp_conservative"}
NOT_APPLICABLE: Mapping[str, set[str]] = {
    "encoder": INFILL,  # nothing to draw other words from
    "encoder with a filler": set(),
    # it gives its attention weights out, but others can't be put in; nor are its values seen
    "attention is shown, not taken": INFILL
    | SUPPRESS
    | LAYERS
    | {"attention_attribution", "gradient_sum_abs"},
    "no attention": INFILL | SUPPRESS | LAYERS | ATTEND | {"gradient_sum_abs"},
    "game": SUPPRESS | LAYERS | ATTEND | SLOPE | RELEVANCE,
    "smooth": SUPPRESS | LAYERS | ATTEND | RELEVANCE,
    "toy": INFILL,
}


@cache
def cell(model: str) -> Cell:
    return MODELS[model]()


def outcome(model: str, name: str) -> str:
    """``scores``, ``undefined``, or ``not applicable``."""
    it, x, target = cell(model)
    asked = [(Subject(x, "mask", target), plugin_call.method(name)(x, 0))]
    try:
        (got,) = answer(Value(it), asked)
    except NotApplicable as why:
        assert "\n" not in str(why) and len(str(why)) > 20
        return "not applicable"
    return "undefined" if got.result is None else "scores"


def expected(model: str, name: str) -> str:
    return "not applicable" if name in NOT_APPLICABLE[model] else "scores"


@pytest.mark.parametrize("model", MODELS)
def test_cells_are_what_the_lists_say(model: str) -> None:
    found = {name: outcome(model, name) for name in METHODS}
    assert found == {name: expected(model, name) for name in METHODS}


def test_a_model_without_attention_says_so_beforehand() -> None:
    assert cell("no attention")[0].answers == {"keep", "slope", "soften", "relevance"}
    assert cell("attention is shown, not taken")[0].answers >= {"attend"}


def test_lists_name_methods_that_there_are() -> None:
    listed = set().union(*NOT_APPLICABLE.values())
    assert listed <= set(METHODS)


@pytest.mark.parametrize("model", MODELS)
def test_a_question_that_a_model_does_not_answer_is_never_applicable(model: str) -> None:
    """What is declared on both sides tells it beforehand; the rest is told when it is asked."""
    answers = cell(model)[0].answers
    lacking = {n for n in METHODS if not set(plugin_call.method(n).asks) <= answers}
    assert lacking <= NOT_APPLICABLE[model]
