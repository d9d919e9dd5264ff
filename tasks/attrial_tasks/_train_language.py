"""Makes the planted language models anew: ``python -m attrial_tasks._train_language NAME``.

A small GPT-2 goes on with a prompt's right word, a small T5 translates backwards. Half of each
batch has words replaced by a mask token at rates drawn uniformly from 0 to 1, as with the planted
classifiers, so that removal by mask is nothing new to them. Translation takes ``--steps 8000``.
"""

import argparse
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from torch.nn.functional import cross_entropy
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from attrial.task import Item
from attrial_tasks._words import TRAINING

SPECIAL = ("<pad>", "<end>", "<unk>", "<mask>")
PAD, END, UNK, MASK = range(4)
SEQUENCE = ("planted_translation",)  # tasks of an encoder and a decoder
IGNORED = -100
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """How long and how fast; ``pool`` texts are made once and drawn from."""

    steps: int = 4000
    batch: int = 96
    rate: float = 2e-3
    pool: int = 30_000
    seed: int = 0


@dataclass(frozen=True)
class Rows:
    """Prompts (or sources) and what comes after: token ids padded at the right."""

    source: Ids
    target: Ids


def tokenizer(words: Sequence[str], *, ends: bool) -> PreTrainedTokenizerFast:
    """One token a word; ``<end>`` after each text where an encoder reads it."""
    vocabulary = {word: i for i, word in enumerate((*SPECIAL, *words))}
    raw = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    raw.normalizer = Lowercase()
    raw.pre_tokenizer = WhitespaceSplit()
    if ends:
        raw.post_processor = TemplateProcessing(single="$A <end>", special_tokens=[("<end>", END)])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=raw,
        model_max_length=64,
        model_input_names=["input_ids", "attention_mask"],
        pad_token="<pad>",
        bos_token=None if ends else "<end>",
        eos_token="<end>",
        unk_token="<unk>",
        mask_token="<mask>",
    )


def decoder(words: int) -> GPT2LMHeadModel:
    """Two layers of width 64."""
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=words + len(SPECIAL),
            n_positions=64,
            n_embd=64,
            n_layer=2,
            n_head=4,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=END,
            eos_token_id=END,
            pad_token_id=PAD,
        )
    )


def encoder_decoder(words: int) -> T5ForConditionalGeneration:
    """Two and two layers of width 64."""
    config = T5Config(
        vocab_size=words + len(SPECIAL),
        d_model=64,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=4,
        dropout_rate=0.0,
        pad_token_id=PAD,
        eos_token_id=END,
    )
    config.decoder_start_token_id = PAD
    return T5ForConditionalGeneration(config)


def numbered(texts: Sequence[Sequence[str]], words: Sequence[str], *, end: bool) -> Ids:
    """Token ids (k, width), padded at the right."""
    known = {word: i + len(SPECIAL) for i, word in enumerate(words)}
    rows = [[known[w] for w in text] + [END] * end for text in texts]
    ids = np.full((len(rows), max(map(len, rows))), PAD)
    for row, found in zip(ids, rows, strict=True):
        row[: len(found)] = found
    return ids


def prompts(items: Sequence[Item], words: Sequence[str]) -> Rows:
    """Prompts behind the anchor ``<end>``, and the right continuation (k, 1)."""
    source = numbered([item.texts[0].split() for item in items], words, end=False)
    anchor = np.full((len(items), 1), END)
    target = numbered([item.options[0].split() for item in items], words, end=False)
    return Rows(np.concatenate([anchor, source], axis=1), target)


def translations(pairs: Sequence[tuple[list[str], list[str]]], words: Sequence[str]) -> Rows:
    """Sources and their translations, each with its end."""
    return Rows(
        numbered([source for source, _ in pairs], words, end=True),
        numbered([target for _, target in pairs], words, end=True),
    )


