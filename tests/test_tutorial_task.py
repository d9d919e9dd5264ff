"""The page on tasks: its files are checked and run as they stand, on the models it names."""

import re
from pathlib import Path

import pytest

import attrial_tasks
from attrial import api
from attrial.task import items, load_task
from attrial.task_check import check_task

PAGE = (Path(__file__).parents[1] / "docs" / "writing-a-task.md").read_text()
MODELS = Path(attrial_tasks.__file__).parent / "models"
OF = {"birds": "planted_keyword", "verbs": "planted_agreement", "shapes": "planted_shapes"}


def block(after: str, language: str) -> str:
    """The first block of a language behind some words."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE[PAGE.index(after) :], flags=re.DOTALL)
    assert found is not None
    return found[1]


def written(name: str, folder: Path) -> Path:
    """The page's task and its data, in a folder."""
    toml = block(f"Save this as `{name}.toml`", "toml")
    assert len(toml.splitlines()) <= 25
    (folder / f"{name}.toml").write_text(toml)
    if name == "shapes":
        shapes(folder / name)
    else:
        (folder / f"{name}.jsonl").write_text(block(f"and this as `{name}.jsonl`", "json"))
    return folder / f"{name}.toml"


def shapes(folder: Path) -> None:
    """Two images a class, drawn by the planted task."""
    task = load_task("planted_shapes")
    for item in items(task, limit=8):
        assert item.label is not None and isinstance(item.image, bytes)
        place = folder / task.labels[item.label]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{item.id}.png").write_bytes(item.image)


@pytest.mark.parametrize("name", OF)
def test_the_task_is_found_right_and_runs(name: str, tmp_path: Path) -> None:
    task, model = written(name, tmp_path), MODELS / OF[name]
    done = check_task(task, model=model)
    assert done.faults == ()
    board = api.run([task], ["occlusion"], models=[model], metrics=["aopc"], limit=3)
    assert "occlusion" in board.markdown()


def test_what_the_check_says_of_birds(tmp_path: Path) -> None:
    said = check_task(written("birds", tmp_path), model=MODELS / OF["birds"]).text()
    assert said.splitlines() == block("says what it made of them", "text").splitlines()


def test_the_first_verb_is_explained_against_the_second(tmp_path: Path) -> None:
    task, model = written("verbs", tmp_path), MODELS / OF["verbs"]
    board = api.run([task], ["occlusion"], models=[model], metrics=["pointing_game"])
    specs = [e.record.spec for e in board.entries if e.record.spec.label == "occlusion"]
    assert specs[0].target == "log_odds of the first continuation, against the others"
