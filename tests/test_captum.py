"""Captum's classes behind the questions: as the library gives them, and no forward of their own."""

import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from captum import attr

from attrial import plugin_call, registry, testing
from attrial.ask import Relevance, Relevances, Slope, Slopes
from attrial.games import Game
from attrial.masks import Floats, Masks, Scores
from attrial.models.deep_lift import lifted
from attrial.models.text import TextClassifier
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Answer, Value, answer
from tests import tiny

SETS = ("captum_lime", "captum_kernel_shap", "captum_feature_ablation")
ADAPTERS = sorted(n for n in registry.plugins("methods") if n.split("_")[0] in ("captum", "shap"))
SEED = 2**40 + 5


def table(n: int) -> Game:
    drawn = np.random.default_rng(n).normal(size=2**n)
    return testing.game(n, lambda masks: drawn[masks @ (1 << np.arange(n))])


def by_hand(name: str, game: Game) -> Floats:
    """The library called as its manual says: one row at a time, its defaults, its global seed."""

    def value(rows: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(np.asarray(game.value(rows.numpy() > 0.5)))

    classes = {"lime": attr.Lime, "kernel_shap": attr.KernelShap}
    explainer = (classes | {"feature_ablation": attr.FeatureAblation})[name[len("captum_") :]]
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        ones = torch.ones((1, game.example.n), dtype=torch.float64)
        found: Floats = explainer(value).attribute(ones).double().numpy()[0]
    return found


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("n", [3, 9])
def test_it_is_the_library_with_its_defaults(name: str, n: int) -> None:
    ours = testing.attribute(name, table(n), seed=SEED)
    np.testing.assert_array_equal(ours, by_hand(name, table(n)))
    other = testing.attribute(name, table(n), seed=0)
    assert np.array_equal(ours, other) == (name == "captum_feature_ablation")


def test_defaults_are_the_librarys_rows() -> None:
    rows = {name: testing.attempt(name, table(9)).cost.rows for name in SETS}
    assert rows == dict(zip(SETS, (25, 25, 10), strict=True))  # Captum's manual says 50


@pytest.mark.parametrize("name", SETS)
def test_torchs_generator_is_everybodys_own(name: str) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        before = torch.get_rng_state()
        first = testing.attribute(name, table(6))
        assert torch.equal(torch.get_rng_state(), before)
        torch.manual_seed(2)
        np.testing.assert_array_equal(testing.attribute(name, table(6)), first)


def classifier() -> TextClassifier:
    return TextClassifier.of(tiny.model("bert").double(), tiny.tokenizer(), batch_tokens=256)


def attempt(name: str, c: TextClassifier, model: Any = None) -> Answer[Scores]:  # noqa: ANN401
    x = c.encode("x", [tiny.TEXT])
    asker = plugin_call.method(name)(x, 0)
    return answer(Value(model or c), [(Subject(x, "mask", Target(0)), asker)])[0]


@dataclass
class Watched:
    """A classifier that says whether a question is being answered, and counts its rows."""

    it: TextClassifier
    answering: bool = False
    rows: int = 0
    forwards: list[bool] = field(default_factory=list)  # each one: was it inside an answer?

    @property
    def answers(self) -> frozenset[str]:
        return self.it.answers

    @contextmanager
    def inside(self) -> Any:  # noqa: ANN401
        self.answering = True
        try:
            yield
        finally:
            self.answering = False

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        self.rows += sum(len(masks) for _, masks in asks)
        with self.inside():
            return self.it.keep(asks)

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        self.rows += sum(len(ask.points) for _, ask in asks)
        with self.inside():
            return self.it.slope(asks)

    def relevance(self, asks: Sequence[tuple[Subject, Relevance]]) -> list[Relevances]:
        self.rows += len(asks)
        with self.inside():
            return self.it.relevance(asks)


def watched(name: str, c: TextClassifier) -> tuple[Watched, Answer[Scores]]:
    """What the model itself saw while a method was asked."""
    model = Watched(c)

    def hook(module: object, args: object, output: object) -> None:
        model.forwards.append(model.answering)

    handle = c.forward.model.register_forward_hook(hook)
    try:
        return model, attempt(name, c, model)
    finally:
        handle.remove()


@pytest.mark.parametrize("name", ADAPTERS)
def test_no_adapter_makes_a_forward_outside_the_pool(name: str) -> None:
    model, got = watched(name, tiny.classifier())
    assert got.result is not None
    assert model.forwards and all(model.forwards)
    assert model.rows == got.cost.computed + got.cost.slopes
    assert not [t for t in threading.enumerate() if t.name == "attrial library"]


def test_a_forward_outside_the_pool_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    c = tiny.classifier()
    original = c.forward.model.forward

    def own(rows: torch.Tensor) -> torch.Tensor:
        c.forward.model(input_ids=torch.tensor([[2, 5, 3]]))
        return torch.zeros(len(rows), dtype=torch.float64)

    ablation = attr.FeatureAblation(own)
    monkeypatch.setattr(attr, "FeatureAblation", lambda value: ablation)
    model, _ = watched("captum_feature_ablation", c)
    assert c.forward.model.forward == original
    assert model.forwards and not any(model.forwards)


def test_integrated_gradients_come_from_questions_exactly() -> None:
    """A cubic of each vector: Gauss-Legendre is exact, and the chain rule can be done by hand."""
    point, start = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[0.5, 0.0], [0.0, 1.0]])
    game = testing.smooth(
        lambda x: (x**3).sum((1, 2)) + x[:, 0, 0] * x[:, 1, 0],
        lambda x: 3 * x**2 + np.stack([x[:, ::-1, 0], np.zeros(x.shape[:2])], axis=-1),
        point,
        start,
    )
    got = testing.attempt("captum_integrated_gradients(baseline='reference')", game)
    cross = (point - start)[:, 0] * (point + start)[::-1, 0] / 2
    assert got.result is not None
    np.testing.assert_allclose(got.result, (point**3 - start**3).sum(1) + cross, atol=1e-7)
    assert got.cost.slopes == 50 + 2 and got.cost.rows == 0
    gap = got.notes["completeness_gap"]
    assert isinstance(gap, float) and gap < 1e-7


