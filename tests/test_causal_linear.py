"""Causal models whose layers sum up what they read, and models that only seem causal."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from attrial.errors import AttrialError
from attrial.masks import everything
from attrial.models import probing
from attrial.models.causal import CausalModel
from attrial.models.continuing import Continuing
from attrial.models.forward import Arguments
from attrial.subject import Subject
from attrial.target import Target
from tests import decoders, tiny, writers

LINEAR = "linear_attention"
OWN: dict[str, Any] = {
    "num_key_value_heads": 2,
    "head_dim": 8,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
LAYERS = {"mixed": [LINEAR, LINEAR, LINEAR, "full_attention"], "linear": [LINEAR] * 3}


def qwen3_next(layers: list[str]) -> PreTrainedModel:
    """Random; its experts take tokens together, so that the first moves by rounding."""
    sizes = decoders.SIZES | OWN | {"num_hidden_layers": len(layers), "layer_types": layers}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model("qwen3_next", **sizes)
        made: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    for parameter in made.parameters():
        if parameter.ndim > 1:
            parameter.data *= 4
    return made.eval()  # type: ignore[no-untyped-call, no-any-return]


@pytest.mark.parametrize("kind", list(LAYERS))
def test_rows_are_those_of_the_model_alone(kind: str) -> None:
    c = CausalModel.of(qwen3_next(LAYERS[kind]), decoders.tokenizer(), batch_tokens=256)
    alone = qwen3_next(LAYERS[kind])
    x = c.encode("x", [writers.PROMPT], options=writers.TWO)
    masks = np.concatenate([everything(x.n), tiny.masks(x.n, 4)])
    (found,) = c.keep([(Subject(x, "delete", Target(0)), masks)])
    for row, stays in zip(found, x.to_positions(masks), strict=True):
        with torch.no_grad():
            ids = torch.tensor([x.ids[stays].tolist()])
            said = alone(input_ids=ids, use_cache=False).logits[0, -1].double().log_softmax(-1)
        assert np.abs(row - said[[o[0] for o in x.options]].numpy()).max() < 1e-5
    assert np.ptp(found[:, 0]) > 1e-2  # the rows differ


@pytest.mark.parametrize(("leak", "causal"), [(0.0, True), (1e-7, True), (1e-4, False)])
def test_a_first_state_moves_by_rounding_at_most(
    leak: float, causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leak of the last token's own state into the first one's, of a known size."""
    forward = writers.writer("llama").forward
    plain = Continuing.states

    def leaking(self: Continuing, arguments: Arguments) -> torch.Tensor:
        states = plain(self, arguments).clone()
        states[:, 0] += leak * states[:, -1]
        return states

    monkeypatch.setattr(Continuing, "states", leaking)
    assert probing._causal(forward) is causal


def test_what_never_moves_by_more_than_rounding_is_not_called_causal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control: where the last state hardly moves either, a small move tells nothing."""
    forward = writers.writer("llama").forward
    plain = Continuing.states

    def flat(self: Continuing, arguments: Arguments) -> torch.Tensor:
        states = plain(self, arguments)
        return torch.ones_like(states) + 1e-7 * states.flip(1)

    monkeypatch.setattr(Continuing, "states", flat)
    assert not probing._causal(forward)


def test_what_sees_later_tokens_is_refused() -> None:
    c = writers.writer("llama")
    with pytest.raises(AttrialError, match="its tokens see those after them"):
        CausalModel.paired(replace(c.forward, causal=False), decoders.tokenizer(), c.spec)
