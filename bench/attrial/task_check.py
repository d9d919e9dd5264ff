"""A task tried on its first examples: what was understood, and a line for each fault."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attrial.classifiers import classifier_of
from attrial.errors import AttrialError
from attrial.example import FIXED, Example
from attrial.models.text import TextClassifier
from attrial.task import Columns, Item, Source, Task, Tried, load_task, source_name, tried
from attrial.trial import examples_of

SHOWN = 12  # players of the first example
EXAMPLES = 10


@dataclass(frozen=True)
class TaskChecked:
    """What a check of a task found.

    Attributes:
        lines: What was understood.
        faults: What is wrong; empty where the task can be run.
    """

    lines: tuple[str, ...]
    faults: tuple[str, ...]

    def text(self) -> str:
        """All of it, a line each."""
        return "\n".join([*self.lines, *(f"fault: {fault}" for fault in self.faults)])


def check_task(
    name: str | Path,
    *,
    data: Source = None,
    model: str | Path | None = None,
    split: str | None = None,
    limit: int = EXAMPLES,
) -> TaskChecked:
    """Read the first examples of a task and, with a model, cut them into players.

    Args:
        name: A task's name, or its TOML file.
        data: Instead of the task's own data.
        model: Folder or Hub id; the task's own by default.
        split: Instead of the task's.
        limit: How many examples.

    Raises:
        AttrialError: If there is no such task, or its file is wrong.
    """
    task = load_task(name)
    lines = [*_of_task(task)]
    try:
        found = tried(task, data=data, limit=limit, split=split)
    except AttrialError as error:
        return TaskChecked(tuple(lines), (str(error),))
    lines += _of_data(task, found, task.source if data is None else source_name(data))
    more, faults = _of_model(task, found.items, model)
    return TaskChecked((*lines, *more), (*found.faults, *faults))


def _of_task(task: Task) -> Iterator[str]:
    yield f"task: {task.name}: {task.description}"
    yield f"needs: a model of the kind {task.asks!r}; {task.needs or 'nothing else'}"
    yield f"asks: {task.target}; players {task.players}; removals {', '.join(task.removals)}"


def _of_data(task: Task, found: Tried, source: str) -> Iterator[str]:
    yield f"data: {source}: {len(found.items)} examples read, {len(found.faults)} faults"
    if found.names:
        yield f"columns: {_columns(found.columns)}; the data have {', '.join(found.names)}"
    if task.labels:
        counts = Counter(item.label for item in found.items)
        told = [f"{name} {counts[i]}" for i, name in enumerate(task.labels)]
        yield f"labels: {', '.join(told)}; none {counts[None]}"
    known = sum(item.evidence is not None or item.boxes is not None for item in found.items)
    yield f"evidence: known of {known} of {len(found.items)}"
    yield from _of_first(found.items)


def _columns(columns: Columns) -> str:
    parts = {
        "image": columns.image,
        "text": _text_of(columns),
        "label": columns.label,
        "evidence": ", ".join(columns.evidence)
        and f"{', '.join(columns.evidence)} ({columns.form})",
        "players": columns.spans,
        "continuations": ", ".join(columns.asked.names) if columns.asked else None,
    }
    return "; ".join(f"{part} = {name}" for part, name in parts.items() if name)


def _text_of(columns: Columns) -> str:
    if columns.asked and columns.asked.minimal_pair:
        return "what both sentences begin with"
    return columns.template or ", ".join(columns.texts)


def _of_first(items: Sequence[Item]) -> Iterator[str]:
    if not items:
        return
    first = items[0]
    for text in first.texts:
        yield f"first text: {_short(text)}"
    told = [first.texts[i][start:end] for i, start, end in first.evidence or ()]
    if told:
        yield f"its evidence: {' | '.join(map(_short, told[:SHOWN]))}"
    if first.options:
        yield f"its continuations: {' | '.join(map(repr, first.options))}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}\N{HORIZONTAL ELLIPSIS}"


def _of_model(
    task: Task, items: Sequence[Item], model: str | Path | None
) -> tuple[list[str], list[str]]:
    """What a model makes of the items, and what it can't make of them."""
    place = model or task.model
    if place is None:
        return ["model: none; give one with --model DIR to see players and lengths"], []
    try:
        asked = classifier_of(place, revision=None if model else task.model_revision)
    except AttrialError as error:
        return [], [str(error)]
    lines = [f"model: {asked.spec.name}: {', '.join(asked.labels) or 'continuations'}"]
    made, faults = _examples(task, asked, items)
    for removal in task.removals:
        if removal not in asked.removals:
            can = ", ".join(asked.removals)
            faults.append(f"{asked.spec.name} can't do the removal {removal!r}; it can do {can}")
    return [*lines, *_of_examples(made, asked.limit)], faults


def _examples(
    task: Task, model: TextClassifier, items: Sequence[Item]
) -> tuple[list[Example], list[str]]:
    made, faults = list[Example](), list[str]()
    for item in items:
        try:
            made += examples_of(task, model, [item])
        except AttrialError as error:
            faults.append(str(error))
    return made, list(dict.fromkeys(faults))


def _of_examples(made: Sequence[Example], limit: int) -> Iterator[str]:
    if not made:
        return
    first = made[0]
    more = f" | and {first.n - SHOWN} more" if first.n > SHOWN else ""
    names = " | ".join(map(_short, first.players[:SHOWN]))
    yield f"players of the first ({first.n}): {names}{more}"
    if first.truth is not None:
        told = [p for p, known in zip(first.players, first.truth, strict=True) if known]
        yield f"evidence among them ({len(told)}): {' | '.join(map(_short, told[:SHOWN]))}"
    fixed = int((first.owner == FIXED).sum())
    yield f"positions of the first: {len(first.ids)}, {fixed} of them fixed"
    lengths, players = [len(x.ids) for x in made], [x.n for x in made]
    yield (
        f"lengths: {min(lengths)} to {max(lengths)} positions (the model takes {limit}), "
        f"{min(players)} to {max(players)} players"
    )
    cut = [x.truncated for x in made if x.truncated]
    yield f"cut: {len(cut)} of {len(made)} texts" + (f", up to {max(cut)} words" if cut else "")
