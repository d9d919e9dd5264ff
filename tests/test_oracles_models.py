"""What must not matter to an attribution of a real model: padding, company, places of equal words.

And what a run of relevance leaves behind: nothing, bit for bit.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from attrial import algebra
from attrial.ask import Relevance
from attrial.batching import Batch
from attrial.example import Example
from attrial.masks import Scores
from attrial.models.embedding import edited, lookup
from attrial.models.forward import Arguments
from attrial.models.guard import guarded
from attrial.models.propagation import Propagation
from attrial.models.tap import capture
from attrial.models.text import TextClassifier
from attrial.plugin_call import method
from attrial.removal import in_place, stack
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import decoders, tiny

EVERY_FAMILY = pytest.mark.parametrize("family", list(tiny.FAMILIES))
ROUNDING = 2e-6  # of float32, relative to the size of what is compared
TARGET = Target(0, "logit")
WIDE = 32


def scores(c: TextClassifier, x: Example, call: str) -> Scores:
    (got,) = answer(Value(c), [(Subject(x, "mask", TARGET), method(call)(x, 0))])
    assert got.result is not None, got.undefined
    return got.result


def padded(c: TextClassifier, x: Example, width: int) -> Arguments:
    rows = stack([in_place(x, 1)], width=width, pad=c.forward.pad)
    return c.forward.arguments(rows, Batch(width, np.array([0]), 1))


def attention(c: TextClassifier, arguments: Arguments) -> Tensor:
    """Weights (L, H, width, width)."""
    return torch.stack(capture(c.forward.model, lambda: c.forward(arguments)).weights)[:, 0]


@EVERY_FAMILY
def test_a11_pads_take_no_attention_and_change_none(family: str) -> None:
    c = tiny.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    t = len(x.ids)
    everywhere = {"attention_mask": torch.ones((1, WIDE), dtype=torch.int64)}
    narrow, wide = attention(c, padded(c, x, t)), attention(c, padded(c, x, WIDE))
    seen = attention(c, padded(c, x, WIDE) | everywhere)
    assert float((wide[:, :, :t, :t] - narrow).abs().max()) <= ROUNDING
    assert float(wide[:, :, :t, t:].max()) == 0.0
    rolled = algebra.rollout(wide.mean(1).numpy())[:t]
    np.testing.assert_allclose(rolled[:, :t], algebra.rollout(narrow.mean(1).numpy()), atol=1e-6)
    assert (rolled[:, t:] == 0).all()
    assert float(seen[:, :, :t, t:].max()) > 0.01  # without the mask they do take some


def products(c: TextClassifier, arguments: Arguments) -> Tensor:
    """Gradient times input (width,) of the first logit."""
    points = lookup(c.forward.model, arguments["input_ids"][0].numpy()).float()[None]
    points.requires_grad_()
    with guarded(c.forward.model), edited(c.forward.model, lambda embeddings: points):
        (gradient,) = torch.autograd.grad(c.forward(arguments)[0, 0], points)
    return (gradient * points.detach()).sum(dim=-1)[0]


@EVERY_FAMILY
def test_pads_change_no_attribution_and_get_none(family: str) -> None:
    c = tiny.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    t = len(x.ids)
    narrow, wide = products(c, padded(c, x, t)), products(c, padded(c, x, WIDE))
    size = float(narrow.abs().max())
    assert float((wide[:t] - narrow).abs().max()) <= 1e-5 * size
    assert (wide[t:] == 0).all()
    np.testing.assert_allclose(
        scores(c, x, "input_x_gradient"), x.to_players(narrow.double().numpy()), atol=1e-5 * size
    )


SYMMETRIC = (
    "integrated_gradients",
    "input_x_gradient",
    "gradient_norm",
    "lrp_conservative",
    "lrp_attention",
    "attention_norm",
    "alti",
    "value_zeroing",
    "chefer",
    "attention_rollout",
)


@pytest.mark.parametrize("family", ["bert", "roberta", "electra", "distilbert"])
def test_c11_equal_words_score_alike_where_positions_are_not_told(family: str) -> None:
    told = tiny.classifier(family)
    untold = tiny.classifier(family)
    tables = [
        m for n, m in untold.forward.model.named_modules() if n.endswith("position_embeddings")
    ]
    with torch.no_grad():
        for table in tables:
            table.weight.zero_()
    assert len(tables) == 1
    x = told.encode("twice", ["the film and the plot"])
    assert x.players[0] == x.players[3] == "the"
    for call in SYMMETRIC:
        apart, alike = scores(told, x, call), scores(untold, x, call)
        assert abs(alike[0] - alike[3]) <= 1e-4 * np.abs(alike).max(), call
        assert abs(apart[0] - apart[3]) > 1e-3 * np.abs(apart).max(), call


@EVERY_FAMILY
def test_attention_relevance_notes_what_arrived(family: str) -> None:
    c = tiny.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    subject = Subject(x, "mask", TARGET)
    (got,) = answer(Value(c), [(subject, method("lrp_attention")(x, 0))])
    (found,) = c.relevance([(subject, Relevance("attention"))])
    assert got.result is not None
    np.testing.assert_array_equal(got.result, x.to_players(found.tokens))
    assert got.notes["conserved"] == found.conserved
    assert abs(found.conserved - 1) > 1e-3  # these models have no biases: the softmax loses it


def test_c8b_a_sum_near_minus_a_stabiliser_is_shared_out_all_the_same() -> None:
    """z = -1e-6: shares x w / (z + 1e-6) would divide by zero; nothing is added to z here."""
    w = torch.tensor([[1.0, -1 - 1e-6]], dtype=torch.float64)
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with Propagation("conservative"):
        z = torch.nn.functional.linear(x, w)
    (gradient,) = torch.autograd.grad(z, x)
    share = gradient * x.detach()
    assert float(z.detach()) == pytest.approx(-1e-6, rel=1e-9)
    np.testing.assert_allclose(share.numpy(), [1, -1 - 1e-6], atol=1e-12)
    assert float(share.sum()) == pytest.approx(-1e-6, rel=1e-9)


FRESH = """
import torch
from tests import tiny
from tests.test_oracles_models import made, scores
torch.set_num_threads(1)
for family in {families!r}:
    c = made(family)
    x = c.encode("x", [tiny.TEXT])
    print(family, scores(c, x, "integrated_gradients").tobytes().hex())
"""


def made(family: str) -> TextClassifier:
    """An encoder or a decoder."""
    make = decoders.classifier if family in decoders.FAMILIES else tiny.classifier
    return make(family)


def test_integrated_gradients_after_relevance_are_those_of_a_fresh_process() -> None:
    families = ["bert", "roberta", "distilbert", "electra", "albert"]
    families += ["gpt2", "llama", "qwen3", "gemma2"]
    lines = []
    for family in families:
        c = made(family)
        x = c.encode("x", [tiny.TEXT])
        for call in ("lrp_conservative", "lrp_attention"):
            assert np.abs(scores(c, x, call)).max() > 0
        lines.append(f"{family} {scores(c, x, 'integrated_gradients').tobytes().hex()}")
    fresh = subprocess.run(
        [sys.executable, "-c", FRESH.format(families=families)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert fresh.stdout.splitlines() == lines
