"""The attention tap against transformers' own eager attention, and against slow computations."""

import copy
import math
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    EncoderDecoderConfig,
    EncoderDecoderModel,
    PreTrainedModel,
)
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.bert.modeling_bert import BertLayer

from attrial.errors import AttrialError, NotApplicable
from attrial.models.eager import EAGER
from attrial.models.shown import FIELDS
from attrial.models.switch import can_switch
from attrial.models.tap import TAP, capture, gradients
from tests.attended import (
    FAMILIES,
    LAYERS,
    SHARP,
    SHOWING,
    TAPPED,
    Attended,
    attended,
    sharpness,
    shown,
)

CLOSE = 1e-6
STACKS = ("t5", "bart")


def apart(a: Tensor, b: Tensor) -> float:
    return float((a - b).detach().abs().max())


def fresh(family: str) -> Attended:
    """One's own copy of a shared model, to be changed."""
    it = attended(family)
    return Attended(copy.deepcopy(it.model), it.batch, it.visible)


@pytest.mark.parametrize("family", FAMILIES)
def test_outputs_and_weights_are_those_of_eager(family: str) -> None:
    it = attended(family)
    expected = shown(it.model, it.run)
    captured = capture(it.model, it.run)
    assert apart(captured.outputs, it.run()) <= CLOSE
    for name, layers in expected.items():
        got = captured.part(FIELDS[name])
        assert len(got) == len(layers) == LAYERS
        assert max(apart(a, b) for a, b in zip(got, layers, strict=True)) <= CLOSE
        assert min(sharpness(a) for a in got) >= SHARP
        # The wrong order and the wrong head must be seen by this comparison.
        assert apart(got[0], layers[-1]) > 0.01
        assert apart(got[0][:, 0], layers[0][:, 1]) > 0.01
    assert len(captured.weights) == sum(len(layers) for layers in expected.values())


@pytest.mark.parametrize("family", STACKS)
def test_encoder_decoder_and_cross_attention_have_their_own_shapes(family: str) -> None:
    it = attended(family)
    captured = capture(it.model, it.run)
    s, t = 12, 7
    shapes = {part: captured.part(part)[0].shape[2:] for part in ("encoder", "decoder", "cross")}
    assert shapes == {"encoder": (s, s), "decoder": (t, t), "cross": (t, s)}
    assert float(captured.part("decoder")[0].triu(1).max()) == 0.0


@pytest.mark.parametrize("family", TAPPED)
def test_sdpa_before_is_sdpa_after_and_says_the_same(family: str) -> None:
    it = fresh(family)
    if family != "gemma2":  # its softcap is beyond sdpa
        it.model.set_attn_implementation("sdpa")
    with torch.no_grad():
        before = it.run()
    captured = capture(it.model, it.run)
    assert apart(captured.outputs, before) <= 1e-5 * float(before.abs().max())
    with torch.no_grad():
        assert torch.equal(it.run(), before)


def test_the_mask_matters() -> None:
    it = attended("bert")
    unmasked = {"input_ids": it.batch["input_ids"]}
    captured = capture(it.model, lambda: it.model(**unmasked).logits)
    assert apart(captured.weights[0], capture(it.model, it.run).weights[0]) > 0.01


def test_which_families_are_tapped_is_inspected() -> None:
    assert all(can_switch(attended(family).model) for family in TAPPED)
    assert not any(can_switch(attended(family).model) for family in SHOWING)


def nested() -> PreTrainedModel:
    """A model of two models whose configs are nested and attend differently."""
    small = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 16}
    parts = [AutoConfig.for_model("bert", num_attention_heads=2, **small) for _ in range(2)]
    made = EncoderDecoderModel(EncoderDecoderConfig.from_encoder_decoder_configs(*parts))
    made.eval()  # type: ignore[no-untyped-call]
    made.encoder.set_attn_implementation("eager")
    made.decoder.set_attn_implementation("sdpa")
    return made


def implementations(model: PreTrainedModel) -> list[str]:
    parts = [m for m in model.modules() if isinstance(m, PreTrainedModel)]
    return [str(part.config._attn_implementation) for part in parts]


