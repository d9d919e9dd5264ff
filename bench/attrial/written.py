"""What was measured on a chunk of examples, as trials that are ready to be stored."""

from collections.abc import Mapping, Sequence

from attrial.assignment import Assignment, Job
from attrial.chunk import Explained, Measured
from attrial.curves import normalise
from attrial.errors import Undefined
from attrial.example import Example
from attrial.record import Trial


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
        swapped=_swapped(measured, job, names, i),
        names=list(x.names),
    )


def _swapped(measured: Measured, job: Job, names: Sequence[str], i: int) -> dict[str, float | None]:
    cells = {name: (job.label, job.removal, name, i) for name in names}
    return {n: measured.swapped[cell] for n, cell in cells.items() if cell in measured.swapped}


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
