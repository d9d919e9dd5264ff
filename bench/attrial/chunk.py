"""A chunk of examples on trial: methods explain side by side, then metrics ask side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from attrial.ask import Asking, Noted
from attrial.assignment import CONTROLS, Assignment, Job, seed_of
from attrial.errors import NOT_APPLICABLE
from attrial.example import Example
from attrial.masks import Scores
from attrial.plugin_call import Metric
from attrial.reread import OTHER, reread
from attrial.target import Target
from attrial.value import Answer, Subject, Value, answer

Cell = tuple[str, str, str, int]  # who (a label), removal, metric, example
Place = tuple[str, str, int]  # who, removal, example


@dataclass(frozen=True)
class Explained:
    """One example's scores by one method, or why there are none; what it noted and asked for."""

    scores: Scores | None
    reason: str
    notes: Mapping[str, Noted]
    cost: Mapping[str, int]


@dataclass
class Measured:
    """Values of a chunk's cells, reasons where there is none, and what was noted on the way.

    ``swapped`` holds the values that are read through the other function of the target.
    """

    values: dict[Cell, float] = field(default_factory=dict)
    reasons: dict[Cell, str] = field(default_factory=dict)
    curves: dict[Place, dict[str, list[float]]] = field(default_factory=dict)
    notes: dict[Place, dict[str, float]] = field(default_factory=dict)
    swapped: dict[Cell, float | None] = field(default_factory=dict)


def predicted(value: Value, examples: Sequence[Example], removal: str) -> list[int]:
    """The class that is explained of each example; it stays fixed from here on.

    It is the class of the highest output on the full input, but for examples that say themselves
    which of the continuations is explained.
    """
    subjects = [Subject(x, removal, Target(0, "logit")) for x in examples]
    full = [np.ones((1, x.n), bool) for x in examples]
    value.keep(list(zip(subjects, full, strict=True)))
    outputs = [value.known(s).rows_of(m)[0] for s, m in zip(subjects, full, strict=True)]
    best = [int(np.argmax(o)) for o in outputs]
    return [b if x.explained is None else x.explained for x, b in zip(examples, best, strict=True)]


def explain(
    a: Assignment,
    value: Value,
    labels: Iterable[str],
    examples: Sequence[Example],
    classes: Sequence[int],
    lacking: Mapping[str, str],
) -> dict[tuple[str, int], Explained]:
    """Scores of the named methods on every example, keyed by (label, example number).

    ``lacking`` says of the labels that the model can't answer why that is so; they are not asked.
    """
    numbers = range(len(examples))
    seats = [(label, i) for label in labels if label not in lacking for i in numbers]
    none = {(k, i): Explained(None, why, {}, {}) for k, why in lacking.items() for i in numbers}

    def askers() -> Iterator[tuple[Subject, Asking[Scores]]]:
        for label, i in seats:
            x = examples[i]
            subject = Subject(x, a.explained_under, Target.of(x, classes[i], a.function))
            yield subject, a.explainers[label](x, seed_of(a.seed, x))

    answers = answer(value, askers(), spared=True)
    return none | {seat: _explained(got) for seat, got in zip(seats, answers, strict=True)}


def _explained(got: Answer[Scores]) -> Explained:
    why = got.undefined or ""
    lacks = why.startswith(NOT_APPLICABLE)
    reason = "" if got.result is not None else why if lacks else f"no scores: {got.undefined}"
    return Explained(got.result, reason, got.notes, asdict(got.cost))


def measure(
    a: Assignment,
    value: Value,
    wanted: Sequence[Job],
    examples: Sequence[Example],
    classes: Sequence[int],
    explained: Mapping[tuple[str, int], Explained],
) -> Measured:
    """Every metric of every wanted job on every example, controls included."""
    removals = list(dict.fromkeys(job.removal for job in wanted))
    searched = _search(a, value, removals, examples, classes)
    measured = Measured(notes=_of_search(searched))
    cells: list[Cell] = []
    seats: list[tuple[Subject, Asking[float]]] = []
    ranked = {(job.label, job.removal): None for job in wanted if job.explains}
    ranked |= {(c, r): None for c in CONTROLS for r in removals}
    for (who, removal), (name, metric), i in _cells(a, ranked, len(examples)):
        asker = _asker(metric, who, examples[i], searched, explained, (removal, name, i), a.seed)
        if asker is not None:
            cells.append((who, removal, name, i))
            seats.append((_subject(examples[i], removal, classes[i], metric), asker))
        else:
            own = explained.get((who, i))
            measured.reasons[who, removal, name, i] = (
                own.reason if own else _why(searched.get((removal, name, i)))
            )
    for cell, got in zip(cells, answer(value, seats), strict=True):
        _enter(measured, cell, got)
    _read_otherwise(a, value, measured, examples, classes, explained)
    return measured


