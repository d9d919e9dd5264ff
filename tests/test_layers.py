"""What layers hand from position to position, in many families, against slow computations."""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedModel

from attrial.ask import Slope
from attrial.errors import AttrialError, NotApplicable
from attrial.masks import Floats
from attrial.models.layers import KINDS, matrices
from attrial.models.tap import capture
from attrial.target import Target
from attrial.value import Subject
from tests import tiny
from tests.attended import LAYERS, SHARP, SHOWING, attended, sharpness
from tests.slow_layers import NAMES, Slow, matrix

CLOSE = {"gemma2": 1e-6}  # else EXACT
EXACT = 1e-9
APART = 0.02  # what a matrix must at least differ by from what it could be mistaken for


@cache
def made(family: str) -> tuple[PreTrainedModel, Callable[[], Tensor]]:
    """A random model in float64 with sharp attention, and biases and norms that are not trivial."""
    it = attended(family)
    model = copy.deepcopy(it.model).double()
    torch.manual_seed(1)
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter.data += 0.3 * torch.randn_like(parameter)
    if family != "gemma2":  # its softcap is beyond sdpa; eager attention rounds to float32
        model.set_attn_implementation("sdpa")
    if family == "vit":
        pixels = it.batch["pixel_values"][:1].double()
        return model, lambda: model(pixel_values=pixels).logits
    ids = it.batch["input_ids"][:1, :8]
    return model, lambda: model(input_ids=ids).logits


@cache
def weights(family: str) -> list[Tensor]:
    model, run = made(family)
    return capture(model, run).weights


@cache
def found(family: str, kind: str) -> Floats:
    return matrices(*made(family), kind)


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_matrices_are_those_of_slow_computations(family: str, kind: str) -> None:
    model, run = made(family)
    got = found(family, kind)
    assert len(got) == LAYERS
    for i, shown in enumerate(weights(family)):
        slow = Slow(model, run, NAMES[family], i, shown[0].numpy())
        np.testing.assert_allclose(
            got[i], matrix(slow, kind), atol=CLOSE.get(family, EXACT), err_msg=f"layer {i}"
        )


@pytest.mark.parametrize("family", NAMES)
def test_the_kinds_can_be_told_apart(family: str) -> None:
    fused = np.stack([w[0].mean(dim=0).numpy() for w in weights(family)])
    several = [fused, *(found(family, kind) for kind in KINDS)]
    for a in range(len(several)):
        for b in range(a):
            assert np.abs(several[a] - several[b]).max() > APART
    assert min(sharpness(w) for w in weights(family)) >= SHARP / 2


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "mixing"])
def test_rows_sum_to_one_and_nothing_comes_from_what_is_unseen(family: str, kind: str) -> None:
    got = found(family, kind)
    np.testing.assert_allclose(got.sum(axis=2), 1.0, atol=1e-12)
    assert (got >= 0).all()
    if family in ("gpt2", "llama", "qwen3", "gemma2"):
        assert (np.triu(got, 1) == 0).all()


@pytest.mark.parametrize("family", NAMES)
def test_parts_sum_to_the_output_but_for_what_no_key_gives(family: str) -> None:
    """sum_j T_i(x_j) + b = y_i, with b alike at every position but for the scale of its norm."""
    model, run = made(family)
    for i, shown in enumerate(weights(family)):
        slow = Slow(model, run, NAMES[family], i, shown[0].numpy())
        parts, goal = slow.whole(slow.see())
        rest = goal - parts.sum(axis=1)
        module: Any = slow.part(NAMES[family].out)
        bias: Any = getattr(module, "bias", None)
        close = CLOSE.get(family, EXACT)
        if bias is None and not NAMES[family].norm:
            np.testing.assert_allclose(rest, 0, atol=close)
        elif not NAMES[family].norm:
            np.testing.assert_allclose(rest - bias.detach().numpy(), 0, atol=close)
        else:
            norm: Any = slow.part(NAMES[family].norm)
            kept = (rest - norm.bias.detach().numpy()) / norm.weight.detach().numpy()
            own = bias.detach().numpy() - bias.detach().numpy().mean()
            ratios = kept @ own / (own @ own)  # 1 / spread, a position
            np.testing.assert_allclose(kept, ratios[:, None] * own, atol=1e-8)
        assert np.abs(parts).max() > 0.01


def test_the_model_is_left_as_it_was() -> None:
    model, run = made("gpt2")
    hooks = [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]
    with torch.no_grad():
        before = run()
    for kind in KINDS:
        matrices(model, run, kind)
    with torch.no_grad():
        assert torch.equal(run(), before)
    assert hooks == [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]
    assert model.config._attn_implementation == "sdpa"


