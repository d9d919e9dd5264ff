"""Tasks: which examples, asked of which model, and what is known of them."""

import importlib
from dataclasses import dataclass, replace
from pathlib import Path

from attrial import _data_rows
from attrial._data_files import Form, Rows, first_line
from attrial._data_hub import from_hub
from attrial._data_images import IMAGE
from attrial._data_item import Columns, Item, items_of
from attrial._data_rows import Source, shows_images
from attrial._data_rows import describe as source_name
from attrial._task_load import load_task
from attrial._task_model import File, Generated, Given, Hub, Task
from attrial.errors import AttrialError

__all__ = [
    "IMAGE",
    "Columns",
    "File",
    "Generated",
    "Given",
    "Hub",
    "Item",
    "Read",
    "Source",
    "Task",
    "Tried",
    "items",
    "load_task",
    "read",
    "shows_images",
    "source_name",
    "tried",
]


@dataclass(frozen=True)
class Read:
    """A task's examples, and the commit of the data where they have one."""

    items: tuple[Item, ...]
    revision: str | None = None


def items(
    task: Task,
    *,
    data: Source = None,
    limit: int | None = None,
    seed: int | None = None,
    split: str | None = None,
) -> list[Item]:
    """The task's examples, in the order of their rows; see ``read``."""
    return list(read(task, data=data, limit=limit, seed=seed, split=split).items)


def read(
    task: Task,
    *,
    data: Source = None,
    limit: int | None = None,
    seed: int | None = None,
    split: str | None = None,
) -> Read:
    """Read the task's examples.

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
        seed = task.seed if seed is None else seed
        return Read(tuple(_generated(task.origin, limit or task.limit or 1, seed)))
    opened = _open(task, data, limit, split)
    rows, columns, source = opened.rows, opened.columns, opened.source
    found = items_of(rows.rows, columns, source=source, numbers=rows.numbers)
    return Read(tuple(found), rows.revision)


@dataclass(frozen=True)
class Tried:
    """Rows read one by one, so that a fault of one hides no other.

    Attributes:
        items: Those that could be read.
        faults: A line for each that could not.
        columns: Which columns were read, and how.
        names: Columns that the data have.
    """

    items: tuple[Item, ...]
    faults: tuple[str, ...]
    columns: Columns
    names: tuple[str, ...] = ()


def tried(task: Task, *, data: Source = None, limit: int, split: str | None = None) -> Tried:
    """The first rows, whatever is wrong with some of them.

    Raises:
        AttrialError: If there are none, or none can be fetched.
    """
    if data is None and isinstance(task.origin, Generated):
        return Tried(tuple(_generated(task.origin, limit, task.seed)), (), task.columns)
    opened = _open(task, data, limit, split)
    rows = opened.rows.rows
    numbers = opened.rows.numbers or tuple(range(len(rows)))
    found, faults = list[Item](), list[str]()
    for row, number in zip(rows, numbers, strict=True):
        try:
            found += items_of([row], opened.columns, source=opened.source, numbers=[number])
        except AttrialError as error:
            faults.append(str(error))
    if not rows:
        raise AttrialError(f"{opened.source} has no rows")
    return Tried(tuple(found), tuple(dict.fromkeys(faults)), opened.columns, tuple(rows[0]))


@dataclass(frozen=True)
class _Opened:
    """Rows, the columns that count in them, and what they are called."""

    rows: Rows
    columns: Columns
    source: str


def _open(task: Task, data: Source, limit: int | None, split: str | None) -> _Opened:
    rows = _rows(task, data, limit, split or task.split)
    source = task.source if data is None else source_name(data)
    return _Opened(rows, _placed(task, rows, mine=data is None), source)


def _rows(task: Task, data: Source, limit: int | None, split: str | None) -> Rows:
    if isinstance(data, str | Path):
        path = Path(data)
        form = task.given.form
        if path.is_file() and set(task.columns.names) <= set(first_line(path, Form())):
            form = Form()  # it has a header line, and the task's own columns
        return _data_rows.from_path(path, form=form, split=split, limit=limit)
    if data is not None:
        return _data_rows.from_memory(data, split=split, limit=limit)
    limit, origin = limit or task.limit, task.origin
    if isinstance(origin, File):
        form = Form(origin.format, origin.header, origin.encoding)
        return _data_rows.from_path(origin.path, form=form, split=split, limit=limit)
    if isinstance(origin, Hub):
        return from_hub(
            origin.name, config=origin.config, revision=origin.revision, split=split,
            streaming=origin.streaming, limit=limit,
        )  # fmt: skip
    raise AttrialError(f"task {task.name} has no data of its own; give some with --data FILE")


def _placed(task: Task, rows: Rows, *, mine: bool) -> Columns:
    """The task's columns, or those of data that have columns of their own."""
    if rows.texts:
        return _of_form(task, rows)
    columns = task.columns
    if mine or not rows.rows:
        return columns
    if task.given.columns and not set(columns.names) <= set(rows.rows[0]):
        columns = task.given.columns
    has = columns.label in rows.rows[0]  # data that a user gives need no label
    return columns if has else replace(columns, label=None)


def _of_form(task: Task, rows: Rows) -> Columns:
    """The columns of a form that names them itself."""
    columns = task.given.columns or task.columns
    if len(columns.texts) > len(rows.texts):
        raise AttrialError(f"task {task.name} takes pairs of texts; these data hold single texts")
    label = rows.label if columns.label else None
    found = replace(columns, texts=rows.texts, label=label, template=None)
    if rows.evidence is None or columns.rationale is None:
        return replace(found, rationale=None)
    return replace(found, rationale=rows.evidence[0], form=rows.evidence[1])


def _generated(origin: Generated, count: int, seed: int) -> list[Item]:
    made = importlib.import_module(origin.module).items(count=count, seed=seed)
    if not made or not all(isinstance(item, Item) for item in made):
        raise AttrialError(f"{origin.module}.items must return attrial.task.Item objects")
    return list(made)
