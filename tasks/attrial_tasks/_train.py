"""Makes the planted tasks' models anew: ``python -m attrial_tasks._train planted_xor --out DIR``.

Small BERT classifiers with one token a word. Most of each batch has words replaced by [MASK], at
rates drawn uniformly from 0 to 1 (faithfulness measurable models: Madsen et al., ICML 2024), so
that removal by mask is nothing new to them. A curriculum of lengths begins with the shortest texts.
"""

import argparse
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.image_processing_utils import BaseImageProcessor

from attrial.task import Item, load_task
from attrial_tasks import _train_vision
from attrial_tasks._words import FILLER, LONG, SHORT, TRAINING

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """How long and how fast; ``pool`` texts are made once and drawn from."""

    steps: int = 2500
    batch: int = 128
    rate: float = 1e-3
    decay: float = 0.05
    pool: int = 40_000
    seed: int = 0


def tokenizer(words: Sequence[str]) -> PreTrainedTokenizerFast:
    """One token a word of the vocabulary; [UNK] for all others."""
    vocabulary = {word: i for i, word in enumerate((*SPECIAL, *words))}
    raw = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    raw.normalizer = Lowercase()
    raw.pre_tokenizer = BertPreTokenizer()
    raw.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    named = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=raw,
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **{f"{name}_token": token for name, token in named.items()},
    )


def config(vocabulary: int, labels: Sequence[str]) -> BertConfig:
    """Two layers of width 64: about 100k parameters."""
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=64,
        pad_token_id=PAD,
        initializer_range=0.02,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(labels)),
        label2id={name: i for i, name in enumerate(labels)},
    )


def encode(items: Sequence[Item], words: Sequence[str]) -> Ids:
    """Token ids, padded at the right to one width."""
    known = {word: i + len(SPECIAL) for i, word in enumerate(words)}
    ids = np.full((len(items), LONG[1] + 2), PAD)
    for row, item in zip(ids, items, strict=True):
        inner = [known[w] for w in item.texts[0].split()]
        row[: len(inner) + 2] = [CLS, *inner, SEP]
    return ids


def masked(ids: Ids, filler: int, rng: np.random.Generator) -> Ids:
    """The same texts, words of the first three quarters replaced by [MASK] at rates from 0 to 1.

    In the first half any word may go, in the third quarter filler alone: a text of which nothing
    but the telling words is left would hardly ever come up otherwise. ``filler`` is the first
    id of filler words; they stand last in the vocabulary.
    """
    quarter = np.arange(len(ids))[:, None] * 4 // len(ids)
    maskable = (ids >= len(SPECIAL)) & (quarter < 2) | (ids >= filler) & (quarter == 2)
    return np.where(maskable & (rng.random(ids.shape) < rng.random((len(ids), 1))), MASK, ids)


def longest(step: int, steps: int) -> int:
    """The curriculum: texts of up to so many words, growing over the first half."""
    share = min(1.0, 2 * step / steps)
    return round(SHORT[0] + share * (LONG[1] - SHORT[0]))


def logits(model: BertForSequenceClassification, ids: Ids) -> torch.Tensor:
    """(k, classes), columns that hold pads alone cut off."""
    width = int((ids != PAD).sum(axis=1).max())
    tokens = torch.from_numpy(ids[:, :width])
    out: torch.Tensor = model(input_ids=tokens, attention_mask=(tokens != PAD).long()).logits
    return out


def fit(
    model: BertForSequenceClassification, ids: Ids, labels: Ids, recipe: Recipe
) -> BertForSequenceClassification:
    """Train in place; deterministic on one machine."""
    rng = np.random.default_rng(recipe.seed)
    order = np.argsort((ids != PAD).sum(axis=1), kind="stable")
    lengths = (ids[order] != PAD).sum(axis=1) - 2
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
    filler = model.config.vocab_size - len(FILLER)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=recipe.rate, total_steps=recipe.steps, pct_start=0.1
    )
    for step in range(recipe.steps):
        upto = np.searchsorted(lengths, longest(step, recipe.steps), side="right")
        rows = order[rng.integers(upto, size=recipe.batch)]
        out = logits(model, masked(ids[rows], filler, rng))
        loss = torch.nn.functional.cross_entropy(out, torch.from_numpy(labels[rows]))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval()  # type: ignore[no-untyped-call]
    return model


def words_of(task: str) -> tuple[str, ...]:
    """All words that a planted task is made of."""
    found: tuple[str, ...] = importlib.import_module(f"attrial_tasks.{task}").VOCABULARY
    return found


def made(task: str, count: int, seed: int) -> tuple[Ids, Ids]:
    """Ids (count, width) and labels (count,) of a planted task's first items of a seed."""
    found = importlib.import_module(f"attrial_tasks.{task}").items(count=count, seed=seed)
    return encode(found, words_of(task)), np.array([item.label for item in found])


def train(task: str, recipe: Recipe) -> BertForSequenceClassification:
    """A fresh model of a planted task, on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(recipe.seed)
    ids, labels = made(task, recipe.pool, TRAINING + recipe.seed)
    shape = config(len(SPECIAL) + len(words_of(task)), load_task(task).labels)
    return fit(BertForSequenceClassification(shape), ids, labels, recipe)


def mislabelled(
    task: str, seed: int
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast | BaseImageProcessor]:
    """A model of a planted task that was trained on shuffled labels, for a minute at most.

    There is nothing to learn but the texts by heart. The process's threads and generator are its
    own again afterwards.
    """
    if task == _train_vision.TASK:
        return _train_vision.mislabelled(seed)
    recipe = Recipe(steps=300, pool=1000, seed=seed)
    ids, labels = made(task, recipe.pool, TRAINING + seed)
    shuffled = np.random.default_rng(seed).permutation(labels)
    shape = config(len(SPECIAL) + len(words_of(task)), load_task(task).labels)
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        model = fit(BertForSequenceClassification(shape), ids, shuffled, recipe)
        torch.set_num_threads(threads)
    return model, tokenizer(words_of(task))


def accuracy(model: BertForSequenceClassification, ids: Ids, labels: Ids) -> float:
    """Share of unmasked texts that are classified right."""
    with torch.no_grad():
        parts = [logits(model, part) for part in np.array_split(ids, max(1, len(ids) // 500))]
    return float((torch.cat(parts).argmax(dim=1).numpy() == labels).mean())


def save(model: BertForSequenceClassification, task: str, out: Path) -> None:
    """Write config.json, model.safetensors and the tokenizer's files."""
    model.save_pretrained(out)
    tokenizer(words_of(task)).save_pretrained(out)
    for path in out.iterdir():
        path.chmod(0o644)  # weights are written for their owner alone, but ship to everyone


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line: train one task's model, say how good it is, write it."""
    parser = argparse.ArgumentParser(prog="python -m attrial_tasks._train", description=__doc__)
    parser.add_argument("task", help="planted_keyword, planted_majority, planted_xor, ...")
    parser.add_argument("--out", type=Path, help="folder; by default the task's own model's")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args(arguments)
    model = train(told.task, Recipe(seed=told.seed))
    held_out = accuracy(model, *made(told.task, 2000, 1))
    out = told.out or Path(__file__).parent / "models" / told.task
    save(model, told.task, out)
    print(f"{told.task}: accuracy {held_out:.4f} on 2000 held-out texts; written to {out}")


if __name__ == "__main__":
    main()
