"""From a task's TOML file to a task."""

from pathlib import Path

from attrial import _task_file, registry
from attrial._data_files import Form
from attrial._data_head import Head
from attrial._data_item import Columns
from attrial._data_prompt import Continuations, columns_of
from attrial._task_file import TaskFile
from attrial._task_model import Asks, File, Generated, Given, Hub, Task
from attrial._task_tables import ContinuationTable, DataTable, GivenTable
from attrial.errors import AttrialError


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
        origin=_origin(path, file.data) if file.data else None,
        split=file.data.split if file.data else None,
        columns=_columns(file),
        given=_given(file, file.given),
        asks=_asks(file),
        model=_model(folder, file),
        model_revision=file.model.revision if file.model else None,
        rationale=file.rationale is not None and file.rationale.source == "people",
        target=file.target,
        players=_players(file),
        removals=_removals(file),
        limit=file.limit,
        seed=file.seed,
    )


def _asks(file: TaskFile) -> Asks:
    if file.asks is None and _task_file.shows(file):
        return "image classifier"
    if file.asks is None and file.head is not None:
        if file.head.choices:
            return "multiple-choice model"
        return "answer finder" if file.head.answer else "token classifier"
    return file.asks or ("causal language model" if file.continuation else "text classifier")


def _players(file: TaskFile) -> str:
    if not _task_file.shows(file):
        return file.players
    return "patches" if file.grid is None else f"patches({file.grid})"


def _removals(file: TaskFile) -> tuple[str, ...]:
    """Those of the file; text has masks, and images are greyed."""
    told = "removals" in file.model_fields_set or not _task_file.shows(file)
    return file.removals if told else ("mean",)


def _columns(file: TaskFile) -> Columns:
    told, cut = file.rationale, file.spans
    template = columns_of(file.template)[:2] if file.template else ("text",)
    return Columns(
        texts=() if _task_file.shows(file) else file.text or template,
        label=file.label,
        labels=file.labels or (file.continuation.words if file.continuation else ()),
        label_values=file.label_values,
        rationale=told.column if told else None,
        form=told.form if told else "spans",
        template=file.template,
        asked=_asked(file.continuation) if file.continuation else None,
        spans=cut.column if cut else None,
        spans_form=cut.form if cut else "spans",
        label_until=file.label_until,
        image=file.image,
        head=Head(**file.head.model_dump()) if file.head else Head(),
    )


def _asked(told: ContinuationTable) -> Continuations:
    fields = told.model_dump()
    return Continuations(**{**fields, "minimal_pair": told.minimal_pair or ()})


def _given(file: TaskFile, told: GivenTable) -> Given:
    form = Form(told.format, told.header, told.encoding)
    names = {"text", "template", "label", "label_values", "label_until"}
    changed = {name: getattr(told, name) for name in names & told.model_fields_set}
    if told.template and not told.text:
        changed["text"] = None  # the columns of the template, not the task's own
    if not changed:
        return Given(form=form)
    return Given(form=form, columns=_columns(file.model_copy(update=changed)))


def _model(folder: Path, file: TaskFile) -> str | None:
    if file.model is None:
        return None
    if file.model.folder is None:
        return file.model.hub
    return str(_task_file.inside(folder, file.model.folder, field="model.folder"))


def _origin(path: Path, data: DataTable) -> File | Hub | Generated:
    if data.hub is not None:
        return Hub(
            name=data.hub, config=data.config, revision=data.revision, streaming=data.streaming
        )
    if data.generator is not None:
        return Generated(module=f"{_package(path)}.{data.generator}")
    name = str(data.path)
    place = _task_file.inside(path.parent, name, field="data.path")
    return File(
        path=place, name=name, format=data.format, header=data.header, encoding=data.encoding
    )


def _package(path: Path) -> str:
    for plugin in registry.plugins("tasks").values():
        if plugin.path.resolve() == path.resolve():
            return plugin.module.rpartition(".")[0]
    raise AttrialError(
        f"{path}: data.generator: only tasks of registered packages may name a generator"
    )
