"""Small random models of many families, made in memory, whose attention is far from uniform."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForImageClassification,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    PreTrainedModel,
)

SHARP = 0.25  # median distance of attention rows from uniform, in total variation
LAYERS = 3
WORDS = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 24,
    "num_labels": 3,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = {"num_key_value_heads": 2, "head_dim": 8}
BLOCKS = {
    "d_model": 32,
    "encoder_layers": LAYERS,
    "decoder_layers": LAYERS,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": LAYERS, "num_heads": 4}
FAMILIES: Mapping[str, Mapping[str, object]] = {
    "bert": {},
    "roberta": {"max_position_embeddings": 32},
    "distilbert": {"dim": 32, "n_layers": LAYERS, "n_heads": 4, "hidden_dim": 48},
    "electra": {"embedding_size": 16},
    "albert": {"embedding_size": 16},
    "modernbert": {"cls_token_id": 1, "sep_token_id": 2, "local_attention": 8},
    "gpt2": {"n_embd": 32, "n_layer": LAYERS, "n_head": 4, "n_positions": 24},
    "llama": GROUPED,
    "qwen3": GROUPED,
    "gemma2": GROUPED | {"attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 8},
    "t5": T5,
    "bart": BLOCKS,
    "vit": {"image_size": 12, "patch_size": 4},
    # Outside transformers' attention interface:
    "deberta": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "deberta-v2": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "mpnet": {"max_position_embeddings": 32},
    "bloom": {"n_layer": LAYERS, "n_head": 4},
    "xlnet": {"d_model": 32, "n_layer": LAYERS, "n_head": 4, "d_inner": 48},
}
SHOWING = ("deberta", "deberta-v2", "mpnet", "bloom", "xlnet")
TAPPED = tuple(name for name in FAMILIES if name not in SHOWING)


@dataclass(frozen=True)
class Attended:
    """A model in eval mode, one batch for it, and the batch's visible keys (B, S)."""

    model: PreTrainedModel
    batch: Mapping[str, Tensor]
    visible: Tensor

    def run(self) -> Tensor:
        """One forward: its logits."""
        logits: Tensor = self.model(**self.batch).logits
        return logits


def _made(family: str) -> PreTrainedModel:
    settings = WORDS | dict(FAMILIES[family])
    if family == "xlnet":  # has no such limit and refuses to be given one
        settings.pop("max_position_embeddings")
    config = AutoConfig.for_model(family, **settings)
    kind: Any = AutoModelForSequenceClassification
    if family in ("t5", "bart"):
        config.decoder_start_token_id = 1
        kind = AutoModelForSeq2SeqLM
    elif family == "vit":
        kind = AutoModelForImageClassification
    made: PreTrainedModel = kind.from_config(config)
    return made


def _batch(family: str) -> tuple[dict[str, Tensor], Tensor]:
    if family == "vit":
        return {"pixel_values": torch.randn(2, 3, 12, 12)}, torch.ones(2, 10).bool()
    visible = torch.tensor([[1] * 12, [1] * 9 + [0] * 3])
    batch = {"input_ids": torch.randint(3, 40, (2, 12)) * visible, "attention_mask": visible}
    if family in ("t5", "bart"):
        batch["decoder_input_ids"] = torch.randint(3, 40, (2, 7))
    return batch, visible.bool()


def shown(model: PreTrainedModel, run: Callable[[], Tensor]) -> dict[str, list[Tensor]]:
    """What transformers itself says under eager attention, by hooks on the whole model."""
    seen: list[Mapping[str, tuple[Tensor, ...]]] = []
    handles = [
        model.register_forward_pre_hook(
            lambda m, args, given: (args, given | {"output_attentions": True}), with_kwargs=True
        ),
        model.register_forward_hook(lambda m, args, output: seen.append(output)),
    ]
    run()
    for handle in handles:
        handle.remove()
    names = [name for name in seen[0] if name.endswith("attentions")]
    return {name: list(seen[0][name]) for name in names}


def sharpness(weights: Tensor) -> float:
    """Median distance (total variation) of rows from uniform over the keys that they see."""
    sees = (weights > 0).float()
    apart = (weights - sees / sees.sum(dim=-1, keepdim=True)).abs().sum(dim=-1) / 2
    return float(apart[sees.sum(dim=-1) > 2].detach().median())


def _sharpened(it: Attended) -> Attended:
    for _ in range(30):
        with torch.no_grad():
            layers = [w for part in shown(it.model, it.run).values() for w in part]
        if min(sharpness(w) for w in layers) >= SHARP:
            return it
        for parameter in it.model.parameters():
            if parameter.ndim > 1:
                parameter.data *= 1.2
    raise AssertionError(f"no scale makes the attention of {type(it.model).__name__} sharp")


@cache
def attended(family: str, *, seed: int = 0) -> Attended:
    """A model of a family with a batch, under eager attention: the reference."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = _made(family)
        batch, visible = _batch(family)
    model.eval()  # type: ignore[no-untyped-call]
    if model._can_set_attn_implementation():
        model.set_attn_implementation("eager")
    return _sharpened(Attended(model, batch, visible))
