"""Methods on trial: examples go in, records come out; what is finished is never done again."""

import hashlib
import math
import platform
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np

from attrial import chunk, stats, written
from attrial.assignment import Assignment, Job, chunks, jobs
from attrial.errors import NOT_APPLICABLE, NotApplicable
from attrial.example import Example
from attrial.masks import keys
from attrial.record import Cell, Cost, Record, Trial
from attrial.removal import draws
from attrial.store import Entry, Store
from attrial.value import Known, Model, Value

CHUNK = 8  # examples that are tried together and checkpointed together
REPORTED = ("attrial", "torch", "transformers", "numpy", "scipy")
Progress = Callable[[int, int, int], None]  # examples done, examples in all, rows computed
Watch = Callable[[str], Progress]  # from a trial's name to its progress


def silent(done: int, total: int, rows: int) -> None:
    """No progress shown."""


def unwatched(name: str) -> Progress:
    """No trial is watched."""
    return silent


def evaluate(
    a: Assignment,
    model: Model,
    examples: Sequence[Example],
    store: Store,
    *,
    progress: Progress = silent,
    chunk_size: int = CHUNK,
) -> list[Entry]:
    """Try every method of an assignment on every example and store what came out.

    A record that the store has is not made again; a run that was interrupted goes on at the first
    chunk that it lacks. The result doesn't depend on what was interrupted or done before.

    Returns:
        The entries of all jobs, in the order of ``assignment.jobs``.

    Raises:
        NotApplicable: If a metric, or every method, asks what this model can't answer, be it that
            this turns out on every example. Where only some do, their cells say so.
    """
    _must_answer(a, model)
    lacks = lacking(a, model)
    if a.methods and all(label in lacks for label in a.methods):
        raise NotApplicable("; ".join(_without(label, why) for label, why in lacks.items()))
    started = time.monotonic()
    everything = jobs(a)
    missing = [job for job in everything if not _done(job, a, store, lacks)]
    done = 0
    value = Value(model, watch=lambda rows: progress(done, len(examples), rows))
    for number, part in chunks(examples, chunk_size) if missing else ():
        wanted = [job for job in missing if number not in store.parts(job.spec.digest)]
        if wanted:
            _try_chunk(a, value, wanted, part, number, store, lacks)
        done += len(part)
        progress(done, len(examples), value.computed)
    for job in missing:
        _finish(job, a, store, time.monotonic() - started)
    entries = [store.get(job.spec.digest) for job in everything]
    _check_applicable(a, entries)
    return entries


def lacking(a: Assignment, model: Model) -> dict[str, str]:
    """Labels of the methods that this model can't answer, each with the reason for its cells."""
    wanted = {label: sorted(set(m.asks) - model.answers) for label, m in a.explainers.items()}
    return {label: _lack(asks[0]) for label, asks in wanted.items() if asks}


def _lack(question: str) -> str:
    """The reason of a method's cells whose question the model doesn't answer at all."""
    return f"{NOT_APPLICABLE}: needs {question!r}, which this model can't answer"


def _must_answer(a: Assignment, model: Model) -> None:
    """Refuse metrics that ask what the model can't answer: no method would have a value."""
    for name, metric in a.metrics.items():
        for question in sorted(set(metric.asks) - model.answers):
            raise NotApplicable(f"metric {name} needs {question!r}, which this model can't answer")


def _without(label: str, why: str) -> str:
    return f"method {label} is {why}"


def _done(job: Job, a: Assignment, store: Store, lacks: Mapping[str, str]) -> bool:
    """Whether nothing is left to do: what the model lacked is tried once it answers that.

    What turned out not applicable while the method asked would turn out so again.
    """
    if not store.has(job.spec.digest):
        return False
    cells = store.get(job.spec.digest).record.cells.values()
    lacked = {_lack(q) for q in a.explainers[job.label].asks} if job.explains else set()
    return job.label in lacks or not any(lacked & set(cell.undefined) for cell in cells)


def _check_applicable(a: Assignment, entries: Sequence[Entry]) -> None:
    """Refuse a run in which no method that was asked for gave scores to any example."""
    cells = [(e.record.spec.label, cell) for e in entries for cell in e.record.cells.values()]
    cells = [each for each in cells if each[0] in a.methods]
    why = [(label, reason) for label, cell in cells for reason in cell.undefined]
    late = why and all(reason.startswith(NOT_APPLICABLE) for _, reason in why)
    if late and not any(cell.n for _, cell in cells):
        raise NotApplicable("; ".join(_without(*each) for each in dict(why).items()))


