"""The Python door: what notebooks call, and what comes back."""

import json
import shutil
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pytest
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import attrial
import attrial_tasks
from attrial.errors import AttrialError

MODEL = Path(attrial_tasks.__file__).parent / "models" / "planted_keyword"
COLUMNS = [
    "task", "model", "removal", "method", "metric", "value", "low", "high", "normalised", "n",
    "undefined", "rank_low", "rank_high",
]  # fmt: skip
TEXTS = ["about above across again", "bag basket bench"]


def test_a_board_is_a_frame_of_the_promised_columns() -> None:
    board = attrial.run(tasks=["planted_keyword"], methods=["random", "occlusion"], limit=4, seed=0)
    frame = board.frame()
    assert list(frame.columns[: len(COLUMNS)]) == COLUMNS
    controls = {"random_order", "best_order", "worst_order", "constant", "position"}
    assert set(frame.method) == {"random", "occlusion"} | controls
    assert (frame.n == 4).all()
    assert frame[~frame.control].rank_low.between(1, 2).all()


@pytest.mark.parametrize(
    "data",
    [
        TEXTS,
        pd.DataFrame({"text": TEXTS}),
        datasets.Dataset.from_dict({"text": TEXTS}),
    ],
    ids=["list", "frame", "dataset"],
)
def test_texts_come_in_any_form(data: object) -> None:
    board = attrial.run(
        methods=["occlusion"],
        models=[MODEL],
        data=data,
        metrics=["aopc"],
    )
    assert set(board.frame().n) == {2}


def test_budgets_64_times_apart_give_the_same_board() -> None:
    small, large = (
        attrial.run(["planted_xor"], limit=4, batch_tokens=tokens).frame() for tokens in (64, 4096)
    )
    assert list(small.method) == list(large.method)
    for column in ("value", "low", "high", "normalised"):
        a, b = (frame[column].to_numpy(float) for frame in (small, large))
        np.testing.assert_allclose(a, b, atol=1e-5)
    spread = small[small.metric == "aopc"].set_index("method").value
    assert spread["best_order"] - spread["worst_order"] > 0.1  # the model has teeth


def test_a_loaded_model_explains_as_its_folder_does() -> None:
    pair = (
        AutoModelForSequenceClassification.from_pretrained(MODEL),
        AutoTokenizer.from_pretrained(MODEL),
    )
    a, b = (attrial.explain(m, TEXTS[0], method="shapley") for m in (pair, str(MODEL)))
    assert a.players == b.players == tuple(TEXTS[0].split())
    np.testing.assert_array_equal(a.scores, b.scores)
    assert a.target == b.target


def test_explanations_of_two_classes_are_opposite_in_log_odds() -> None:
    labels = AutoModelForSequenceClassification.from_pretrained(MODEL).config.id2label
    a, b = (attrial.explain(MODEL, TEXTS[0], method="occlusion", target=n) for n in labels.values())
    np.testing.assert_allclose(a.scores, -b.scores, atol=1e-6)
    assert sum(e.probability or 0 for e in (a, b)) == pytest.approx(1, abs=1e-6)


