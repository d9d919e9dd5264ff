"""Planted tasks of language models: texts that hold what they say, recipes, and shipped models."""

import importlib
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

import attrial
import attrial_tasks
from attrial.classifiers import classifier_of
from attrial_tasks import (
    _train_language,
    planted_agreement,
    planted_indirect_object,
    planted_translation,
)
from attrial_tasks._words import TRAINING

MODELS = Path(attrial_tasks.__file__).parent / "models"
DECODERS = ("planted_agreement", "planted_indirect_object")
SEEDS = st.integers(0, 2**31 - 1)


@given(SEEDS)
def test_the_verb_agrees_with_the_first_noun(seed: int) -> None:
    for item in planted_agreement.items(count=6, seed=seed):
        (text,), ((_, start, end),) = item.texts, item.evidence or ()
        nouns = [w for w in text.split() if w.removesuffix("s") in planted_agreement.NOUNS]
        assert text[start:end] == nouns[0] and len(nouns) >= 2
        assert text.index(nouns[0]) == start
        plural = nouns[0].endswith("s")
        assert item.options == ((" are", " is") if plural else (" is", " are"))


@given(SEEDS)
def test_the_receiver_is_named_once_and_the_giver_twice(seed: int) -> None:
    for item in planted_indirect_object.items(count=6, seed=seed):
        words = item.texts[0].split()
        receiver, giver = (option.strip() for option in item.options)
        assert words.count(receiver) == 1 and words.count(giver) == 2
        told = [item.texts[0][start:end] for _, start, end in item.evidence or ()]
        assert told == [receiver, giver]
        starts = [start for _, start, _ in item.evidence or ()]
        assert starts[1] == item.texts[0].rindex(giver)


@given(SEEDS)
def test_translations_run_backwards_word_by_word(seed: int) -> None:
    translation = dict(planted_translation.PAIRS)
    for item in planted_translation.items(count=6, seed=seed):
        words = item.texts[0].split()
        whole = [translation[w] for w in reversed(words)]
        said = item.prefix.split()
        assert whole[: len(said) + 1] == [*said, *item.options]
        ((_, start, end),) = item.evidence or ()
        assert translation[item.texts[0][start:end]] == item.options[0]
        assert len(set(words)) == len(words)


def test_no_two_words_share_a_translation() -> None:
    source, target = planted_translation.SOURCE, planted_translation.TARGET
    assert len(set(source)) == len(set(target)) == len(source)
    assert not set(source) & set(target)


@pytest.mark.parametrize("task", DECODERS)
def test_shipped_decoders_are_right_and_lost_without_evidence(task: str) -> None:
    """Plain transformers, item by item: right on texts, at a loss when the evidence is masked."""
    folder = MODELS / task
    words = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    right, lost = [], []
    for item in importlib.import_module(f"attrial_tasks.{task}").items(count=40, seed=7):
        text = item.texts[0]
        _, start, end = item.evidence[0]
        blank = text[:start] + "<mask>" + text[end:]
        contrast = [_contrast(model, words, t, item.options) for t in (text, blank)]
        right.append(contrast[0] > 2)
        lost.append(abs(contrast[1]) < contrast[0] / 2)
    assert np.mean(right) >= 0.95
    assert np.mean(lost) >= 0.9


def _contrast(model: torch.nn.Module, words: object, text: str, options: tuple[str, ...]) -> float:
    ids = words(text)["input_ids"]  # type: ignore[operator]
    a, b = (words(option)["input_ids"][0] for option in options)  # type: ignore[operator]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[_train_language.END, *ids]])).logits[0, -1]
    return float(logits[a] - logits[b])


@pytest.mark.parametrize("task", [*DECODERS, "planted_translation"])
def test_a_recipe_starts_to_learn(task: str, tmp_path: Path) -> None:
    recipe = _train_language.Recipe(steps=30, batch=32, pool=200)
    model = _train_language.train(task, recipe)
    rng = np.random.default_rng(0)
    rows = _train_language.made(task, 100, TRAINING)
    loss = (
        _train_language.translation_loss
        if task in _train_language.SEQUENCE
        else _train_language.next_word_loss
    )
    with torch.no_grad():
        found = float(loss(model, rows, rng))
    assert found < 0.9 * np.log(model.config.vocab_size)  # uniform guessing
    _train_language.save(model, task, tmp_path)
    assert (tmp_path / "model.safetensors").exists() and (tmp_path / "tokenizer.json").exists()


@pytest.mark.parametrize("task", DECODERS)
def test_evidence_is_on_top_for_a_contrast(task: str) -> None:
    """The subject comes first in nine of ten sentences; two names lead where two are evidence."""
    names = ["occlusion", "shapley", "integrated_gradients"]
    wanted = ["pointing_game", "precision_at_k"]
    frame = attrial.run([task], names, metrics=wanted, limit=30).frame()
    means = frame[~frame.control].groupby(["method", "metric"]).value.first()
    assert set(means.index.get_level_values("method")) == set(names)
    assert (means.xs("pointing_game", level="metric") >= 0.9).all(), means
    if task == "planted_agreement":
        assert (means.xs("precision_at_k", level="metric") >= 0.9).all(), means


@pytest.mark.parametrize("name", DECODERS)
def test_nothing_is_asked_of_padding_without_saying_so(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """transformers warns of it, in words that a user can't do anything about."""
    asked = []

    def see(self: PreTrainedModel, ids: torch.Tensor | None, mask: torch.Tensor | None) -> None:
        asked.append(mask is None and ids is not None and 0 in ids[:, [0, -1]])

    monkeypatch.setattr(PreTrainedModel, "warn_if_padding_and_no_attention_mask", see)
    made = classifier_of(MODELS / name)
    made.encode("x", ["the garden"])  # asks for the likeliest next token
    assert made.vocabulary.pad == 0 and asked and not any(asked)
