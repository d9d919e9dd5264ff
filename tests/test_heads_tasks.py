"""Tasks whose TOML file asks a head about one word, an answer's end, or a choice."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import attrial
from attrial.errors import AttrialError
from attrial.models.text import TextClassifier
from attrial.store import Entry
from attrial.task import items, load_task
from tests import chosen, placed, tiny

HEAD = 'description = "A head."\ntext = {text}\n[data]\npath = "rows.jsonl"\n[head]\n{head}\n'


def task(folder: Path, row: Mapping[str, object], *, text: object, head: str) -> Path:
    """A task of two rows alike."""
    lines = "\n".join([json.dumps(row)] * 2)
    (folder / "rows.jsonl").write_text(lines)
    path = folder / "heads.toml"
    path.write_text(HEAD.format(text=json.dumps(text), head=head))
    return path


def tried(path: Path, model: TextClassifier) -> Entry:
    board = attrial.run([path], ["occlusion"], models=[model], metrics=["comprehensiveness"])
    (mine,) = [e for e in board.entries if e.record.spec.label == "occlusion"]
    return mine


def test_the_label_of_a_word_is_tried(tmp_path: Path) -> None:
    row = {"text": tiny.TEXT, "at": placed.WORD}
    path = task(tmp_path, row, text="text", head='position = "at"')
    assert load_task(path).asks == "token classifier"
    mine = tried(path, placed.token_model())
    own = attrial.explain(placed.token_model(), tiny.TEXT, position=placed.WORD, method="occlusion")
    assert mine.trials[0].players == list(own.players)
    np.testing.assert_allclose(mine.trials[0].scores, own.scores, atol=1e-6)
    assert mine.record.spec.target == "log_odds of the predicted class"


@pytest.mark.parametrize("end", ["start", "end"])
def test_an_end_of_the_predicted_answer_is_tried(end: str, tmp_path: Path) -> None:
    row = {"question": placed.QUESTION, "context": placed.CONTEXT}
    path = task(tmp_path, row, text=["question", "context"], head=f'answer = "{end}"')
    mine = tried(path, placed.answer_model())
    own = attrial.explain(
        placed.answer_model(), placed.QUESTION, text_pair=placed.CONTEXT, target=end,
        method="occlusion",
    )  # fmt: skip
    np.testing.assert_allclose(mine.trials[0].scores, own.scores, atol=1e-6)
    assert mine.record.spec.target == "log_odds of an end of the answer"


@pytest.mark.parametrize("listed", [True, False])
def test_choices_are_tried(listed: bool, tmp_path: Path) -> None:
    columns = dict(zip("abc", chosen.CHOICES, strict=True))
    row = {"text": chosen.CONTEXT, "gold": 2, "all": chosen.CHOICES, **columns}
    head = 'choices = "all"' if listed else 'choices = ["a", "b", "c"]'
    path = task(tmp_path, row, text="text", head=head)
    path.write_text(path.read_text().replace("[data]", 'label = "gold"\n[data]'))
    mine = tried(path, chosen.chooser())
    own = attrial.explain(
        chosen.chooser(), chosen.CONTEXT, choices=chosen.CHOICES, method="occlusion"
    )
    np.testing.assert_allclose(mine.trials[0].scores, own.scores, atol=1e-6)
    assert mine.trials[0].target == chosen.CHOICES.index(own.target)
    assert mine.trials[0].label == 2


@pytest.mark.parametrize(
    ("head", "row", "message"),
    [
        ('position = "at"', {"at": "x"}, "row 0: position 'x' is no number of a word"),
        ('position = "at"', {}, "no column 'at'"),
        ('choices = ["a", "b"]', {"a": "so", "b": 5}, "row 0: choices .* are not two or more"),
        ('choices = "a"', {"a": "so"}, "row 0: choices 'so' are no list"),
        ('choices = "a"', {"a": ["so"]}, "row 0: choices .* are not two or more texts"),
        ('answer = "middle"', {}, "head.answer"),
        ('choices = "a"\nposition = "at"', {}, "give position, or answer, or choices"),
        ("", {}, "give position, or answer, or choices"),
    ],
)
def test_faulty_heads_are_told_in_one_line(
    head: str, row: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = task(tmp_path, {"text": "a film"} | row, text="text", head=head)
    with pytest.raises(AttrialError, match=message) as told:
        items(load_task(path))
    assert "\n" not in str(told.value)


def test_a_task_is_asked_of_its_own_head_alone(tmp_path: Path) -> None:
    path = task(tmp_path, {"text": "a film", "at": 0}, text="text", head='position = "at"')
    with pytest.raises(AttrialError, match=r"of the kind 'token classifier'; .* is none"):
        tried(path, tiny.classifier())
    with pytest.raises(AttrialError, match=r"'token classifier'; .* is of the kind 'answer f"):
        tried(path, placed.answer_model())
    with pytest.raises(AttrialError, match=r"'text classifier'; .* is of the kind 'token"):
        attrial.run(["planted_keyword"], ["random"], models=[placed.token_model()], limit=1)