def test_an_explanation_is_shown_escaped() -> None:
    e = attrial.explain(MODEL, "<b>about</b> <script>alert(1)</script>", method="random")
    assert "<script>" not in e.html() and "&lt;script&gt;" in e.html()
    assert e._repr_html_() == e.html()
    assert all(player in e.text() for player in e.players)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"method": "shaply"}, "did you mean shapley"),
        ({"target": "nobody"}, "not one of the model's"),
        ({"target": 2}, "not one of the model's"),
        ({"function": "odds"}, "did you mean log_odds"),
        ({"players": "letters"}, "players"),
        ({"removal": "gone"}, "no removal 'gone'"),
    ],
)
def test_wrong_words_are_named(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(AttrialError, match=said):
        attrial.explain(MODEL, TEXTS[0], **arguments)  # type: ignore[arg-type]


def test_removals_share_explanations_and_differ_in_metrics() -> None:
    board = attrial.run(["planted_keyword"], ["occlusion"], removals=["mask", "delete"], limit=3)
    frame = board.frame()
    assert set(frame.removal) == {"mask", "delete"} and set(frame.explained_under) == {"mask"}
    scores = {e.record.spec.removal: e.trials[0].scores for e in board.entries}
    assert scores["mask"] == scores["delete"] or not scores["mask"]


def test_public_names_are_the_promised_ones() -> None:
    for name in attrial.__all__:
        assert getattr(attrial, name) is not None
    with pytest.raises(AttributeError):
        _ = attrial.nothing


def test_a_limit_below_one_and_a_folder_that_cannot_be_made_are_named(tmp_path: Path) -> None:
    with pytest.raises(AttrialError, match="limit=0"):
        attrial.run(["planted_keyword"], ["random"], limit=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(AttrialError, match="can't make the folder"):
        attrial.run(["planted_keyword"], ["random"], limit=1, out=tmp_path / "file" / "out")


def test_metrics_without_evidence_are_told_and_never_an_empty_board() -> None:
    asked = {"models": [MODEL], "data": TEXTS, "methods": ["random"]}
    board = attrial.run(**asked, metrics=["aopc", "average_precision"])  # type: ignore[arg-type]
    assert "texts: no known evidence in the data, so without average_precision" in board.notices
    assert set(board.frame().metric) == {"aopc"}
    with pytest.raises(AttrialError, match="nothing is left to measure: texts: no known evidence"):
        attrial.run(**asked, metrics=["average_precision"])  # type: ignore[arg-type]
    assert not any("evidence" in n for n in attrial.run(**asked).notices)  # type: ignore[arg-type]


def test_data_without_labels_are_taken_with_a_notice(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sentence": TEXTS})
    board = attrial.run(["sst2"], ["random"], models=[unnamed(tmp_path)], data=frame, limit=2)
    (notice,) = [n for n in board.notices if "label" in n]
    assert notice == "sst2: pandas.DataFrame has no labels ('label'); none is needed"
    assert {t.label for e in board.entries for t in e.trials} == {None}


@pytest.mark.parametrize(
    ("kinds", "told"), [([0] * 5, True), ([0] * 4, False), ([0] * 4 + [1], False)]
)
def test_examples_of_one_class_are_told(tmp_path: Path, kinds: list[int], told: bool) -> None:
    """Files sorted by class begin with one, and a limit takes no other."""
    frame = pd.DataFrame({"sentence": [TEXTS[0]] * len(kinds), "label": kinds})
    board = attrial.run(
        ["sst2"], ["random"], models=[unnamed(tmp_path)], data=frame, metrics=["gini"]
    )
    line = (
        "sst2: all 5 examples are labelled 'negative'; data sorted by class begin with one of them"
    )
    assert (line in board.notices) == told
    assert told or not any("labelled" in notice for notice in board.notices)


def unnamed(folder: Path) -> Path:
    """A model whose labels are numbers: it fits any task of two classes."""
    shutil.copytree(MODEL, folder / "model")
    config = json.loads((MODEL / "config.json").read_text())
    config |= {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}, "label2id": {}}
    (folder / "model" / "config.json").write_text(json.dumps(config))
    return folder / "model"


def test_what_is_named_twice_is_tried_once() -> None:
    once, twice = (
        attrial.run(
            ["planted_keyword"] * k,
            ["random"] * k,
            removals=["mask"] * k,
            metrics=["aopc"],
            limit=2,
        )
        for k in (1, 2)
    )
    assert once.frame().equals(twice.frame())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"tasks": "planted_keyword"}, "tasks takes a list"),
        ({"methods": "random"}, "methods takes a list"),
        ({"models": "folder"}, "models takes a list"),
        ({"seed": 1.5}, "seed=1.5; it takes a whole number"),
        ({"seed": True}, "seed=True; it takes a whole number"),
        ({"limit": "x"}, "limit='x'; it takes a whole number"),
        ({"budget": 5.0}, "budget=5.0; it takes a whole number"),
        ({"methods": [print]}, "methods takes names or paths, not <built-in function print>"),
        ({"metrics": "aopc"}, "metrics takes a list"),
        ({"metrics": [None]}, "metrics takes names or paths, not None"),
        ({"removals": 5}, "removals takes a list"),
        ({"models": 5}, "models takes a list"),
        ({"models": MODEL}, "models takes a list"),
        ({"models": [object]}, r"a loaded pair \(model, tokenizer\), not type"),
        ({"models": [("a", "b")]}, r"a loaded pair \(model, tokenizer\), not str, str"),
        ({"models": [()]}, "a folder, a Hub id or a loaded pair"),
        ({"batch_tokens": 0}, "batch_tokens=0; it takes 1 or more"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_what_should_be_a_list_or_a_number_is_named(
    arguments: dict[str, object], said: str
) -> None:
    with pytest.raises(AttrialError, match=said):
        attrial.run(**arguments)  # type: ignore[arg-type]
