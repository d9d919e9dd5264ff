"""A small random NLLB with its tokenizer: language codes, and a forced first token."""

import copy
from functools import cache

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM, NllbTokenizer, PreTrainedModel

SOURCE, GOAL = "eng_Latn", "fra_Latn"
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
WHOLE = ("th", "the", "▁the", "fi", "lm", "film", "▁film")
MERGES = [
    ("t", "h"),
    ("th", "e"),
    ("▁", "the"),
    ("f", "i"),
    ("l", "m"),
    ("fi", "lm"),
    ("▁", "film"),
]
TEXT = "the film was cut"


@cache
def tokenizer() -> NllbTokenizer:
    """Letters, two whole words, and the codes of all languages."""
    names = ["<s>", "<pad>", "</s>", "<unk>", "▁", *LETTERS, *WHOLE]
    vocabulary = {name: i for i, name in enumerate(names)}
    given: list[str] = [*MERGES]  # type: ignore[list-item]  # pairs, whatever its signature says
    return NllbTokenizer(vocab=vocabulary, merges=given, src_lang=SOURCE, tgt_lang=GOAL)


def model() -> PreTrainedModel:
    """A fresh copy, in eval mode."""
    return copy.deepcopy(_model())


@cache
def _model() -> PreTrainedModel:
    sizes = {
        f"{part}_{what}": n
        for part in ("encoder", "decoder")
        for what, n in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 64))
    }
    config = AutoConfig.for_model(
        "m2m_100", vocab_size=len(tokenizer()), d_model=32, max_position_embeddings=40,
        bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2, **sizes,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made: PreTrainedModel = AutoModelForSeq2SeqLM.from_config(config)  # type: ignore[no-untyped-call]
    for parameter in made.parameters():
        if parameter.ndim > 1:
            parameter.data *= 3
    assert made.generation_config is not None
    made.generation_config.forced_bos_token_id = code(GOAL)
    return made.eval()  # type: ignore[no-untyped-call, no-any-return]


def code(language: str) -> int:
    """The id of a language's token."""
    return int(tokenizer().get_vocab()[language])
