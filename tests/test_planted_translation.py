"""The planted translation: the shipped model is right, lost without the word, and explained."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, T5ForConditionalGeneration

import attrial
import attrial_tasks
from attrial.task import Item
from attrial_tasks import planted_translation

FOLDER = Path(attrial_tasks.__file__).parent / "models" / "planted_translation"
LARGEST = 600_000  # bytes
FIRST = {  # share of items in which the aligned word is first, at least
    "occlusion": 1.0,
    "shapley": 1.0,
    "integrated_gradients": 0.9,
    "attention": 0.9,
    "attention_rollout": 0.9,
    "chefer": 0.9,
}


def probability(item: Item) -> float:
    """Of the right word, by plain transformers."""
    words = AutoTokenizer.from_pretrained(FOLDER)
    model = T5ForConditionalGeneration.from_pretrained(FOLDER)
    before = words(item.prefix, add_special_tokens=False)["input_ids"]
    (wanted,) = words(item.options[0], add_special_tokens=False)["input_ids"]
    source = torch.tensor([words(item.texts[0])["input_ids"]])
    with torch.no_grad():
        logits = model(input_ids=source, decoder_input_ids=torch.tensor([[0, *before]])).logits
    return float(logits[0, -1].softmax(-1)[wanted])


def masked(item: Item, *, aligned: bool) -> Item:
    """The item without its aligned word, or without all others."""
    ((_, start, _),) = item.evidence or ()
    words, at = item.texts[0].split(), len(item.texts[0][:start].split())
    kept = [w if (i == at) != aligned else "<mask>" for i, w in enumerate(words)]
    return replace(item, texts=(" ".join(kept),))


def test_the_model_is_right_and_lost_without_the_aligned_word_alone() -> None:
    items = planted_translation.items(count=25, seed=5)
    assert min(map(probability, items)) > 0.99
    lost = [probability(masked(item, aligned=True)) for item in items]
    assert max(lost) < 0.1  # of 48 words each is as likely
    others = [probability(masked(item, aligned=False)) for item in items]
    assert np.mean(others) > np.mean(lost) + 0.3


def test_it_is_small() -> None:
    assert (FOLDER / "model.safetensors").stat().st_size < LARGEST


def test_the_aligned_word_is_first() -> None:
    board = attrial.run(["planted_translation"], list(FIRST), metrics=["pointing_game"], limit=30)
    frame = board.frame()
    means = frame[~frame.control].groupby("method").value.first()
    assert set(means.index) == set(FIRST)
    for name, least in FIRST.items():
        assert means[name] >= least, means


@pytest.mark.parametrize("name", ["random", "position"])
def test_chance_and_places_do_not_find_it(name: str) -> None:
    frame = attrial.run(["planted_translation"], [name], metrics=["pointing_game"]).frame()
    assert frame[frame.method == name].value.max() < 0.6
