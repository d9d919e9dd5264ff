"""Small random causal language models, and tokenizers as such models have them."""

import copy
from functools import cache
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, pre_tokenizers, trainers
from tokenizers import decoders as token_decoders
from tokenizers.models import BPE
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from attrial.masks import Floats
from attrial.models.causal import CausalModel
from tests import decoders, tiny

FAMILIES: dict[str, dict[str, int]] = {
    **decoders.FAMILIES,
    "opt": {"word_embed_proj_dim": 32, "ffn_dim": 64},
    "phi3": {"num_key_value_heads": 2},
}
PROMPT = "the plot was not very good and the acting"
ONE = (" dull",)
TWO = (" dull", " bright")
WORDS = (" dull and good", " bright", " very very bad story")
LONG = (" dull and good",)
KINDS = {"one": ONE, "two": TWO, "words": WORDS, "long": LONG}


def model(family: str, *, seed: int = 0) -> PreTrainedModel:
    """A fresh copy of a random language model with teeth, in eval mode."""
    return copy.deepcopy(_model(family, seed))


@cache
def _model(family: str, seed: int) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = AutoConfig.for_model(family, **(decoders.SIZES | FAMILIES[family]))
        made: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    made.eval()  # type: ignore[no-untyped-call]
    for _ in range(30):
        if moves(made).median() >= tiny.TEETH:
            return made
        for parameter in made.parameters():
            if parameter.ndim > 1:
                parameter.data *= 1.2
    raise AssertionError(f"no scale gives a random {family} teeth")


def moves(made: PreTrainedModel) -> torch.Tensor:
    """How far exchanging each word of PROMPT moves the log-probability of one next token."""
    words = decoders.tokenizer()
    ids = torch.tensor([[0, *words(PROMPT)["input_ids"]]])
    moved = []
    with torch.no_grad():
        whole = made(input_ids=ids).logits[0, -1].log_softmax(-1)[5]
        for place in range(1, ids.shape[1]):
            other = ids.clone()
            other[0, place] = words.unk_token_id
            moved.append((made(input_ids=other).logits[0, -1].log_softmax(-1)[5] - whole).abs())
    return torch.stack(moved)


def writer(family: str, *, seed: int = 0, batch_tokens: int = 1024) -> CausalModel:
    """A fresh model with its tokenizer behind the questions."""
    return CausalModel.of(model(family, seed=seed), decoders.tokenizer(), batch_tokens=batch_tokens)


def plain(
    made: PreTrainedModel, ids: list[int], option: tuple[int, ...], **given: torch.Tensor
) -> float:
    """Log-probability of a continuation, by transformers alone and with no padding."""
    with torch.no_grad():
        whole = torch.tensor([[*ids, *option]])
        logits = made(input_ids=whole, **given).logits[0].double().log_softmax(-1)
    return sum(float(logits[len(ids) - 1 + j, token]) for j, token in enumerate(option))


def expected(made: PreTrainedModel, ids: list[int], options: tuple[tuple[int, ...], ...]) -> Floats:
    """What the raw outputs of one row must be, by transformers alone."""
    found = [plain(made, ids, option) for option in options]
    return np.array(found if len(found) > 1 else [*found, np.log1p(-np.exp(found[0]))])


@cache
def byte_level() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer as GPT-2's, trained on a few lines; no pad, no mask, no unk."""
    backend = Tokenizer(BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = token_decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    lines = ["The keys to the cabinet are here", "The key to the cabinets is here", "user says"]
    backend.train_from_iterator(lines * 5, trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        bos_token="<|endoftext|>",
        eos_token="<|endoftext|>",
        model_max_length=64,
    )


def gpt2_bytes(*, seed: int = 0) -> PreTrainedModel:
    """A random GPT-2 of the byte-level tokenizer's words."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
        config = AutoConfig.for_model(
            "gpt2", vocab_size=len(byte_level()), bos_token_id=0, eos_token_id=0, **sizes
        )
        made: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    for parameter in made.parameters():
        if parameter.ndim > 1:
            parameter.data *= 4
    return made.eval()  # type: ignore[no-untyped-call, no-any-return]


def saved(folder: Path) -> Path:
    """The byte-level GPT-2 with its tokenizer, in a folder."""
    gpt2_bytes().save_pretrained(folder)
    byte_level().save_pretrained(folder)
    return folder
