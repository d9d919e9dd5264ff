"""A chunk of examples on trial: methods explain side by side, then metrics ask side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from attrial.ask import Asking, Noted
from attrial.assignment import Assignment, Job, seed_of
from attrial.curves import normalise
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Scores
from attrial.plugin_call import Metric
from attrial.record import Trial
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
    """Values of a chunk's cells, reasons where there is none, and what was noted on the way."""

    values: dict[Cell, float] = field(default_factory=dict)
    reasons: dict[Cell, str] = field(default_factory=dict)
    curves: dict[Place, dict[str, list[float]]] = field(default_factory=dict)
    notes: dict[Place, dict[str, float]] = field(default_factory=dict)


def predicted(value: Value, examples: Sequence[Example], removal: str) -> list[int]:
    """The class of the highest output on each full input; it stays fixed from here on."""
    subjects = [Subject(x, removal, Target(0, "logit")) for x in examples]
    full = [np.ones((1, x.n), bool) for x in examples]
    value.keep(list(zip(subjects, full, strict=True)))
    outputs = [value.known(s).rows_of(m)[0] for s, m in zip(subjects, full, strict=True)]
    return [int(np.argmax(o)) for o in outputs]


def explain(
    a: Assignment,
    value: Value,
    labels: Iterable[str],
    examples: Sequence[Example],
    classes: Sequence[int],
) -> dict[tuple[str, int], Explained]:
    """Scores of the named methods on every example, keyed by (label, example number)."""
    seats = [(label, i) for label in labels for i in range(len(examples))]

    def askers() -> Iterator[tuple[Subject, Asking[Scores]]]:
        for label, i in seats:
            x = examples[i]
            subject = Subject(x, a.explained_under, Target(classes[i], a.function))
            yield subject, a.methods[label](x, seed_of(a.seed, x))

    answers = answer(value, askers())
    return {seat: _explained(got) for seat, got in zip(seats, answers, strict=True)}


def _explained(got: Answer[Scores]) -> Explained:
    reason = f"no scores: {got.undefined}" if got.result is None else ""
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
    measured = Measured()
    removals = list(dict.fromkeys(job.removal for job in wanted))
    searched = _search(a, value, removals, examples, classes)
    cells: list[Cell] = []
    seats: list[tuple[Subject, Asking[float]]] = []
    ranked = {(job.label, job.removal): None for job in wanted if not job.control}
    ranked |= {
        (c, r): None for c in ("random_order", "best_order", "worst_order") for r in removals
    }
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
    return measured


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
    return Subject(x, removal, Target(index, metric.reads))


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


def trials(
    a: Assignment,
    job: Job,
    examples: Sequence[Example],
    classes: Sequence[int],
    explained: Mapping[tuple[str, int], Explained],
    measured: Measured,
) -> list[Trial]:
    """One job's part of a chunk, ready to be stored."""
    return [
        _trial(a, job, i, x, classes[i], explained.get((job.label, i)), measured)
        for i, x in enumerate(examples)
    ]


def _trial(
    a: Assignment,
    job: Job,
    i: int,
    x: Example,
    index: int,
    own: Explained | None,
    measured: Measured,
) -> Trial:
    names = list(a.measured(job.removal))
    values = {n: measured.values.get((job.label, job.removal, n, i)) for n in names}
    reasons = {
        n: measured.reasons[job.label, job.removal, n, i] for n in names if values[n] is None
    }
    normalised, without = _all_normalised(measured, job, names, i)
    place = (job.label, job.removal, i)
    return Trial(
        id=x.id,
        players=list(x.players),
        scores=[] if own is None or own.scores is None else own.scores.tolist(),
        truth=None if x.truth is None else x.truth.tolist(),
        target=index,
        label=x.label,
        truncated=x.truncated,
        values=values,
        normalised=normalised,
        reasons=reasons | without,
        curves=measured.curves.get(place, {}),
        notes={**(own.notes if own else {}), **measured.notes.get(place, {})},
        cost={} if own is None else dict(own.cost),
    )


def _all_normalised(
    measured: Measured, job: Job, names: Sequence[str], i: int
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Normalised values of one example, and why where there is none."""
    found: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for name in names:
        try:
            found[name] = _normalised(measured, job, name, i)
        except Undefined as why:
            found[name] = None
            reasons[f"{name}/normalised"] = str(why)
    return found, reasons


def _normalised(measured: Measured, job: Job, name: str, i: int) -> float:
    def of(who: str) -> float:
        cell = (who, job.removal, name, i)
        if cell not in measured.values:
            raise Undefined(measured.reasons.get(cell, "unknown"))
        return measured.values[cell]

    return normalise(of(job.label), of("best_order"), of("worst_order"))