@pytest.mark.parametrize("fails", [False, True])
def test_nested_implementations_come_back(fails: bool) -> None:
    model = nested()
    before = implementations(model)
    assert {"eager", "sdpa"} <= set(before)
    ids = torch.randint(3, 40, (1, 5))

    def run() -> Tensor:
        assert set(implementations(model)) == {TAP}
        if fails:
            raise KeyError("by design")
        logits: Tensor = model(input_ids=ids, decoder_input_ids=ids[:, :4]).logits
        return logits

    if fails:
        with pytest.raises(KeyError, match="by design"):
            capture(model, run)
    else:
        captured = capture(model, run)
        assert captured.parts == ["encoder"] * 2 + ["decoder", "cross"] * 2
    assert implementations(model) == before


def test_nothing_global_but_two_names() -> None:
    known = {"eager", "sdpa", "flex_attention", "paged|eager"} | {
        f"flash_attention_{i}" for i in (2, 3, 4)
    }
    assert set(ALL_ATTENTION_FUNCTIONS.valid_keys()) - known == {TAP, EAGER}
    assert "transformers" in ALL_ATTENTION_FUNCTIONS["sdpa"].__module__


@pytest.mark.parametrize("family", ["bert", "xlnet"])
def test_no_hook_and_no_flag_is_left(family: str) -> None:
    it = fresh(family)
    it.model.requires_grad_(False)
    before = {id(m): (len(m._forward_hooks), set(m.__dict__)) for m in it.model.modules()}
    capture(it.model, it.run, gradient=True)
    after = {id(m): (len(m._forward_hooks), set(m.__dict__)) for m in it.model.modules()}
    assert after == before
    assert not it.model.config.output_attentions


def eager_gradients(it: Attended) -> list[Tensor]:
    """Of the first row's class 0, by transformers' own attentions; parameters trainable."""
    outputs = it.model(**it.batch, output_attentions=True)
    return list(torch.autograd.grad(outputs.logits[0, 0], outputs.attentions))


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "deberta", "mpnet"])
def test_gradients_are_those_of_eager(family: str, frozen: bool) -> None:
    it = fresh(family)
    expected = eager_gradients(it)
    it.model.requires_grad_(not frozen)
    captured = capture(it.model, it.run, gradient=True)
    got = gradients(captured.outputs[0, 0], captured)
    size = max(float(g.abs().max()) for g in expected)
    assert size > 1e-2
    assert max(apart(a, b) for a, b in zip(got, expected, strict=True)) <= CLOSE * max(1.0, size)
    assert float(got[0][1].abs().max()) == 0.0  # nothing of another row


def test_a_model_that_shows_copies_has_no_gradient() -> None:
    it = attended("xlnet")
    captured = capture(it.model, it.run, gradient=True)
    with pytest.raises(NotApplicable, match="copies"):
        gradients(captured.outputs[0, 0], captured)


def test_without_gradient_there_is_no_graph() -> None:
    captured = capture(attended("bert").model, attended("bert").run)
    assert not any(w.requires_grad for w in [captured.outputs, *captured.weights])


def slow_layer(layer: BertLayer, x: Tensor, visible: Tensor, scale: float) -> Tensor:
    """One BERT layer, head by head and query by query, its attention weights times ``scale``."""
    part: Any = layer
    attention, out = part.attention, part.attention.output
    own = attention.self
    heads = own.num_attention_heads
    q, k, v = (linear(x).chunk(heads, dim=-1) for linear in (own.query, own.key, own.value))
    contexts = []
    for q_h, k_h, v_h in zip(q, k, v, strict=True):
        rows = []
        for i in range(x.shape[0]):
            e = torch.stack(
                [torch.exp(q_h[i] @ k_h[j] / math.sqrt(q_h.shape[1])) for j in range(len(x))]
            )
            e = e * visible
            rows.append((scale * e / e.sum()) @ v_h)
        contexts.append(torch.stack(rows))
    context = torch.cat(contexts, dim=-1)
    x = out.LayerNorm(out.dense(context) + x)
    inner = torch.nn.functional.gelu(part.intermediate.dense(x))
    result: Tensor = part.output.LayerNorm(part.output.dense(inner) + x)
    return result


