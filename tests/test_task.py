"""Task files: what they say, what is refused, and in which words."""

from pathlib import Path

import pytest

from attrial import registry
from attrial.errors import AttrialError
from attrial.task import File, Generated, Hub, Task, items, load_task

PLANTED = ("planted_keyword", "planted_lookup", "planted_majority", "planted_xor")


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def refused(folder: Path, text: str) -> str:
    path = write(folder, text)
    with pytest.raises(AttrialError) as caught:
        load_task(path)
    message = str(caught.value)
    assert "\n" not in message
    assert "mine.toml" in message
    return message.partition("mine.toml")[2]


@pytest.mark.parametrize("name", sorted(registry.plugins("tasks")))
def test_every_registered_task_loads(name: str) -> None:
    task = load_task(name)
    assert task.name == name
    assert task.description
    assert task.removals


@pytest.mark.parametrize("name", PLANTED)
def test_planted_tasks_are_generated_and_have_their_model(name: str) -> None:
    task = load_task(name)
    assert task.origin == Generated(module=f"attrial_tasks.{name}")
    assert task.model is not None
    assert (Path(task.model) / "model.safetensors").is_file()
    assert (task.needs, task.limit, task.source) == ("", 30, f"attrial_tasks.{name}")
    assert [item.id for item in items(task)] == [str(i) for i in range(30)]
    assert items(task, limit=4) == items(task)[:4]
    assert items(task, limit=4, seed=1) != items(task, limit=4)


def test_hub_tasks_are_pinned_and_say_what_they_need() -> None:
    task = load_task("sst2")
    assert isinstance(task.origin, Hub)
    assert task.origin.name == task.source == "stanfordnlp/sst2"
    assert (task.split, task.removals) == ("validation", ("mask", "delete"))
    assert task.needs == "the Hugging Face Hub"
    for name in ("sst2", "imdb"):
        pins = (load_task(name).revision, load_task(name).model_revision)
        assert all(pin is not None and len(pin) == 40 for pin in pins)


FULL = """
description = "Entailment of pairs"
text = ["premise", "hypothesis"]
label = "gold"
labels = ["no", "yes"]
label_values = [1, 2]
target = "probability"
players = "tokens"
removals = ["delete"]
limit = 7
seed = 3
[data]
path = "pairs.csv"
format = "tsv"
header = ["gold", "premise", "hypothesis"]
[model]
folder = "model"
[rationale]
column = "why"
form = "words"
"""


def test_every_field_arrives(tmp_path: Path) -> None:
    task = load_task(write(tmp_path, FULL))
    c = task.columns
    assert (task.name, task.description) == ("mine", "Entailment of pairs")
    assert (c.texts, c.label, c.labels) == (("premise", "hypothesis"), "gold", ("no", "yes"))
    assert (c.label_values, c.rationale, c.form) == (("1", "2"), "why", "words")
    assert (task.target, task.players, task.removals) == ("probability", "tokens", ("delete",))
    assert (task.limit, task.seed) == (7, 3)
    assert task.model == str(tmp_path / "model")
    assert isinstance(task.origin, File)
    assert (task.origin.path, task.origin.format) == (tmp_path / "pairs.csv", "tsv")
    assert task.source == "pairs.csv"  # no path of this machine in a record


def test_defaults(tmp_path: Path) -> None:
    task = load_task(write(tmp_path, 'description = "d"\ndata.path = "d.csv"'))
    assert (task.target, task.players, task.removals) == ("log_odds", "words", ("mask",))
    assert (task.columns.texts, task.columns.label) == (("text",), None)
    assert task.model is None


