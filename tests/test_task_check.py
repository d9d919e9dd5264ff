"""``attrial task check``: what is said of first examples, and of what is wrong with them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from attrial.cli import app
from attrial.errors import AttrialError
from attrial.task_check import check_task
from tests import tiny

TASK = """
description = "Films"
label = "label"
labels = ["a", "b", "c"]
rationale = {column = "why", form = "flags"}
"""
ROWS: list[dict[str, object]] = [
    {"text": "the plot was not very good", "label": "a", "why": [0, 0, 0, 1, 1, 1]},
    {"text": "a bright film", "label": "c", "why": [0, 1, 0]},
    {"text": "dull " * 60, "label": "b", "why": None},
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "judge"
    made = tiny.model("bert")
    made.config.id2label = {0: "a", 1: "b", 2: "c"}
    made.save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return folder


def write(folder: Path, *rows: dict[str, object], task: str = TASK) -> tuple[Path, Path]:
    (folder / "films.toml").write_text(task)
    (folder / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "films.toml", folder / "d.jsonl"


def lines(text: str) -> dict[str, str]:
    """What is said, by the words before the colon."""
    return dict(line.split(": ", 1) for line in text.splitlines())


def test_what_was_understood_is_said_line_by_line(tmp_path: Path, model: Path) -> None:
    task, data = write(tmp_path, *ROWS)
    done = check_task(task, data=data, model=model)
    said = lines(done.text())
    assert done.faults == ()
    assert said["data"] == "d.jsonl: 3 examples read, 0 faults"
    assert said["columns"] == (
        "text = text; label = label; evidence = why (flags); the data have text, label, why"
    )
    assert said["labels"] == "a 1, b 1, c 1; none 0"
    assert said["evidence"] == "known of 2 of 3"
    assert said["model"] == "judge: a, b, c"
    assert said["players of the first (6)"] == "the | plot | was | not | very | good"
    assert said["evidence among them (3)"] == "not | very | good"
    assert said["positions of the first"] == "8, 2 of them fixed"
    assert said["lengths"] == "5 to 40 positions (the model takes 40), 3 to 38 players"
    assert said["cut"] == "1 of 3 texts, up to 22 words"


def test_each_fault_has_its_line_and_hides_no_other(tmp_path: Path, model: Path) -> None:
    bad: list[dict[str, object]] = [
        {**ROWS[0], "label": "z"},
        ROWS[1],
        {**ROWS[0], "text": " "},
        {**ROWS[1], "why": [1]},
    ]
    task, data = write(tmp_path, *bad, task='removals = ["mask", "infill"]' + TASK)
    done = check_task(task, data=data, model=model)
    row0, row2, row3, *_ = done.faults
    assert "row 0: label 'z' is none of" in row0
    assert "row 2: the text in column 'text' is empty" in row2
    assert "row 3: evidence must be 3 flags" in row3
    assert (
        lines(done.text().partition("fault: ")[0])["data"] == "d.jsonl: 1 examples read, 3 faults"
    )
    assert all("\n" not in fault for fault in done.faults)


def test_labels_of_another_model_and_absent_columns_are_faults(tmp_path: Path, model: Path) -> None:
    task, data = write(tmp_path, *ROWS, task=TASK.replace('"b"', '"other"'))
    (_, fault) = check_task(task, data=data, model=model).faults
    assert "has the labels a, other, c; the model's are a, b, c" in fault
    task, data = write(tmp_path, {"txt": "a film"})
    (fault,) = check_task(task, data=data, model=model).faults
    assert "d.jsonl has no column 'text'; did you mean txt?" in fault


def test_a_classifier_can_not_go_on_with_a_text(model: Path) -> None:
    done = check_task("greater_than", model=model)
    assert lines(done.text())["data"].startswith("attrial_tasks.greater_than: 10 examples")
    assert done.faults[0] == (
        "task greater_than asks how a text goes on, and needs a model that generates text; judge "
        "is a classifier"
    )


def test_without_a_model_the_rest_is_said(tmp_path: Path) -> None:
    task, data = write(tmp_path, *ROWS)
    done = check_task(task, data=data)
    assert (done.faults, lines(done.text())["model"][:4]) == ((), "none")
    (fault,) = check_task(task).faults
    assert "has no data of its own; give some with --data" in fault


def test_the_command_ends_with_two_where_something_is_wrong(tmp_path: Path, model: Path) -> None:
    task, data = write(tmp_path, *ROWS)
    args = ["task", "check", str(task), "--model", str(model), "--data"]
    good = CliRunner().invoke(app, [*args, str(data)])
    assert (good.exit_code, "fault:" in good.output) == (0, False)
    bad = CliRunner().invoke(app, [*args, str(tmp_path / "none.csv")])
    assert bad.exit_code == 2
    assert f"fault: no data file {tmp_path / 'none.csv'}" in bad.output
    with pytest.raises(AttrialError, match="no task 'flims'"):
        check_task("flims")


def test_a_planted_task_needs_nothing() -> None:
    done = check_task("planted_keyword", limit=4)
    said = lines(done.text())
    assert done.faults == ()
    assert said["evidence"] == "known of 4 of 4"
    assert "cut" in said and "evidence among them (1)" in said


def test_the_command_line_exits_with_its_code(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "attrial", "task", "check", "trec"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (2, "")
    assert "fault: task trec has no data of its own" in done.stdout