def test_many_positions_are_asked_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {kind: found("llama", kind) for kind in KINDS}
    monkeypatch.setattr("attrial.models.layers.POSITIONS", 24)  # three copies at once
    for kind, expected in whole.items():
        np.testing.assert_allclose(matrices(*made("llama"), kind), expected, atol=1e-12)


def classifier(family: str, **settings: object) -> PreTrainedModel:
    config = AutoConfig.for_model(family, vocab_size=40, **settings)
    model: PreTrainedModel = AutoModelForSequenceClassification.from_config(config)  # type: ignore[no-untyped-call]
    model.eval()  # type: ignore[no-untyped-call]
    return model


@pytest.mark.parametrize("family", SHOWING)
def test_models_outside_the_interface_say_what_is_lacking(family: str) -> None:
    it = attended(family)
    with pytest.raises(NotApplicable, match="value vectors"):
        matrices(it.model, it.run, "alti")


def test_two_stacks_have_no_square_matrix() -> None:
    it = attended("bart")
    with pytest.raises(NotApplicable, match="two stacks"):
        matrices(it.model, it.run, "norm")


def test_a_parallel_feed_forward_part_is_no_residual() -> None:
    size = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}
    model = classifier("gpt_neox", num_hidden_layers=2, **size)

    def run() -> Tensor:
        logits: Tensor = model(input_ids=torch.tensor([[5, 6, 7]])).logits
        return logits

    for kind in ("alti", "norm_residual", "mixing"):
        with pytest.raises(NotApplicable, match="something else than what came in"):
            matrices(model, run, kind)
    for kind in ("norm", "value_zeroing"):
        np.testing.assert_allclose(matrices(model, run, kind).sum(axis=2), 1, atol=1e-6)


def test_a_kind_that_is_none_is_answered_with_near_ones() -> None:
    it = attended("bert")
    with pytest.raises(AttrialError, match="did you mean norm"):
        matrices(it.model, it.run, "nrm")


FIRST_TAKES = {
    "bert": "bert.embeddings",
    "albert": "albert.encoder.embedding_hidden_mapping_in",
    "distilbert": "distilbert.embeddings",
}


@pytest.mark.parametrize("family", FIRST_TAKES)
def test_gradients_by_what_the_first_layer_takes(family: str) -> None:
    c = tiny.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    subject = Subject(x, "mask", Target(1, "logit"))
    (got,) = c.slope([(subject, Slope(np.ones((1, x.n)), at="layers"))])
    leaves: list[Tensor] = []

    def begin(module: torch.nn.Module, args: object, output: Tensor) -> Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    handle = c.forward.model.get_submodule(FIRST_TAKES[family]).register_forward_hook(begin)
    logits = c.forward.model(input_ids=torch.tensor(x.ids[None])).logits
    handle.remove()
    (gradient,) = torch.autograd.grad(logits[0, 1], leaves)
    np.testing.assert_allclose(got.gradient, gradient.numpy(), atol=1e-5)
    np.testing.assert_allclose(got.difference, leaves[0].detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(got.values, logits[:, 1].detach().numpy(), atol=1e-5)
    (words,) = c.slope([(subject, Slope(np.ones((1, x.n)), "zero"))])
    if words.gradient.shape == got.gradient.shape:
        assert np.abs(words.gradient - got.gradient).max() > 1e-2


def test_at_the_first_layer_there_is_no_way_from_a_baseline() -> None:
    c = tiny.classifier("bert")
    x = c.encode("x", [tiny.TEXT])
    ask = Slope(np.full((1, x.n), 0.5), at="layers")
    with pytest.raises(NotApplicable, match="at the input alone"):
        c.slope([(Subject(x, "mask", Target(0)), ask)])


@pytest.mark.parametrize("kind", ["norm", "norm_residual", "alti", "value_zeroing"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_coarse_numbers_round_and_refuse_nothing(kind: str, dtype: torch.dtype) -> None:
    """What parts miss of their sum is rounding there, not a layer that bends."""
    it = attended("bert")
    ids, coarse = it.batch["input_ids"][:1, :8], copy.deepcopy(it.model)
    coarse.to(dtype=dtype)  # type: ignore[call-arg]  # the annotation knows devices alone
    expected = matrices(it.model, lambda: it.model(input_ids=ids).logits, kind)
    got = matrices(coarse, lambda: coarse(input_ids=ids).logits, kind)
    assert 0 < np.abs(got - expected).max() < 0.1 * expected.max()
