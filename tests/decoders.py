"""Small random decoders with a classification head, and a tokenizer that adds no special tokens."""

import copy
from functools import cache

import torch
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece
from transformers import AutoConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers import AutoModelForSequenceClassification as Auto

from attrial.models.text import TextClassifier
from tests import tiny

END, PAD, UNK = "<|end|>", "<|pad|>", "<|unk|>"
SIZES = {
    "vocab_size": 3 + len(tiny.WORDS) + len(tiny.PIECES),
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "num_labels": 3,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 1,
}
FAMILIES: dict[str, dict[str, int]] = {
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    "gpt_neox": {},
    "llama": {"num_key_value_heads": 2},
    "mistral": {"num_key_value_heads": 2, "sliding_window": 8, "head_dim": 8},
    "qwen2": {"num_key_value_heads": 2},
    "qwen3": {"num_key_value_heads": 2, "head_dim": 8},
    "gemma2": {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 6},
}


@cache
def tokenizer() -> PreTrainedTokenizerFast:
    """Word pieces without a template, as GPT-2's tokenizer has none."""
    names = [END, PAD, UNK, *tiny.WORDS, *tiny.PIECES]
    backend = Tokenizer(WordPiece({name: i for i, name in enumerate(names)}, unk_token=UNK))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        bos_token=END,
        eos_token=END,
        pad_token=PAD,
        unk_token=UNK,
        model_max_length=64,
        model_input_names=["input_ids", "attention_mask"],
    )


def model(family: str, *, seed: int = 0) -> PreTrainedModel:
    """A fresh copy of a random decoder of three classes with teeth, in eval mode."""
    return copy.deepcopy(_model(family, seed))


@cache
def _model(family: str, seed: int) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = AutoConfig.for_model(family, **(SIZES | FAMILIES[family]))
        made: PreTrainedModel = Auto.from_config(config)  # type: ignore[no-untyped-call]
    made.eval()  # type: ignore[no-untyped-call]
    for _ in range(30):
        if moves(made).median() >= tiny.TEETH:
            return made
        for parameter in made.parameters():
            if parameter.ndim > 1:
                parameter.data *= 1.2
    raise AssertionError(f"no scale gives a random {family} teeth")


def moves(made: PreTrainedModel) -> torch.Tensor:
    """How far exchanging each word of TEXT for the unknown one moves the log-odds of class 0."""
    words = tokenizer()
    ids = torch.tensor([[0, *words(tiny.TEXT)["input_ids"]]])
    moved = []
    with torch.no_grad():
        whole = tiny.log_odds(made(input_ids=ids).logits)
        for place in range(1, ids.shape[1]):
            other = ids.clone()
            other[0, place] = words.unk_token_id
            moved.append((tiny.log_odds(made(input_ids=other).logits) - whole).abs())
    return torch.cat(moved)


def classifier(family: str, *, seed: int = 0, batch_tokens: int = 1024) -> TextClassifier:
    """A fresh decoder with its tokenizer behind the questions."""
    return TextClassifier.of(model(family, seed=seed), tokenizer(), batch_tokens=batch_tokens)
