"""Tasks: which examples, asked of which model, and what is known of them."""

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from attrial import _data_rows, _task_file, registry
from attrial._data_item import Columns as Columns
from attrial._data_item import Item as Item
from attrial._data_item import items_of
from attrial._data_rows import Rows, Source
from attrial._data_rows import describe as source_name
from attrial._task_file import DataTable, TaskFile
from attrial.errors import AttrialError

__all__ = ["Columns", "Item", "Source", "Task", "items", "load_task", "source_name"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class File(_Frozen):
    """Data in a local file or folder; ``name`` is how the TOML file calls it."""

    path: Path
    name: str
    format: str | None = None
    header: tuple[str, ...] = ()


class Hub(_Frozen):
    """Data of the Hugging Face Hub."""

    name: str
    config: str | None = None
    revision: str | None = None


class Generated(_Frozen):
    """Data that a module of a registered package makes from a seed."""

    module: str


class Task(_Frozen):
    """A task, ready to be read. ``_task_file.TaskFile`` explains the fields that come from TOML.

    Attributes:
        name: The TOML file's stem.
        origin: Where the examples come from; None where the user has to give them.
        split: Which split of it.
        columns: Where texts, label and evidence stand in a row.
        model: Folder (absolute) or Hub id of its own model, or None.
        model_revision: Of a model on the Hub.
        rationale: Whether the known evidence is what people hold to be the reason.
    """

    name: str
    description: str
    origin: File | Hub | Generated | None = None
    split: str | None = None
    columns: Columns = Columns(("text",))
    model: str | None = None
    model_revision: str | None = None
    rationale: bool = False
    target: str = "log_odds"
    players: Literal["words", "tokens"] = "words"
    removals: tuple[str, ...] = ("mask",)
    limit: int | None = None
    seed: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes, in the model's order."""
        return self.columns.labels

    @property
    def source(self) -> str:
        """Where the examples come from, without any path of this machine."""
        origin = self.origin
        if origin is None:
            return "given by the user"
        return origin.module if isinstance(origin, Generated) else origin.name

    @property
    def revision(self) -> str | None:
        """Commit of data on the Hub."""
        return self.origin.revision if isinstance(self.origin, Hub) else None

    @property
    def needs(self) -> str:
        """What must be there to run it as it stands: ``the Hugging Face Hub``, or nothing."""
        remote = self.model is not None and not Path(self.model).is_absolute()
        return "the Hugging Face Hub" if remote or isinstance(self.origin, Hub) else ""


def load_task(name_or_path: str | Path) -> Task:
    """A registered task by its name, or any task by the path of its TOML file.

    Raises:
        AttrialError: If there is none, or a field of the file is wrong. A generator runs code, and
            so only tasks of registered packages may name one.
    """
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = registry.plugin("tasks", str(name_or_path)).path
    file, folder = _task_file.read(path), path.parent
    return Task(
        name=path.stem,
        description=file.description,
        origin=_origin(path, file.data),
        split=file.data.split,
        columns=_columns(file),
        model=_model(folder, file),
        model_revision=file.model.revision if file.model else None,
        rationale=file.rationale is not None and file.rationale.source == "people",
        target=file.target,
        players=file.players,
        removals=file.removals,
        limit=file.limit,
        seed=file.seed,
    )


def _columns(file: TaskFile) -> Columns:
    told = file.rationale
    return Columns(
        texts=file.text,
        label=file.label,
        labels=file.labels,
        label_values=file.label_values,
        rationale=told.column if told else None,
        form=told.form if told else "spans",
    )


def _model(folder: Path, file: TaskFile) -> str | None:
    if file.model is None:
        return None
    if file.model.folder is None:
        return file.model.hub
    return str(_task_file.inside(folder, file.model.folder, field="model.folder"))


def _origin(path: Path, data: DataTable) -> File | Hub | Generated:
    if data.hub is not None:
        return Hub(name=data.hub, config=data.config, revision=data.revision)
    if data.generator is not None:
        return Generated(module=f"{_package(path)}.{data.generator}")
    name = str(data.path)
    place = _task_file.inside(path.parent, name, field="data.path")
    return File(path=place, name=name, format=data.format, header=data.header)


def _package(path: Path) -> str:
    for plugin in registry.plugins("tasks").values():
        if plugin.path.resolve() == path.resolve():
            return plugin.module.rpartition(".")[0]
    raise AttrialError(
        f"{path}: data.generator: only tasks of registered packages may name a generator"
    )


def items(
    task: Task,
    *,
    data: Source = None,
    limit: int | None = None,
    seed: int | None = None,
    split: str | None = None,
) -> list[Item]:
    """The task's examples, in the order of their rows.

    Args:
        task: The task.
        data: Instead of the task's own data: a path, a ``datasets.Dataset``, a pandas frame, a
            list of texts or of pairs of texts.
        limit: How many, the first ones; the task's own number by default (which says nothing
            about data given here: these are then taken whole).
        seed: Of a generator; the task's own by default.
        split: Instead of the task's.

    Raises:
        AttrialError: If data can't be found or read, or a row is wrong: one line says which.
    """
    if data is None and isinstance(task.origin, Generated):
        return _generated(
            task.origin, limit or task.limit or 1, task.seed if seed is None else seed
        )
    rows = _rows(task, data, limit, split or task.split)
    source = task.source if data is None else source_name(data)
    columns = _placed(task, rows)
    if data is not None:
        columns = _unlabelled(columns, rows)
    return items_of(rows.rows, columns, source=source, numbers=rows.numbers)


def _rows(task: Task, data: Source, limit: int | None, split: str | None) -> Rows:
    if isinstance(data, str | Path):
        return _data_rows.from_path(Path(data), split=split, limit=limit)
    if data is not None:
        return _data_rows.from_memory(data, split=split, limit=limit)
    limit, origin = limit or task.limit, task.origin
    if isinstance(origin, File):
        return _data_rows.from_path(
            origin.path, form=origin.format, header=origin.header, split=split, limit=limit
        )
    if isinstance(origin, Hub):
        return _data_rows.from_hub(
            origin.name, config=origin.config, revision=origin.revision, split=split, limit=limit
        )
    raise AttrialError(f"task {task.name} has no data of its own; give some with --data FILE")


def _placed(task: Task, rows: Rows) -> Columns:
    """The task's columns, or those of a form that has columns of its own."""
    columns = task.columns
    if not rows.texts:
        return columns
    if len(columns.texts) > len(rows.texts):
        raise AttrialError(f"task {task.name} takes pairs of texts; these data hold single texts")
    label = rows.label if columns.label else None
    return Columns(rows.texts, label, columns.labels, columns.label_values)


def _unlabelled(columns: Columns, rows: Rows) -> Columns:
    """Data that a user gives need no label: it is reported, and nothing is made of it."""
    has = not rows.rows or columns.label in rows.rows[0]
    return columns if has else replace(columns, label=None)


def _generated(origin: Generated, count: int, seed: int) -> list[Item]:
    made = importlib.import_module(origin.module).items(count=count, seed=seed)
    if not made or not all(isinstance(item, Item) for item in made):
        raise AttrialError(f"{origin.module}.items must return attrial.task.Item objects")
    return list(made)
