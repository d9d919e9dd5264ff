"""Records to a ranked table: one flat row per task, model, removal, method and metric. Pure."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from attrial import stats
from attrial.masks import Bools, Floats, Values
from attrial.record import Spec
from attrial.row import Row as Row
from attrial.row import frame as frame
from attrial.row import to_csv as to_csv
from attrial.row import to_json as to_json
from attrial.store import Entry

ALPHA = 0.05
# In the order of their rows.
CONTROLS = ("best_order", "random_order", "constant", "position", "worst_order")
BEYOND = 1 + 1e-9  # a normalised value above this ranks better than the best order that was found

Place = tuple[str | int | bool, ...]  # what one board has in common, in the order of the tables
Seat = tuple[Entry, str]  # a record and one of its metrics


def rows(entries: Sequence[Entry]) -> list[Row]:
    """Every metric of every record, ranked within its board; the order of entries is free.

    A board is what can be compared: the same examples, model, players, target, removals, seed and
    metric with its arguments and version. Methods are compared pairwise on the examples that both
    define, by sign-flip tests with Holm's correction over all pairs of the board. Of a run that is
    there twice the first is read.
    """
    boards: dict[tuple[Place, str], list[Seat]] = {}
    for entry, infill in settled(entries):
        for metric in entry.record.spec.metrics:
            boards.setdefault((_place(entry, metric, infill), infill), []).append((entry, metric))
    return [
        row
        for (_, infill), seats in sorted(boards.items())
        for row in _board(_each_once(seats), infill)
    ]


def settled(entries: Sequence[Entry]) -> list[tuple[Entry, str]]:
    """Each run once, with what draws stand-ins where it stands: empty if nothing does.

    Two models that draw stand-ins make two boards. A run that asked for none reads the same beside
    any: it joins the only one there is, unless a run with that one holds the same already.
    """
    unique = {e.record.spec.digest: e for e in reversed(entries)}
    known: dict[str, set[str]] = {}
    for e in unique.values():
        if e.record.spec.model.infill:
            known.setdefault(_stage(e.record.spec), set()).add(e.record.spec.model.infill)
    found: dict[str, tuple[Entry, str]] = {}
    for e in sorted(unique.values(), key=lambda e: e.record.spec.model.infill is None):
        spec = e.record.spec
        only = known.get(_stage(spec), set())
        infill = spec.model.infill or (min(only) if len(only) == 1 else "")
        found.setdefault(_with(spec, infill).digest, (e, infill))
    return sorted(found.values(), key=lambda pair: pair[0].record.spec.digest)


def _with(spec: Spec, infill: str) -> Spec:
    model = spec.model.model_copy(update={"infill": infill or None})
    return spec.model_copy(update={"model": model})


def _stage(spec: Spec) -> str:
    """All that a task's boards have in common, but what draws stand-ins."""
    common = {"data", "model", "players", "target", "explained_under", "seed"}
    return json.dumps(_with(spec, "").model_dump(mode="json", include=common), sort_keys=True)


def _each_once(seats: Sequence[Seat]) -> list[Seat]:
    """A control that another run ranks as a method competes, and is not shown twice."""
    methods = {e.record.spec.label for e, _ in seats if not e.record.spec.control}
    return [
        (e, metric)
        for e, metric in seats
        if not (e.record.spec.control and e.record.spec.label in methods)
    ]


def _place(entry: Entry, metric: str, infill: str) -> Place:
    spec, facts = entry.record.spec, entry.record.facts[metric]
    plugin = spec.metrics[metric]
    return (
        *(spec.data.task, spec.model.name, spec.model.revision or "", spec.model.weights),
        *(
            spec.model.dtype,
            infill,
            spec.data.digest,
            spec.players,
            spec.target,
            spec.explained_under,
        ),
        # Tables open with the removal that methods explained under, and with faithfulness.
        *(spec.removal != spec.explained_under, spec.removal),
        *(facts.family != "faithfulness", facts.family, metric, plugin.name, plugin.version),
        *(json.dumps(plugin.args, sort_keys=True), spec.seed),
    )


def _board(seats: Sequence[Seat], infill: str) -> list[Row]:
    """Rows of one board: methods best first, then what is not ranked, then controls."""
    values = _values(seats)
    ranked = sorted(_ranked(seats), key=lambda i: _by_value(seats[i]))
    higher = seats[0][0].record.facts[seats[0][1]].higher_is_better
    seed = seats[0][0].record.spec.seed
    found = stats.compare(values[ranked], higher=higher, alpha=ALPHA, seed=seed)
    intervals = _intervals(found.better, values[ranked])
    letters = stats.tied_groups(found.better | found.better.T)
    chance = _versus_random(values, seats, ranked, higher, seed)
    extras = {
        i: {"rank_low": low, "rank_high": high, "tied": tied, "versus_random": versus}
        for i, (low, high), tied, versus in zip(ranked, intervals, letters, chance, strict=True)
    }
    rest = sorted(set(range(len(seats))) - set(ranked), key=lambda i: _by_value(seats[i]))
    return [
        _row(seats[i], {**extras.get(i, {}), "infill": infill or None}) for i in (*ranked, *rest)
    ]


