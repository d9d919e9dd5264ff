"""A small random GPT-2 that knows the words of a task's data, to try the task and no more.

    python benchmarks/random_language_model.py --task subject_verb_agreement --data FILE --out DIR

For data that no trained language model is at hand for: that they load, that each continuation is
words of the vocabulary, that methods and metrics have values. Weights are drawn wide enough that
every word moves the answer. What a board says of methods on it is about that random function.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from attrial.task import Item, items, load_task

SPECIAL = ("<pad>", "<end>", "<unk>", "<mask>")
WIDTH = 0.3  # of the drawn weights


def main() -> None:
    """Read the words, draw the weights, save both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", required=True)
    parser.add_argument("--data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = items(load_task(asked.task), data=asked.data)
    vocabulary = words(found)
    tokenizer_of(vocabulary).save_pretrained(asked.out)
    torch.manual_seed(asked.seed)
    made = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(vocabulary), n_positions=128, n_embd=32, n_layer=2, n_head=4,
            initializer_range=WIDTH, bos_token_id=1, eos_token_id=1, pad_token_id=0,
        )
    )  # fmt: skip
    made.save_pretrained(asked.out)
    print(f"{len(vocabulary)} words of {len(found)} texts")


def words(found: list[Item]) -> dict[str, int]:
    """The special ones, then all of the texts and of their continuations, by first occurrence."""
    split = Whitespace().pre_tokenize_str
    said = [word for text in _texts(found) for word, _ in split(text)]
    return {word: i for i, word in enumerate(dict.fromkeys([*SPECIAL, *said]))}


def _texts(found: list[Item]) -> Iterator[str]:
    for item in found:
        yield from (*item.texts, *item.options)


def tokenizer_of(vocabulary: dict[str, int]) -> PreTrainedTokenizerFast:
    """A word, or a run of punctuation, is a token."""
    level = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    level.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=level, pad_token="<pad>", eos_token="<end>", bos_token="<end>",
        unk_token="<unk>", mask_token="<mask>",
    )  # fmt: skip


if __name__ == "__main__":
    main()
