"""Folders with any head of a text model are explained from Python and from the command line."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel
from typer.testing import CliRunner

import attrial
from attrial.cli import app
from attrial.errors import AttrialError
from tests import chosen, placed, tiny


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made: dict[str, PreTrainedModel] = {
        "token": placed.token_model().forward.model,
        "answer": placed.answer_model().forward.model,
        "choice": chosen.chooser().forward.model,
        "classes": tiny.model("bert"),
    }
    found = {name: tmp_path_factory.mktemp(name) for name in made}
    for name, folder in found.items():
        made[name].save_pretrained(folder)
        tiny.tokenizer().save_pretrained(folder)
    return found


def told(folder: Path, *more: str) -> str:
    asked = ["explain", "--model", str(folder), "--method", "occlusion", *more]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_token_classifier_explains_the_label_of_one_word(folders: dict[str, Path]) -> None:
    found = attrial.explain(
        folders["token"], tiny.TEXT, position=placed.WORD, method="occlusion", target="LOC"
    )
    with torch.no_grad():
        p = placed.token_model().forward.model(
            input_ids=torch.tensor([tiny.tokenizer()(tiny.TEXT)["input_ids"]])
        )
    label = p.logits[0, placed.WORD + 1].softmax(dim=0)[placed.NAMES.index("LOC")]
    assert found.probability == pytest.approx(float(label), abs=1e-5)
    assert len(found.players) == len(tiny.TEXT.split()) - 1 and found.target == "LOC"
    shown = told(folders["token"], "--text", tiny.TEXT, "--position", "6", "--target", "LOC")
    assert found.caption in shown


def test_an_answers_start_and_end_are_explained(folders: dict[str, Path]) -> None:
    texts = ["--text", placed.QUESTION, "--text-pair", placed.CONTEXT]
    assert "-> start at '" in told(folders["answer"], *texts)
    assert "-> end at '" in told(folders["answer"], *texts, "--target", "end")
    at = told(folders["answer"], *texts, "--position", "7", "--target", "start")
    assert "-> start at 'dull'" in at


def test_choices_are_classes(folders: dict[str, Path]) -> None:
    choices = [part for choice in chosen.CHOICES for part in ("--choice", choice)]
    best = chosen.CHOICES[int(best_choice().argmax())]
    shown = told(folders["choice"], "--text", chosen.CONTEXT, *choices)
    assert f"-> {best} (p = {best_choice().max():.3f}" in shown
    other = told(folders["choice"], "--text", chosen.CONTEXT, *choices, "--target", "a story")
    assert "-> a story (p = " in other


@cache
def best_choice() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    with torch.no_grad():
        given = chosen.called("bert", (chosen.CONTEXT,))
        logits = chosen.chooser().forward.model(**given).logits[0]
    return np.asarray(logits.double().softmax(dim=0).numpy())


@pytest.mark.parametrize(
    ("name", "asked", "message"),
    [
        ("token", {}, "labels every word; say which one"),
        ("token", {"position": 99}, "no word 99; they are 0 to 9"),
        ("token", {"position": 1, "target": "ORG"}, "'ORG' is not one of the model's: O, PER, LOC"),
        ("token", {"position": 1, "choices": ["a", "b"]}, "takes no choices"),
        ("token", {"position": 1, "continuation": " x"}, "it continues no text"),
        ("answer", {}, "takes a question and a context"),
        ("answer", {"text_pair": "a film", "target": "middle"}, "no 'middle'; known are"),
        ("choice", {}, "two or more choices are needed"),
        ("choice", {"choices": ["a", "b"], "position": 1}, "takes texts and choices"),
        ("classes", {"position": 1}, "one answer to a text: leave position out"),
        ("classes", {"choices": ["a", "b"]}, "is no multiple-choice model"),
    ],
)
def test_what_a_head_does_not_take_is_told_in_one_line(
    folders: dict[str, Path], name: str, asked: dict[str, object], message: str
) -> None:
    with pytest.raises(AttrialError, match=message) as said:
        attrial.explain(folders[name], tiny.TEXT, **asked)  # type: ignore[arg-type]
    assert "\n" not in str(said.value)
