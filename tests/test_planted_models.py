"""The planted tasks' models: small, right on fresh texts, at ease with masks, made anew alike."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.special import softmax
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertForSequenceClassification,
)

from attrial.task import items, load_task
from attrial_tasks import _train
from attrial_tasks._train import MASK, PAD, SPECIAL, Recipe
from attrial_tasks._words import FILLER

PLANTED = ("planted_keyword", "planted_lookup", "planted_majority", "planted_xor")
each_task = pytest.mark.parametrize("task", PLANTED)


def folder(task: str) -> Path:
    model = load_task(task).model
    assert model is not None
    return Path(model)


def shipped(task: str) -> BertForSequenceClassification:
    torch.set_num_threads(1)
    model = AutoModelForSequenceClassification.from_pretrained(folder(task))
    assert isinstance(model, BertForSequenceClassification)
    return model


def log_odds(
    model: BertForSequenceClassification, ids: _train.Ids, labels: _train.Ids
) -> npt.NDArray[np.float64]:
    """Of each row's label, in nats."""
    with torch.no_grad():
        out = _train.logits(model, ids).double().numpy()
    p = softmax(out, axis=1)[np.arange(len(ids)), labels]
    return np.asarray(np.log(p) - np.log1p(-p))


@each_task
def test_shipped_weights_are_right_on_fresh_texts(task: str) -> None:
    assert _train.accuracy(shipped(task), *_train.made(task, 1500, 77)) >= 0.99


@each_task
def test_shipped_files_are_small_and_readable_by_everyone(task: str) -> None:
    sizes = {path.name: path.stat().st_size for path in folder(task).iterdir()}
    assert set(sizes) == {
        "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"
    }  # fmt: skip
    assert 2e5 < sizes["model.safetensors"] < 4e5
    assert sum(p.numel() for p in shipped(task).parameters()) < 100_000
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in folder(task).iterdir())


@each_task
def test_one_token_a_word_and_labels_in_the_tasks_order(task: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder(task))
    found = items(load_task(task))
    own = _train.encode(found, _train.words_of(task))
    for item, row in zip(found, own, strict=True):
        ids = tokenizer(item.texts[0])["input_ids"]
        assert ids == [token for token in row.tolist() if token != PAD]
        assert len(ids) == len(item.texts[0].split()) + 2
    assert tokenizer.convert_ids_to_tokens(list(range(5))) == list(SPECIAL)
    assert tokenizer("Xylophones, unheard")["input_ids"] == [2, 1, 1, 1, 3]
    assert shipped(task).config.id2label == dict(enumerate(load_task(task).labels))


@each_task
def test_masks_are_nothing_strange(task: str) -> None:
    """All words masked: each class is as likely. All filler masked: the answer stays certain."""
    model = shipped(task)
    ids, labels = _train.made(task, 60, 0)
    blank = np.where(ids >= len(SPECIAL), MASK, ids)
    even = -np.log(len(load_task(task).labels) - 1)
    assert np.allclose(log_odds(model, blank, labels), even, atol=0.5)
    filler = ids >= model.config.vocab_size - len(FILLER)
    assert log_odds(model, ids, labels).min() > 2
    bare = log_odds(model, np.where(filler, MASK, ids), labels)
    assert bare.min() > (0 if task == "planted_majority" else 2)  # masks may hide more votes


@pytest.mark.parametrize("task", ["planted_keyword", "planted_xor", "planted_lookup"])
def test_leaving_out_evidence_costs_more_than_leaving_out_anything_else(task: str) -> None:
    """Holds for every text where all evidence is needed (a majority holds spare words)."""
    model = shipped(task)
    for item in items(load_task(task)):
        assert item.evidence is not None
        assert item.label is not None
        (text,), n = item.texts, len(item.texts[0].split())
        spans = {text[:start].count(" ") for _, start, _ in item.evidence}
        ids = _train.encode([item], _train.words_of(task)).repeat(n, axis=0)
        ids[np.arange(n), np.arange(n) + 1] = MASK
        left = log_odds(model, ids, np.full(n, item.label))
        evident = np.isin(np.arange(n), list(spans))
        assert left[evident].max() < left[~evident].min()


def test_masking_spares_special_tokens_and_a_quarter_of_the_batch() -> None:
    ids, _ = _train.made("planted_xor", 400, 3)
    first_filler = len(SPECIAL) + 8
    hit = _train.masked(ids, first_filler, np.random.default_rng(0))
    assert np.array_equal(hit[300:], ids[300:])
    assert np.array_equal(hit[ids < len(SPECIAL)], ids[ids < len(SPECIAL)])
    cues = (ids >= len(SPECIAL)) & (ids < first_filler)
    assert (hit[:200][cues[:200]] == MASK).any()
    assert not (hit[200:300][cues[200:300]] == MASK).any()
    for part in (slice(0, 200), slice(200, 300)):
        filler = ids[part] >= first_filler
        rates = ((hit[part] == MASK) & filler).sum(axis=1) / filler.sum(axis=1)
        assert 0.4 < rates.mean() < 0.6
        assert rates.min() < 0.1
        assert rates.max() > 0.9


def test_the_curriculum_begins_short_and_ends_with_all() -> None:
    lengths = [_train.longest(step, 100) for step in range(100)]
    assert lengths[0] == 6
    assert lengths == sorted(lengths)
    assert lengths[50] == lengths[-1] == 30


def test_training_is_deterministic_and_its_seed_counts() -> None:
    recipe = Recipe(steps=4, batch=8, pool=40)
    once, again = (_train.train("planted_xor", recipe).state_dict() for _ in range(2))
    other = _train.train("planted_xor", replace(recipe, seed=1)).state_dict()
    assert all(torch.equal(once[name], again[name]) for name in once)
    assert not torch.equal(once["classifier.weight"], other["classifier.weight"])


@pytest.mark.slow
def test_the_command_remakes_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _train.main(["planted_xor", "--out", str(tmp_path / "model")])
    assert "planted_xor: accuracy" in capsys.readouterr().out
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model")
    assert _train.accuracy(model, *_train.made("planted_xor", 1500, 78)) >= 0.99