def rescale(weights: Floats, out: Floats, end: Floats, start: Floats) -> Floats:
    """DeepLift's rescale rule for one hidden layer of tanh, one unit and one input at a time."""
    found = np.zeros_like(end)
    for unit, weight in enumerate(weights):
        high, low = float(weight @ end), float(weight @ start)
        multiplier = (np.tanh(high) - np.tanh(low)) / (high - low)
        for i in range(len(end)):
            found[i] += out[unit] * multiplier * weight[i] * (end[i] - start[i])
    return found


def network(weights: Floats, out: Floats, middle: Callable[[torch.Tensor], torch.Tensor]) -> Any:  # noqa: ANN401
    first, last = torch.from_numpy(weights), torch.from_numpy(out)
    return lambda x: middle(x.flatten(1) @ first.T) @ last


def test_deep_lift_is_the_rescale_rule_where_captum_sees_the_module() -> None:
    rng = np.random.default_rng(0)
    weights, out = rng.normal(size=(4, 6)), rng.normal(size=4)
    end, start = rng.normal(size=6), rng.normal(size=6)
    expected = rescale(weights, out, end, start).reshape(3, 2).sum(1)
    here, there = (torch.from_numpy(a).reshape(3, 2) for a in (end, start))
    tanh = torch.nn.Tanh()
    seen = lifted(network(weights, out, tanh), here, there, tanh)
    np.testing.assert_allclose(seen.tokens, expected, atol=1e-9)
    assert seen.conserved == pytest.approx(1.0)
    unseen = lifted(network(weights, out, torch.tanh), here, there)  # a function is no module
    assert np.abs(unseen.tokens - expected).max() > 0.1
    assert abs(unseen.conserved - 1) > 0.05


def test_deep_lift_of_a_classifier_is_the_librarys_on_its_embeddings() -> None:
    """Captum's own class for layers, on transformers' own forward."""
    c = classifier()
    x, model = c.encode("x", [tiny.TEXT]), tiny.model("bert").double()

    class Odds(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return tiny.log_odds(self.model(input_ids=ids).logits)

    ids = torch.tensor(x.ids)[None]
    words = model.get_input_embeddings()
    assert isinstance(words, torch.nn.Embedding)
    known = words.weight.detach()
    nothing = len(known)  # a token whose embedding is zero
    words.weight = torch.nn.Parameter(torch.cat([known, torch.zeros_like(known[:1])]))
    words.padding_idx = None
    start = torch.where(torch.from_numpy(x.owner >= 0), nothing, ids)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = attr.LayerDeepLift(Odds().eval(), words).attribute(ids, start)
    expected = x.to_players(found.detach().sum(-1)[0].numpy())
    got = attempt("captum_deep_lift", c)
    assert got.result is not None
    np.testing.assert_allclose(got.result, expected, atol=1e-9)
    assert np.abs(expected).max() > tiny.TEETH


def test_listing_imports_no_library() -> None:
    code = """
import sys
from attrial import listing
from attrial_methods import captum_lime, captum_integrated_gradients, shap_kernel
lines = list(listing.lines("methods"))
assert sum("captum" in line for line in lines) >= 5, lines
print(sorted({"torch", "captum", "shap", "sklearn"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
