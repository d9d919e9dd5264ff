"""What is known of AOPC: it moves with a model's confidence, and its normalised form does not."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from attrial import plugin_call
from attrial.ask import Asking, Attend, Attention, Slope, Slopes
from attrial.example import Example
from attrial.masks import Floats, Masks, Scores
from attrial.models.text import TextClassifier
from attrial.target import Target
from attrial.task import items, load_task
from attrial.value import R, Subject, Value, answer

COUNT = 8


@dataclass
class Tempered:
    """A trained classifier with its logits divided: less sure, of the same decisions."""

    model: TextClassifier
    temperature: float
    answers: frozenset[str] = field(default_factory=lambda: frozenset({"keep"}))

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        return [outputs / self.temperature for outputs in self.model.keep(asks)]

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        raise AssertionError("not asked")

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        raise AssertionError("not asked")


def ask(value: Value, x: Example, asker: Asking[R], function: str) -> R:
    full = Subject(x, "mask", Target(0, "logit"))
    value.keep([(full, np.ones((1, x.n), bool))])
    index = int(value.known(full).outputs[0].argmax())
    (got,) = answer(value, [(Subject(x, "mask", Target(index, function)), asker)])
    assert got.result is not None, got.undefined
    return got.result


def means(value: Value, examples: Sequence[Example], metric: str) -> tuple[float, float]:
    """Of occlusion and of random scores."""
    rng = np.random.default_rng(0)
    kinds: tuple[list[Scores], list[Scores]] = (
        [ask(value, x, plugin_call.method("occlusion")(x, 0), "log_odds") for x in examples],
        [rng.normal(size=x.n) for x in examples],
    )
    measure = plugin_call.metric(metric)
    found = [
        [
            ask(value, x, measure.value(x, s, 0), "probability")
            for x, s in zip(examples, kind, strict=True)
        ]
        for kind in kinds
    ]
    return float(np.mean(found[0])), float(np.mean(found[1]))


@pytest.mark.parametrize("task", ["planted_keyword", "planted_majority"])
def test_aopc_shifts_between_models_and_naopc_does_not(task: str) -> None:
    folder = load_task(task).model
    assert folder is not None
    model = TextClassifier.load(folder)
    encoded = [model.encode(i.id, i.texts) for i in items(load_task(task))]
    examples = [x for x in encoded if x.n <= 10][:COUNT]
    assert len(examples) >= 5
    sure, unsure = (Value(Tempered(model, t)) for t in (1.0, 8.0))
    raw = [means(m, examples, "aopc")[0] for m in (sure, unsure)]
    normal = [means(m, examples, "naopc") for m in (sure, unsure)]
    assert raw[0] > 2 * raw[1]
    assert normal[0][0] == pytest.approx(normal[1][0], abs=0.1)
    for occlusion, random in normal:
        assert occlusion > random + 0.2