@pytest.mark.parametrize("layer", [None, 1])
def test_half_the_attention_is_that_of_a_slow_computation(layer: int | None) -> None:
    it = fresh("bert")
    it.model.double()
    row = {name: t[1:] for name, t in it.batch.items()}
    bert: Any = it.model.bert
    captured = capture(it.model, lambda: bert(**row)[0][0], scale=0.5, layer=layer)
    x = bert.embeddings(row["input_ids"])[0]
    for i, part in enumerate(bert.encoder.layer):
        scale = 0.5 if layer in (None, i) else 1.0
        x = slow_layer(part, x, it.visible[1].double(), scale)
        sums = captured.weights[i].sum(dim=-1)
        assert apart(sums, torch.full_like(sums, scale)) <= 1e-12
    assert apart(captured.outputs, x) <= 1e-9
    whole = capture(it.model, lambda: bert(**row)[0][0])
    assert apart(captured.outputs, whole.outputs) > 0.01


@pytest.mark.parametrize("family", ["bert", "distilbert", "modernbert"])
def test_suppressing_a_key_before_the_softmax_is_masking_it(family: str) -> None:
    it, gone = attended(family), 4
    mask = it.batch["attention_mask"].clone()
    mask[:, gone] = 0
    with torch.no_grad():
        expected = it.model(**(dict(it.batch) | {"attention_mask": mask})).logits

    def suppress(layer: int, scores: Tensor) -> Tensor:
        return scores.index_fill(3, torch.tensor([gone]), -1e30)

    captured = capture(it.model, it.run, edit=suppress)
    assert apart(captured.outputs, expected) <= CLOSE * float(expected.abs().max())
    assert all(float(w[..., gone].max()) == 0.0 for w in captured.weights)
    assert apart(expected, capture(it.model, it.run).outputs) > 0.01


def test_an_edit_is_told_its_layer() -> None:
    it, seen = attended("albert"), []

    def see(layer: int, scores: Tensor) -> Tensor:
        seen.append(layer)
        return scores

    assert apart(capture(it.model, it.run, edit=see).outputs, it.run()) <= CLOSE
    assert seen == list(range(LAYERS))


def test_weights_are_folded_layer_by_layer() -> None:
    it = attended("gpt2")
    folded = capture(it.model, it.run, fold=lambda w: w.mean(dim=1))
    whole = capture(it.model, it.run)
    assert all(w.shape == (2, 12, 12) for w in folded.weights)
    assert all(
        torch.equal(a, b.mean(dim=1)) for a, b in zip(folded.weights, whole.weights, strict=True)
    )
    with pytest.raises(ValueError, match="products come before sums"):
        capture(it.model, it.run, gradient=True, fold=lambda w: w.mean(dim=1))


@pytest.mark.parametrize("family", SHOWING)
def test_models_that_only_show_their_weights_can_t_be_edited(family: str) -> None:
    it = attended(family)
    with pytest.raises(NotApplicable, match="outside transformers' attention interface"):
        capture(it.model, it.run, scale=0.5)
    with pytest.raises(NotApplicable, match="outside transformers' attention interface"):
        capture(it.model, it.run, edit=lambda layer, scores: scores)


def classifier(family: str, **settings: object) -> PreTrainedModel:
    config = AutoConfig.for_model(family, num_hidden_layers=2, vocab_size=40, **settings)
    made: PreTrainedModel = AutoModelForSequenceClassification.from_config(config)  # type: ignore[no-untyped-call]
    made.eval()  # type: ignore[no-untyped-call]
    return made


def test_sinks_are_refused() -> None:
    size = {"hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8}
    model = classifier("gpt_oss", intermediate_size=16, num_local_experts=2, **size)
    with pytest.raises(NotApplicable, match="attends by s_aux"):
        capture(model, lambda: model(input_ids=torch.tensor([[5, 6, 7]])))


def test_windows_are_no_matrices() -> None:
    size = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}
    model = classifier("longformer", attention_window=[4, 4], pad_token_id=0, **size)
    with pytest.raises(NotApplicable, match="every position to every other"):
        capture(model, lambda: model(input_ids=torch.full((1, 16), 5)))


def test_a_model_without_attention_says_so() -> None:
    model = classifier("fnet", hidden_size=16, intermediate_size=16)
    with pytest.raises(NotApplicable, match=r"FNet.* attention"):
        capture(model, lambda: model(input_ids=torch.tensor([[5, 6, 7]])))


def test_train_mode_is_refused() -> None:
    it = fresh("bert")
    it.model.train()
    with pytest.raises(AttrialError, match="train mode"):
        capture(it.model, it.run)


def test_the_registered_function_serves_captures_alone() -> None:
    it = fresh("bert")
    it.model.set_attn_implementation(TAP)
    with pytest.raises(RuntimeError, match="captured forwards alone"):
        it.run()
