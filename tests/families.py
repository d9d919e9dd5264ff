"""Small random classifiers of many architectures, made in memory, whose answers need every word."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import torch
from transformers import AutoConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers import AutoModelForSequenceClassification as Auto

from attrial.models.text import TextClassifier
from tests import decoders, tiny

Sizes = Mapping[str, object]
TEXT = "the plot was not bright"
OTHERS = ("a film", "the dull acting is very very bad and not good at brighter story")


@dataclass(frozen=True)
class Family:
    """What its config says beside the common sizes, and whose special tokens its tokenizer has."""

    sizes: Sizes
    words: str = "bert"  # or roberta, or decoder: a tokenizer that adds no special tokens


GROUPED = {"num_key_value_heads": 2}
EIGHT = {"head_dim": 8}
SHORT = {"d_model": 32, "pad_token_id": 0, "eos_token_id": 3}
BART = {
    **{f"{part}_{what}": n for part in ("encoder", "decoder")
       for what, n in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 64))},
    **{"bos_token_id": 2, "decoder_start_token_id": 3, "forced_eos_token_id": None},
}  # fmt: skip
ROBERTA = {"max_position_embeddings": tiny.PLACES + 2, "type_vocab_size": 1, "pad_token_id": 1}
FAMILIES: Mapping[str, Family] = {
    "bert": Family({}),
    "roberta": Family(ROBERTA, "roberta"),
    "xlm-roberta": Family(ROBERTA, "roberta"),
    "distilbert": Family({"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}),
    "electra": Family({"embedding_size": 16}),
    "albert": Family({"embedding_size": 16}),
    "deberta": Family({}),
    "deberta-v2": Family(
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}
    ),
    "mpnet": Family({"max_position_embeddings": tiny.PLACES + 2, "pad_token_id": 1}, "roberta"),
    "xlnet": Family({"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64}),
    "modernbert": Family(
        {"local_attention": 8, "global_attn_every_n_layers": 2, "pad_token_id": 0,
         "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
    ),
    "gpt2": Family({"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}, "decoder"),
    "gpt_neox": Family({}, "decoder"),
    "opt": Family({"ffn_dim": 64, "word_embed_proj_dim": 32}, "decoder"),
    "llama": Family(GROUPED, "decoder"),
    "mistral": Family({**GROUPED, **EIGHT, "sliding_window": 4}, "decoder"),
    "qwen2": Family(GROUPED, "decoder"),
    "qwen3": Family({**GROUPED, **EIGHT}, "decoder"),
    "gemma2": Family({**GROUPED, **EIGHT, "sliding_window": 4}, "decoder"),
    "phi3": Family(GROUPED, "decoder"),
    "t5": Family(
        {**SHORT, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_decoder_layers": 2,
         "num_heads": 4, "decoder_start_token_id": 0}
    ),
    "bart": Family({**SHORT, **BART}),
    "mbart": Family({**SHORT, **BART}),
}  # fmt: skip
ENDLESS = ("xlnet",)  # its config takes no number of positions


def tokenizer(name: str) -> PreTrainedTokenizerFast:
    """The tokenizer of a family."""
    words = FAMILIES[name].words
    return decoders.tokenizer() if words == "decoder" else tiny.tokenizer(words)


def moves(made: PreTrainedModel, name: str) -> torch.Tensor:
    """How far exchanging each word for the unknown one moves the log-odds; transformers alone."""
    words = tokenizer(name)
    bare = words(TEXT)["input_ids"]
    ids = torch.tensor([[0, *bare] if FAMILIES[name].words == "decoder" else bare])
    end = ids.shape[1] if FAMILIES[name].words == "decoder" else ids.shape[1] - 1
    moved = []
    with torch.no_grad():
        whole = tiny.log_odds(made(input_ids=ids).logits)
        for place in range(1, end):
            other = ids.clone()
            other[0, place] = words.unk_token_id
            moved.append((tiny.log_odds(made(input_ids=other).logits) - whole).abs())
    return torch.cat(moved)


@cache
def model(name: str) -> PreTrainedModel:
    """A random classifier of three classes with teeth, in eval mode; it is shared: don't change it.

    It is scaled until the least of the typical removals moves the log-odds by ``tiny.TEETH``.
    """
    family = FAMILIES[name]
    common: Sizes = decoders.SIZES if family.words == "decoder" else tiny.SIZES
    sizes = {k: v for k, v in common.items() if not (name in ENDLESS and k.startswith("max_pos"))}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model(name, **(sizes | dict(family.sizes)))
        made: PreTrainedModel = Auto.from_config(config)  # type: ignore[no-untyped-call]
    made.eval()  # type: ignore[no-untyped-call]
    for _ in range(30):
        if moves(made, name).median() >= tiny.TEETH:
            return made
        for parameter in made.parameters():
            if parameter.ndim > 1:
                parameter.data *= 1.2
    raise AssertionError(f"no scale gives a random {name} teeth")


@cache
def classifier(name: str) -> TextClassifier:
    """The model with its tokenizer behind the questions; shared."""
    return TextClassifier.of(model(name), tokenizer(name), batch_tokens=1024)
