"""One task with one model as arrays, from which all findings of a trust report are made. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from attrial.leaderboard import settled
from attrial.masks import Ints, Scores, Values
from attrial.record import Spec, Trial
from attrial.store import Entry
from attrial.trust.grid import Grid as Grid
from attrial.trust.grid import means as means
from attrial.trust.grid import tops as tops

Key = tuple[str, ...]
FIRST = "faithfulness"  # the family that reports open with


@dataclass(frozen=True, eq=False)
class Ground:
    """One task with one model.

    Attributes:
        spec: Of one of its records: where data and model come from.
        entries: All its records.
        ids: Names of the n examples.
        sizes: (n,) how many players each has.
        methods: Competing methods, by their mean rank over the faithfulness grids: an order for
            reading only.
        grids: The removal that methods explained under and faithfulness first.
        scores: Method -> n attributions, None where there is none.
    """

    spec: Spec
    entries: tuple[Entry, ...]
    ids: tuple[str, ...]
    sizes: Ints
    methods: tuple[str, ...]
    grids: tuple[Grid, ...]
    scores: Mapping[str, tuple[Scores | None, ...]]

    def of(self, removal: str, family: str = FIRST) -> list[Grid]:
        """The grids of one removal and family."""
        return [g for g in self.grids if (g.removal, g.family) == (removal, family)]

    @property
    def removals(self) -> list[str]:
        """In the order of the grids."""
        return list(dict.fromkeys(g.removal for g in self.grids))

    @property
    def families(self) -> list[str]:
        """In the order of the grids."""
        return list(dict.fromkeys(g.family for g in self.grids))


def grounds(entries: Sequence[Entry]) -> list[Ground]:
    """Cut records into tasks with their models; older versions of methods and metrics stay out."""
    cut: dict[Key, list[Entry]] = {}
    for entry, infill in settled(entries):
        if entry.record.spec.metrics:  # a run under a removal that no metric depends on is empty
            cut.setdefault((*_key(entry.record.spec), infill), []).append(entry)
    return [_ground(found) for _, found in sorted(cut.items())]


def _key(spec: Spec) -> Key:
    model = (spec.model.name, spec.model.revision or "", spec.model.weights, spec.model.dtype)
    place = (spec.data.digest, spec.players, spec.target, spec.explained_under, str(spec.seed))
    return (spec.data.task, *model, *place)


def _ground(entries: Sequence[Entry]) -> Ground:
    trials = {t.id: t for e in entries for t in e.trials}
    ids = tuple(dict.fromkeys(t.id for e in entries for t in e.trials))
    newest = _newest((e.record.spec.label, e.record.spec.method.version) for e in entries)
    current = [e for e in entries if e.record.spec.method.version == newest[e.record.spec.label]]
    grids = _grids(current, ids)
    return Ground(
        spec=entries[0].record.spec,
        entries=tuple(entries),
        ids=ids,
        sizes=np.array([len(trials[i].players) for i in ids]),
        methods=_reading_order(current, grids),
        grids=tuple(grids),
        scores=_scores(current, ids),
    )


def _newest(versions: Iterable[tuple[str, int]]) -> dict[str, int]:
    newest: dict[str, int] = {}
    for label, version in versions:
        newest[label] = max(newest.get(label, 0), version)
    return newest


def _grids(entries: Sequence[Entry], ids: Sequence[str]) -> list[Grid]:
    newest = _newest(
        (m, plugin.version) for e in entries for m, plugin in e.record.spec.metrics.items()
    )
    places: dict[tuple[str, str], list[Entry]] = {}
    for e in entries:
        for metric, plugin in e.record.spec.metrics.items():
            if plugin.version == newest[metric]:
                places.setdefault((e.record.spec.removal, metric), []).append(e)
    grids = [_grid(metric, found, ids) for (_, metric), found in places.items()]
    own = entries[0].record.spec.explained_under
    return sorted(
        (g for g in grids if g.methods),
        key=lambda g: (g.removal != own, g.removal, g.family != FIRST, g.family, g.metric),
    )


def _grid(metric: str, entries: Sequence[Entry], ids: Sequence[str]) -> Grid:
    by = {e.record.spec.label: e for e in entries if not e.record.spec.control}
    rows = {
        label: _row([t.values.get(metric) for t in _aligned(e, ids)]) for label, e in by.items()
    }
    methods = tuple(label for label, row in rows.items() if not np.isnan(row).all())
    other = [_row([t.swapped.get(metric) for t in _aligned(by[m], ids)]) for m in methods]
    spec, facts = entries[0].record.spec, entries[0].record.facts[metric]
    shape = (len(methods), len(ids))
    return Grid(
        metric=metric,
        removal=spec.removal,
        family=facts.family,
        higher=facts.higher_is_better,
        unit=facts.unit,
        methods=methods,
        values=np.reshape([rows[m] for m in methods], shape),
        swapped=np.reshape(other, shape),
        chance=_chance(metric, entries, ids),
        seed=spec.seed,
    )


def _chance(metric: str, entries: Sequence[Entry], ids: Sequence[str]) -> Values:
    for e in entries:
        if e.record.spec.label == "random_order" and e.record.spec.control:
            return _row([t.values.get(metric) for t in _aligned(e, ids)])
    return np.full(len(ids), np.nan)


def _aligned(entry: Entry, ids: Sequence[str]) -> list[Trial]:
    """An entry's trials in the order of the ids; what it lacks has no values."""
    by = {t.id: t for t in entry.trials}
    return [by[i] if i in by else _absent(i) for i in ids]


def _absent(name: str) -> Trial:
    return Trial(id=name, players=[], scores=[], target=0, values={})


def _row(cells: Sequence[float | None]) -> Values:
    found = np.array([np.nan if v is None else v for v in cells], np.float64)
    return np.where(np.isfinite(found), found, np.nan)


def _reading_order(entries: Sequence[Entry], grids: Sequence[Grid]) -> tuple[str, ...]:
    labels = dict.fromkeys(e.record.spec.label for e in entries if not e.record.spec.control)
    ranks: dict[str, list[float]] = {label: [] for label in labels}
    for grid in grids:
        if grid.family == FIRST:
            shares = rankdata(-means(grid.good)) / len(grid.methods)
            for label, share in zip(grid.methods, shares, strict=True):
                ranks[label].append(float(share))
    middle = {label: np.mean(found) if found else np.inf for label, found in ranks.items()}
    return tuple(sorted(labels, key=lambda label: (middle[label], label)))


def _scores(entries: Sequence[Entry], ids: Sequence[str]) -> dict[str, tuple[Scores | None, ...]]:
    """Every method's attributions; a run under any removal holds the same ones."""
    found: dict[str, tuple[Scores | None, ...]] = {}
    for e in entries:
        if not e.record.spec.control and e.record.spec.label not in found:
            trials = _aligned(e, ids)
            found[e.record.spec.label] = tuple(
                np.array(t.scores, np.float64) if t.scores else None for t in trials
            )
    return found