def masked(ids: Ids, rng: np.random.Generator) -> Ids:
    """The first half of the rows with words replaced by the mask token at rates from 0 to 1."""
    half = (np.arange(len(ids)) < len(ids) // 2)[:, None]
    gone = (ids >= len(SPECIAL)) & (rng.random(ids.shape) < rng.random((len(ids), 1)))
    return np.where(half & gone, MASK, ids)


def continued(model: PreTrainedModel, source: Ids) -> torch.Tensor:
    """Logits (k, words) at each prompt's last token."""
    ids = torch.from_numpy(source)
    seen = ids != PAD
    logits: torch.Tensor = model(input_ids=ids, attention_mask=seen.long()).logits
    return logits[torch.arange(len(ids)), seen.sum(dim=1) - 1]


def translated(model: PreTrainedModel, source: Ids, target: Ids) -> torch.Tensor:
    """Logits (k, width, words) of each word of a translation, those before it being told."""
    ids = torch.from_numpy(source)
    before = torch.from_numpy(np.insert(target[:, :-1], 0, PAD, axis=1))
    logits: torch.Tensor = model(
        input_ids=ids, attention_mask=(ids != PAD).long(), decoder_input_ids=before
    ).logits
    return logits


def next_word_loss(model: PreTrainedModel, rows: Rows, rng: np.random.Generator) -> torch.Tensor:
    """Cross entropy of the continuation."""
    logits = continued(model, masked(rows.source, rng))
    return cross_entropy(logits, torch.from_numpy(rows.target[:, 0]))


def translation_loss(model: PreTrainedModel, rows: Rows, rng: np.random.Generator) -> torch.Tensor:
    """Mean cross entropy of the translations' words."""
    logits = translated(model, masked(rows.source, rng), rows.target)
    wanted = torch.from_numpy(np.where(rows.target == PAD, IGNORED, rows.target))
    return cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=IGNORED)


Loss = Callable[[PreTrainedModel, Rows, np.random.Generator], torch.Tensor]


def fit(model: PreTrainedModel, rows: Rows, recipe: Recipe, loss: Loss) -> None:
    """Train in place; deterministic on one machine."""
    rng = np.random.default_rng(recipe.seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=recipe.rate, total_steps=recipe.steps, pct_start=0.1
    )
    for _ in range(recipe.steps):
        drawn = rng.integers(len(rows.source), size=recipe.batch)
        found = loss(model, Rows(rows.source[drawn], rows.target[drawn]), rng)
        optimiser.zero_grad()
        found.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval()  # type: ignore[no-untyped-call]


def made(task: str, count: int, seed: int) -> Rows:
    """Rows of a planted task's first texts of a seed."""
    module = importlib.import_module(f"attrial_tasks.{task}")
    if task not in SEQUENCE:
        return prompts(module.items(count=count, seed=seed), module.VOCABULARY)
    pairs = [module.pair(np.random.default_rng([seed, i])) for i in range(count)]
    return translations(pairs, module.VOCABULARY)


def train(task: str, recipe: Recipe) -> PreTrainedModel:
    """A fresh model of a planted task, on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(recipe.seed)
    words = len(importlib.import_module(f"attrial_tasks.{task}").VOCABULARY)
    model = encoder_decoder(words) if task in SEQUENCE else decoder(words)
    loss = translation_loss if task in SEQUENCE else next_word_loss
    fit(model, made(task, recipe.pool, TRAINING + recipe.seed), recipe, loss)
    return model


def accuracy(model: PreTrainedModel, task: str, rows: Rows) -> float:
    """Share of unmasked texts (of words, in translations) that are continued right."""
    with torch.no_grad():
        if task not in SEQUENCE:
            return float(
                (continued(model, rows.source).argmax(dim=-1).numpy() == rows.target[:, 0]).mean()
            )
        found = translated(model, rows.source, rows.target).argmax(dim=-1).numpy()
    return float((found == rows.target)[rows.target != PAD].mean())


def save(model: PreTrainedModel, task: str, out: Path) -> None:
    """Write config.json, model.safetensors and the tokenizer's files."""
    words = importlib.import_module(f"attrial_tasks.{task}").VOCABULARY
    model.save_pretrained(out)
    tokenizer(words, ends=task in SEQUENCE).save_pretrained(out)
    for path in out.iterdir():
        path.chmod(0o644)  # weights are written for their owner alone, but ship to everyone


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line: train one task's model, say how good it is, write it."""
    parser = argparse.ArgumentParser("python -m attrial_tasks._train_language")
    parser.add_argument("task", help="planted_agreement, planted_indirect_object, ...")
    parser.add_argument("--out", type=Path, help="folder; by default the task's own model's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    told = parser.parse_args(arguments)
    model = train(told.task, Recipe(seed=told.seed, steps=told.steps))
    right = accuracy(model, told.task, made(told.task, 2000, 1))
    out = told.out or Path(__file__).parent / "models" / told.task
    save(model, told.task, out)
    print(f"{told.task}: accuracy {right:.4f} on 2000 held-out texts; written to {out}")


if __name__ == "__main__":
    main()