def _intervals(better: Bools, values: Floats) -> list[tuple[int, int]]:
    """Ranks that each method may have; no first one for values on fewer examples than others'."""
    counts = (~np.isnan(values)).sum(axis=1)
    whole = counts == counts.max(initial=0)
    return [
        (low, high) if first else (max(low, 2), max(high, 2))
        for first, (low, high) in zip(whole, stats.rank_intervals(better), strict=True)
    ]


def _values(seats: Sequence[Seat]) -> Floats:
    """(methods, examples), NaN where undefined; examples are matched by their ids."""
    ids = list(dict.fromkeys(t.id for entry, _ in seats for t in entry.trials))
    column = {name: k for k, name in enumerate(ids)}
    values = np.full((len(seats), len(ids)), np.nan)
    for i, (entry, metric) in enumerate(seats):
        for trial in entry.trials:
            value = trial.values.get(metric)
            if value is not None and np.isfinite(value):
                values[i, column[trial.id]] = value
    return values


def _ranked(seats: Sequence[Seat]) -> list[int]:
    """Who competes: methods with a value, each in its newest version."""
    specs = [entry.record.spec for entry, _ in seats]
    newest: dict[str, int] = {}
    for spec in specs:
        newest[spec.label] = max(newest.get(spec.label, 0), spec.method.version)
    return [
        i
        for i, ((entry, metric), spec) in enumerate(zip(seats, specs, strict=True))
        if not spec.control
        and spec.method.version == newest[spec.label]
        and entry.record.cells[metric].value is not None
    ]


def _by_value(seat: Seat) -> tuple[int, float, str, str]:
    """Sorts methods before controls, controls in their own order, better values first."""
    entry, metric = seat
    spec, value = entry.record.spec, entry.record.cells[metric].value
    sign = -1 if entry.record.facts[metric].higher_is_better else 1
    order = 1 + CONTROLS.index(spec.label) if spec.label in CONTROLS else 1 + len(CONTROLS)
    worth = float("inf") if value is None else sign * value
    return (order if spec.control else 0, worth, spec.label, spec.digest)


def _versus_random(
    values: Floats, seats: Sequence[Seat], ranked: Sequence[int], higher: bool, seed: int
) -> list[str | None]:
    """Each ranked method against the random order of the board, Holm over the methods."""
    control = [i for i, (e, _) in enumerate(seats) if e.record.spec.label == "random_order"]
    if len(control) != 1 or np.isnan(values[control[0]]).all():
        return [None] * len(ranked)
    differences = [stats.paired(values[i], values[control[0]]) for i in ranked]
    p = stats.holm([stats.sign_flip(d, seed=seed) for d in differences])
    return [_verdict(d, q, higher) for d, q in zip(differences, p, strict=True)]


def _verdict(difference: Values, p: float, higher: bool) -> str:
    if p > ALPHA:
        return "level"
    return "better" if (difference.sum() > 0) == higher else "worse"


def _row(seat: Seat, ranking: Mapping[str, object]) -> Row:
    entry, metric = seat
    spec, facts, cell = entry.record.spec, entry.record.facts[metric], entry.record.cells[metric]
    normal = [v for t in entry.trials if (v := t.normalised.get(metric)) is not None]
    measured = {
        **cell.model_dump(include={"value", "low", "high", "normalised", "n"}),
        "undefined": sum(cell.undefined.values()),
        "reasons": dict(sorted(cell.undefined.items())),
        "normalised_n": len(normal),
        "normalised_reasons": _without_scale(entry, metric),
        "above_best": sum(v > BEYOND for v in normal),
        "direction": "higher" if facts.higher_is_better else "lower",
        "family": facts.family,
        "unit": facts.unit,
    }
    unranked = {"rank_low": None, "rank_high": None, "tied": "", "versus_random": None}
    return Row.model_validate({**_of_spec(spec, metric), **measured, **unranked, **ranking})


def _without_scale(entry: Entry, metric: str) -> dict[str, int]:
    """Why an example has a value and no normalised one, and how often."""
    missing = Counter(
        t.reasons.get(f"{metric}/normalised", "unknown")
        for t in entry.trials
        if t.values.get(metric) is not None and t.normalised.get(metric) is None
    )
    return dict(sorted(missing.items()))


def _of_spec(spec: Spec, metric: str) -> dict[str, object]:
    return {
        "task": spec.data.task,
        "model": spec.model.name,
        "removal": spec.removal,
        "method": spec.label,
        "metric": metric,
        "control": spec.control,
        "explained_under": spec.explained_under,
        "seed": spec.seed,
        "shipped_by": spec.method.shipped_by,
        "class_specific": spec.method.class_specific,
        "version": spec.method.version,
        "metric_version": spec.metrics[metric].version,
        "players": spec.players,
        "target": spec.target,
        "model_revision": spec.model.revision,
        "weights": spec.model.weights,
        "data_digest": spec.data.digest,
        "run": spec.digest,
    }