def _try_chunk(
    a: Assignment,
    value: Value,
    wanted: Sequence[Job],
    part: Sequence[Example],
    number: int,
    store: Store,
    lacks: Mapping[str, str],
) -> None:
    removals = list(dict.fromkeys([a.explained_under, *(job.removal for job in wanted)]))
    places = [(_decisive(a, removal), x, removal) for x in part for removal in removals]
    with _remembering(value, store, places):
        classes = chunk.predicted(value, part, a.explained_under)
        labels = list(dict.fromkeys(job.label for job in wanted if job.explains))
        explained = chunk.explain(a, value, labels, part, classes, lacks)
        measured = chunk.measure(a, value, wanted, part, classes, explained)
    for job in wanted:
        store.put_part(
            job.spec.digest, number, written.trials(a, job, part, classes, explained, measured)
        )
    value.forget(part)


@contextmanager
def _remembering(
    value: Value, store: Store, places: Sequence[tuple[str, Example, str]]
) -> Iterator[None]:
    """What the store remembers of these places, and then what was asked, even if a plugin fails."""
    before = [_recall(value, store, *place) for place in places]
    try:
        yield
    finally:
        for place, known in zip(places, before, strict=True):
            _remember(value, store, *place, known)


def _decisive(a: Assignment, removal: str) -> str:
    """All of the model that decides its outputs under a removal."""
    filler = (a.model.infill or "") if draws(removal) else ""
    return a.model.weights + a.model.dtype + (a.model.device or "") + filler


def _memory_key(weights: str, x: Example, removal: str) -> str:
    return hashlib.sha256(f"{weights}|{x.digest}|{removal}".encode()).hexdigest()


def _recall(value: Value, store: Store, weights: str, x: Example, removal: str) -> int:
    """Read what earlier runs asked about this example, so that nobody need ask again: its rows."""
    kept = store.get_outputs(_memory_key(weights, x, removal))
    if kept is None:
        return 0
    masks, outputs = kept
    value.memory[x.digest, removal] = Known()
    value.memory[x.digest, removal].add(keys(masks), outputs)
    return len(masks)


def _remember(
    value: Value, store: Store, weights: str, x: Example, removal: str, before: int
) -> None:
    known = value.memory.get((x.digest, removal))
    if known is not None and len(known.index) > before:
        store.put_outputs(_memory_key(weights, x, removal), known.masks(x.n), known.outputs)


def _finish(job: Job, a: Assignment, store: Store, seconds: float) -> None:
    """Gather a job's chunks into its record."""
    trials = [t for _, part in sorted(store.parts(job.spec.digest).items()) for t in part]
    metrics = a.measured(job.removal)
    record = Record(
        spec=job.spec,
        facts={name: metric.facts for name, metric in metrics.items()},
        cells={name: _cell(name, trials, a.seed) for name in metrics},
        warnings=_warnings(trials),
        cost=_cost(trials, seconds),
        made_with=made_with(),
        labels=list(a.labels),
        about=a.about,
        asks=a.asks,
    )
    store.put(record, trials)
    store.clear_parts(job.spec.digest)


def _cell(name: str, trials: Sequence[Trial], seed: int) -> Cell:
    found = [v for t in trials if (v := t.values[name]) is not None]
    normal = [v for t in trials if (v := t.normalised[name]) is not None]
    low, high = stats.bootstrap_mean(np.array(found), seed=seed) if found else (None, None)
    reasons = Counter(t.reasons[name] for t in trials if t.values[name] is None)
    return Cell(
        value=_mean(found),
        low=low,
        high=high,
        normalised=_mean(normal),
        n=len(found),
        undefined=dict(sorted(reasons.items())),
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _warnings(trials: Sequence[Trial]) -> dict[str, int]:
    """How many examples were cut, and on how many a method says that it fell short of its aim."""
    counts = {
        "truncated": sum(t.truncated > 0 for t in trials),
        "not converged": sum(t.notes.get("converged") == 0 for t in trials),
        "bounded": sum(t.notes.get("bounded") == 1 for t in trials),
        "bounded search": sum(any(name.endswith(".bounded") for name in t.notes) for t in trials),
    }
    return {name: count for name, count in counts.items() if count}


def _cost(trials: Sequence[Trial], seconds: float) -> Cost:
    asked: Counter[str] = Counter()
    for trial in trials:
        asked.update(trial.cost)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scale = 1 if sys.platform == "darwin" else 1024  # Linux counts in kilobytes, macOS in bytes
    return Cost(**asked, seconds=seconds, peak_bytes=peak * scale)


def made_with() -> dict[str, str]:
    """Versions, machine and date: provenance that decides no number."""
    versions = {name: version(name) for name in REPORTED}
    return versions | {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