WRONG = {  # contents of a file -> what is said of it
    'description = "d"\nlabls = ["a"]\ndata.path = "d.csv"': "no field 'labls'; did you mean",
    'description = "d"\ndata.paht = "d.csv"': "no field 'data.paht'; did you mean path",
    'data.path = "d.csv"': "description: Field required",
    'description = "a\\nb"\ndata.path = "d.csv"': "description:",
    'description = "d"\n[data]\npath = "d.csv"\nhub = "h"': "data: give exactly one of hub, path",
    'description = "d"\n[data]': "data: give exactly one of hub, path and generator",
    'description = "d"\ndata.hub = "h"': "data: a data set of the hub needs a split",
    'description = "d"\ndata = {path = "d", format = "cvs"}': "data.format: no format 'cvs'; did",
    'description = "d"\ndata.path = "d"\ntarget = "logits"': "target: no target function 'logits'",
    'description = "d"\ndata.path = "d"\nplayers = "wrods"': "players: Input should be 'words',",
    'description = "d"\ndata.path = "d"\nlimit = 0': "limit: Input should be greater than or equal",
    'description = "d"\ndata.path = "d"\nlimit = "many"': "limit: Input should be a valid integer",
    'description = "d"\ndata.path = "d"\ntext = ["a", "b", "c"]': "text: Tuple should have at most",
    'description = "d"\ndata.path = "d"\nremovals = []': "removals: Tuple should have at least 1",
    'description = "d"\ndata.path = "d"\nremovals = ["msk"]': "removals: no removal 'msk'; did you",
    'description = "d"\ndata.path = "d"\n[model]': "model: give exactly one of hub and folder",
    'description = "d"\ndata.path = "d"\nmodel = {folder = "m", revision = "r"}': "no revision",
    'description = "d"\ndata.path = "d"\nrationale = {column = "c", form = "x"}': "no form 'x'; k",
    'description = "d"\ndata.path = "d"\nrationale.colum = "c"': "'rationale.colum'; did you mean",
    'description = "d"\ndata.path = "d"\nlabels = ["a"]\nlabel_values = [1, 2]': "differ in number",
    'description = "d"\ndata.generator = "g"': "a generated task needs a limit",
    'description = "d"\nlimit = 1\ndata.generator = "os.path"': "'os.path' is no module name",
    'description = "d': "not TOML",
}


@pytest.mark.parametrize(("text", "expected"), WRONG.items(), ids=range(len(WRONG)))
def test_a_wrong_field_is_named_in_one_line(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in refused(tmp_path, text)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(AttrialError, match="not TOML"):
        load_task(tmp_path / "mine.toml")


def test_unknown_tasks_have_near_names(tmp_path: Path) -> None:
    with pytest.raises(AttrialError, match=r"no task 'planted_keywrod'; did you mean planted_key"):
        load_task("planted_keywrod")
    with pytest.raises(AttrialError, match="no task file"):
        load_task(tmp_path / "none.toml")


OUTSIDE = ("../secret.csv", "/etc/passwd", "sub/../../secret.csv")


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_stay_in_the_folder(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text("text\nsecret\n")
    data = write(folder, f'description = "d"\ndata.path = "{path}"')
    with pytest.raises(AttrialError, match=r"data\.path .* must be a relative path within"):
        load_task(data)
    model = write(folder, f'description = "d"\ndata.path = "d.csv"\nmodel.folder = "{path}"')
    with pytest.raises(AttrialError, match=r"model\.folder .* must be a relative path within"):
        load_task(model)


def test_links_do_not_lead_out_either(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text("text\nsecret\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(AttrialError, match="must be a relative path within"):
        load_task(write(folder, 'description = "d"\ndata.path = "link.csv"'))
    (folder / "inner.csv").write_text("text\nfine\n")
    (folder / "sub").mkdir()
    task = load_task(write(folder, 'description = "d"\ndata.path = "sub/../inner.csv"'))
    assert items(task)[0].texts == ("fine",)


def test_a_stray_file_can_name_no_generator(tmp_path: Path) -> None:
    (tmp_path / "planted_keyword.py").write_text("raise SystemExit('ran')")
    message = refused(tmp_path, 'description = "d"\nlimit = 1\ndata.generator = "planted_keyword"')
    assert "only tasks of registered packages may name a generator" in message


def test_the_path_of_a_registered_task_is_the_task() -> None:
    path = registry.plugin("tasks", "planted_xor").path
    assert load_task(path) == load_task("planted_xor")


def test_a_task_without_data_asks_for_some() -> None:
    with pytest.raises(AttrialError, match="task t has no data of its own; give some with --data"):
        items(Task(name="t", description="d"))
