"""Pairs of texts: segments, separators, and evidence that lies in the second one."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import attrial
from attrial.example import FIXED
from attrial.models.text import TextClassifier
from attrial.target import Target
from attrial.value import Subject
from tests import tiny

FAMILIES = ["bert", "roberta", "distilbert", "albert"]
PAIR = ("the plot was dull", "the film was not good")


@cache
def classifier(family: str) -> TextClassifier:
    return tiny.classifier(family)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pair_is_called_as_its_tokenizer_alone_would(family: str) -> None:
    c = classifier(family)
    x = c.encode("x", PAIR)
    kept = tiny.masks(x.n, 8)
    (found,) = c.keep([(Subject(x, "mask", Target(0)), kept)])
    told = tiny.tokenizer(family)(*PAIR, return_tensors="pt")
    given = {name: told[name].expand(8, -1).clone() for name in told}
    gone = torch.from_numpy(~x.to_positions(kept))
    given["input_ids"][gone] = tiny.tokenizer(family).mask_token_id
    with torch.no_grad():
        alone = c.forward.model(**given).logits.numpy()
    np.testing.assert_allclose(found, alone, atol=1e-5)
    second = x.owner[~gone.numpy().all(axis=0)]
    assert FIXED in second and np.ptp(found[:, 0]) > 0.01


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_segments_matter_where_a_model_knows_them(family: str) -> None:
    c = classifier(family)
    x = c.encode("x", PAIR)
    one = replace(x, types=np.zeros_like(x.types))
    full = np.ones((1, x.n), bool)
    a, b = (c.keep([(Subject(y, "mask", Target(0)), full)])[0] for y in (x, one))
    assert np.abs(a - b).max() > 0.01
    assert x.types.tolist() == [0] * 6 + [1] * 6


def test_robertas_pair_has_one_segment() -> None:
    x = classifier("roberta").encode("x", PAIR)
    assert not x.types.any() and x.players == tuple(" ".join(PAIR).split())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_that_is_deleted_whole_leaves_its_separators(family: str) -> None:
    c = classifier(family)
    x = c.encode("x", PAIR)
    kept = np.arange(x.n)[None] < 4
    (found,) = c.keep([(Subject(x, "delete", Target(0)), kept)])
    told = tiny.tokenizer(family)(*PAIR, return_tensors="pt")
    stay = x.to_positions(kept)[0]
    with torch.no_grad():
        alone = c.forward.model(**{n: t[:, torch.from_numpy(stay)] for n, t in told.items()})
    np.testing.assert_allclose(found, alone.logits.numpy(), atol=1e-5)
    special = set(tiny.tokenizer(family).all_special_ids)
    assert sum(int(i) in special for i in x.ids[stay]) == sum(int(i) in special for i in x.ids)


TASK = """description = "Pairs with a reason in the hypothesis."
text = ["premise", "hypothesis"]
label = "label"
[data]
path = "pairs.jsonl"
[rationale]
column = "why"
"""


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_evidence_in_the_second_text_is_found_there(family: str, tmp_path: Path) -> None:
    start = PAIR[1].index("not")
    row = {"premise": PAIR[0], "hypothesis": PAIR[1], "label": 1, "why": [[1, start, start + 3]]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row))
    (tmp_path / "pairs.toml").write_text(TASK)
    metrics = ["average_precision"]
    board = attrial.run(
        [tmp_path / "pairs.toml"], ["occlusion"], models=[classifier(family)], metrics=metrics
    )
    (mine,) = [e for e in board.entries if e.record.spec.label == "occlusion"]
    trial = mine.trials[0]
    assert trial.players == " ".join(PAIR).split()
    assert trial.truth == [player == "not" for player in trial.players]
    better = sum(s >= trial.scores[7] for s in trial.scores)  # players ranked above the one that is
    assert trial.values["average_precision"] == pytest.approx(1 / better)


def test_a_pair_is_explained_over_both_texts() -> None:
    found = attrial.explain(classifier("bert"), PAIR[0], text_pair=PAIR[1], method="shapley")
    assert found.players == tuple(" ".join(PAIR).split())
    assert np.abs(found.scores[4:]).max() > 0.01 and np.abs(found.scores[:4]).max() > 0.01
