"""What notebooks and commands call to score attributions that were made elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from attrial import asked, outside_rows
from attrial.api import run_suite
from attrial.board import Board
from attrial.chunk import predicted
from attrial.classifiers import ModelLike, classifier_of
from attrial.errors import AttrialError
from attrial.evaluator import Watch, unwatched
from attrial.example import Example
from attrial.models.threads import suited
from attrial.outside import submissions
from attrial.outside_rows import Sheet
from attrial.suite import suite_of
from attrial.task import Source
from attrial.trial import prepare
from attrial.value import Value

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = pd.DataFrame

Given: TypeAlias = "str | Path | Frame | Mapping[str, object] | Sequence[object]"


def score(
    given: Given,
    task: str | Path | None = None,
    *,
    model: ModelLike | None = None,
    data: Source = None,
    methods: Sequence[str] = (),
    metrics: Sequence[str] = (),
    removals: Sequence[str] = (),
    limit: int | None = None,
    budget: int | None = None,
    seed: int = 0,
    infill: str | Path | None = None,
    dtype: str | None = None,
    device: str | None = None,
    partial: bool = False,
    out: str | Path | None = None,
    batch_tokens: int | None = None,
    watch: Watch = unwatched,
    command: str = "",
) -> Board:
    """Score attributions that were made elsewhere, on one board with controls and with methods.

    One row is one attribution: ``id`` (the example's in the task) or ``text`` (and ``text_pair``),
    ``players`` (n strings, as the task cuts its texts), ``scores`` (n numbers, higher speaks more
    for the target), and if need be ``method`` (name of the board's row; by default the file's) and
    ``target`` (number or label of the class explained, which must be the predicted one). Other
    columns are not read.

    Args:
        given: A Parquet or JSON lines file, a pandas frame, a list of rows (dicts) or of files, a
            dict of columns, or a dict from methods' names to any of these.
        task: Name of a registered task, or path of a TOML file; the texts of ``data`` without one.
        model: Folder, Hub id, or loaded pair (model, tokenizer); the task's own by default.
        data: Instead of the task's data, as for ``run``.
        methods: Of attrial, to stand on the same board; none by default.
        metrics: As for ``run``.
        removals: The panel that metrics run under.
        limit: Examples, the first ones; rows of later ones are not read.
        budget: Of ``methods``, as for ``run``.
        seed: Of all draws.
        infill: As for ``run``.
        dtype: As for ``run``.
        device: As for ``run``.
        partial: Whether examples without a row count as undefined; they are refused otherwise.
        out: Folder for records and tables.
        batch_tokens: Tokens in one forward pass, padding included.
        watch: Gives the trial's progress callback by its name.
        command: The command that makes the board again.

    Raises:
        AttrialError: For a row that is wrong, doesn't fit its example or is missing: one line.
    """
    tasks = _tasks(task, data)
    handed_in = submissions(_sheets(given), partial=partial)
    suite = suite_of(
        tasks, methods,
        metrics=metrics, removals=removals, limit=limit, budget=budget, seed=seed, infill=infill,
        dtype=dtype, device=device,
    )  # fmt: skip
    return run_suite(
        suite, models=[] if model is None else [model], data=data,
        submissions=handed_in, out=out, batch_tokens=batch_tokens, watch=watch, command=command,
    )  # fmt: skip


def _tasks(task: str | Path | None, data: Source) -> list[str | Path]:
    if task is None and data is None:
        raise AttrialError("name the task whose examples are explained, or give data")
    return [] if task is None else [task]


def players(
    task: str | Path | None = None,
    *,
    model: ModelLike | None = None,
    data: Source = None,
    limit: int | None = None,
) -> list[dict[str, object]]:
    """What is to be scored: one dict an example, to which ``scores`` are added for ``score``.

    It has ``id``, ``text`` (and ``text_pair``), ``players`` (n strings) and ``target``, the label
    of the class that the model predicts, which is the one to explain.

    Args:
        task: As for ``score``.
        model: As for ``score``.
        data: As for ``score``.
        limit: Examples, the first ones.

    Raises:
        AttrialError: If the task, its data and the model don't fit.
    """
    suite = suite_of(_tasks(task, data), limit=limit)
    nothing_else = replace(asked.asked(suite), methods={}, metrics={})
    (found,) = asked.tasks(suite, data)
    own = None if model is not None else found.model_revision
    place = asked.own_model(found) if model is None else model
    prepared = prepare(nothing_else, found, classifier_of(place, revision=own), data)
    a, asked_model = prepared.assignment, prepared.model
    with suited(asked_model.forward.model):
        classes = predicted(Value(asked_model), prepared.examples, a.explained_under)
    named = zip(prepared.examples, classes, strict=True)
    return [_to_score(x, (x.names or asked_model.labels)[index]) for x, index in named]


def _to_score(x: Example, target: str) -> dict[str, object]:
    texts = dict(zip(("text", "text_pair"), x.text, strict=False))
    return {"id": x.id, **texts, "players": list(x.players), "target": target}


def _sheets(given: Given) -> Iterator[Sheet]:
    if isinstance(given, Mapping) and not {"players", "scores"} & set(given):
        for name, part in given.items():
            yield _named(str(name), part)
    elif isinstance(given, list | tuple) and given and all(map(_is_path, given)):
        yield from (outside_rows.from_file(Path(path)) for path in given)
    else:
        yield _named("given", given)


def _is_path(value: object) -> bool:
    return isinstance(value, str | Path)


def _named(name: str, given: object) -> Sheet:
    """One source under a name; a file keeps its own unless a name was given with it."""
    import pandas as pd

    if isinstance(given, str | Path):
        sheet = outside_rows.from_file(Path(given))
        return sheet if name == "given" else Sheet(name, sheet.shipped_by, sheet.rows)
    if isinstance(given, pd.DataFrame):
        return outside_rows.from_frame(name, given)
    if isinstance(given, Mapping):
        return outside_rows.from_columns(name, given)
    if isinstance(given, Sequence):
        return outside_rows.from_memory(name, given)
    raise AttrialError(
        f"give a file, a pandas frame, rows or columns, not a value of type {type(given).__name__}"
    )
