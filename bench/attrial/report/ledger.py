"""What the runs cost, what methods noted, what made the numbers: the tables at a page's foot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from attrial.record import PluginSpec, Record
from attrial.store import Entry


@dataclass(frozen=True)
class CostLine:
    """What a method asked for on one task; ``rows`` and passes are means per example."""

    method: str
    rows: float
    computed: float
    slopes: float
    attends: float


@dataclass(frozen=True)
class NoteLine:
    """What a method noted of itself on one task, over the examples."""

    method: str
    note: str
    median: float
    largest: float


@dataclass(frozen=True)
class Told:
    """What a task is, in a line, and the kind of model that it is for; "" where no record says."""

    about: str = ""
    asks: str = ""


def told(entries: Iterable[Entry]) -> Told:
    """What the records of one task say of it; the first that says anything."""
    records = [e.record for e in entries]
    return next((Told(r.about, r.asks) for r in records if r.about or r.asks), Told())


def about(entries: Iterable[Entry]) -> dict[str, str]:
    """Each task in a line, by its name, where a record says it."""
    return {e.record.spec.data.task: e.record.about for e in entries if e.record.about}


def own(entries: Iterable[Entry]) -> list[Entry]:
    """Records of methods under the removal that they explained under: each explanation once."""
    return [
        e
        for e in entries
        if not e.record.spec.control and e.record.spec.removal == e.record.spec.explained_under
    ]


def costs(entries: Iterable[Entry]) -> list[CostLine]:
    """What each method asked for itself, per example."""
    return [_cost(e.record, max(len(e.trials), 1)) for e in own(entries)]


def _cost(record: Record, n: int) -> CostLine:
    cost = record.cost
    parts = (cost.rows, cost.computed, cost.slopes, cost.attends)
    return CostLine(record.spec.label, *(part / n for part in parts))


def seconds(entries: Iterable[Entry]) -> float:
    """Wall seconds of the longest of the runs that made these records together."""
    return max((e.record.cost.seconds for e in entries), default=0.0)


def peak_gigabytes(entries: Iterable[Entry]) -> float:
    """Highest peak memory of the runs that made these records."""
    return max((e.record.cost.peak_bytes for e in entries), default=0) / 1e9


def notes(entries: Iterable[Entry]) -> list[NoteLine]:
    """Every number that methods noted, over the examples on which they noted it."""
    return [line for e in own(entries) for line in _notes(e)]


def _notes(entry: Entry) -> list[NoteLine]:
    found: dict[str, list[float]] = {}
    for trial in entry.trials:
        for name, noted in trial.notes.items():
            if not isinstance(noted, list):
                found.setdefault(name, []).append(noted)
    label = entry.record.spec.label
    return [NoteLine(label, name, median(v), max(v)) for name, v in sorted(found.items())]


def warnings(entries: Sequence[Entry]) -> dict[str, dict[str, int]]:
    """Warnings and how many examples they concern, by the method; "" where all say the same."""
    found: dict[str, dict[str, int]] = {}
    for e in entries:
        for name, times in e.record.warnings.items():
            found.setdefault(name, {}).setdefault(e.record.spec.label, times)
    everyone = len({e.record.spec.label for e in entries})
    return {
        name: {"": max(by.values())} if len(by) == everyone and len(set(by.values())) == 1 else by
        for name, by in found.items()
    }


def versions(entries: Iterable[Entry]) -> dict[str, str]:
    """What made the records; several values where they differ."""
    found: dict[str, dict[str, None]] = {}
    for e in entries:
        for name, value in e.record.made_with.items():
            found.setdefault(name, {})[value] = None
    return {name: ", ".join(sorted(values)) for name, values in sorted(found.items())}


def plugins(specs: Iterable[PluginSpec]) -> list[PluginSpec]:
    """Each method or metric once, by name."""
    unique = {spec.model_dump_json(exclude={"class_specific"}): spec for spec in specs}
    return sorted(unique.values(), key=lambda s: (s.label, s.version, s.shipped_by))