def _read_otherwise(
    a: Assignment,
    value: Value,
    measured: Measured,
    examples: Sequence[Example],
    classes: Sequence[int],
    explained: Mapping[tuple[str, int], Explained],
) -> None:
    """Read faithfulness through the other function of the target: it costs no forward."""
    for who, removal, name, i in measured.values:
        metric, own = a.metrics[name], explained.get((who, i))
        function = OTHER.get(metric.reads)
        if own is None or own.scores is None or function is None:
            continue
        if metric.facts.family == "faithfulness":
            subject = Subject(examples[i], removal, Target.of(examples[i], classes[i], function))
            asker = metric.value(examples[i], own.scores, seed_of(a.seed, examples[i]))
            measured.swapped[who, removal, name, i] = reread(value, subject, asker)


def _why(searched: Answer[tuple[Scores, Scores]] | None) -> str:
    if searched is None or searched.undefined is None:
        return "the metric has no best and worst order"
    return searched.undefined


def _cells(
    a: Assignment, ranked: Iterable[tuple[str, str]], count: int
) -> Iterator[tuple[tuple[str, str], tuple[str, Metric], int]]:
    for who, removal in ranked:
        for name_metric in a.measured(removal).items():
            for i in range(count):
                yield (who, removal), name_metric, i


def _subject(x: Example, removal: str, index: int, metric: Metric) -> Subject:
    return Subject(x, removal, Target.of(x, index, metric.reads))


def _search(
    a: Assignment,
    value: Value,
    removals: Sequence[str],
    examples: Sequence[Example],
    classes: Sequence[int],
) -> dict[tuple[str, str, int], Answer[tuple[Scores, Scores]]]:
    """Best and worst scores of each removal, metric and example."""
    places = [
        (removal, name, i)
        for removal in removals
        for name, metric in a.measured(removal).items()
        for i in range(len(examples))
        if metric.has_extremes
    ]
    seats = [
        (
            _subject(examples[i], removal, classes[i], a.metrics[name]),
            a.metrics[name].extremes(examples[i], seed_of(a.seed, examples[i])),
        )
        for removal, name, i in places
    ]
    return dict(zip(places, answer(value, seats), strict=True))


def _of_search(
    searched: Mapping[tuple[str, str, int], Answer[tuple[Scores, Scores]]],
) -> dict[Place, dict[str, float]]:
    """What the searches noted, as notes of the orders that they found."""
    notes: dict[Place, dict[str, float]] = {}
    for (removal, metric, i), got in searched.items():
        for name, noted in got.notes.items():
            for who in ("best_order", "worst_order"):
                if not isinstance(noted, list):
                    notes.setdefault((who, removal, i), {})[f"{metric}.{name}"] = noted
    return notes


def _asker(
    metric: Metric,
    who: str,
    x: Example,
    searched: Mapping[tuple[str, str, int], Answer[tuple[Scores, Scores]]],
    explained: Mapping[tuple[str, int], Explained],
    place: tuple[str, str, int],
    seed: int,
) -> Asking[float] | None:
    """The asker of one cell; None where there is no order to be measured."""
    own = seed_of(seed, x)
    if who == "random_order":
        return metric.expected(x, own)
    if who in ("best_order", "worst_order"):
        found = searched.get(place)
        if found is None or found.result is None:
            return None
        return metric.value(x, found.result[who == "worst_order"], own)
    scores = explained[who, place[2]].scores
    return None if scores is None else metric.value(x, scores, own)


def _enter(measured: Measured, cell: Cell, got: Answer[float]) -> None:
    who, removal, metric, i = cell
    if got.result is None:
        measured.reasons[cell] = got.undefined or "unknown"
    else:
        measured.values[cell] = float(got.result)
    for name, noted in got.notes.items():
        if isinstance(noted, list):
            measured.curves.setdefault((who, removal, i), {})[name] = noted
        else:
            measured.notes.setdefault((who, removal, i), {})[f"{metric}.{name}"] = noted
