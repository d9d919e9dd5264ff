"""Hand-made records: every value as it is written down, for tests with known answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attrial import stats
from attrial.record import Cell, Cost, DataSpec, MetricFacts, ModelSpec, PluginSpec, Record, Spec
from attrial.record import Trial as Trial
from attrial.store import Entry

Cells = Sequence[float | None]
CONTROLS = ("random_order", "best_order", "worst_order", "constant", "position")
LOWER = ("deletion_auc", "sufficiency")
FAMILIES = {"average_precision": "evidence", "gini": "complexity"}


@dataclass(frozen=True)
class By:
    """One method's numbers: metric -> a value an example, and what goes with them."""

    label: str
    values: Mapping[str, Cells]
    swapped: Mapping[str, Cells] = field(default_factory=dict)
    scores: Sequence[Sequence[float]] = ()
    removal: str = "mask"
    rows: int = 0
    version: int = 1


def entry(by: By, *, sizes: Sequence[int] = (), task: str = "hand", reason: str = "none") -> Entry:
    """A record of these values; examples have as many players as ``sizes`` says, or three."""
    n = len(next(iter(by.values.values())))
    trials = [_trial(by, i, (sizes or [3] * n)[i], reason) for i in range(n)]
    spec = Spec(
        data=DataSpec(task=task, source="a test", digest=f"{task}{n}", count=n),
        model=ModelSpec(name="model", weights="ab" * 32),
        players="words",
        target="log_odds of the predicted class",
        explained_under="mask",
        removal=by.removal,
        method=PluginSpec(name=by.label, version=by.version),
        label=by.label,
        control=by.label in CONTROLS,
        metrics={m: PluginSpec(name=m) for m in by.values},
        seed=0,
    )
    facts = {
        m: MetricFacts(higher_is_better=m not in LOWER, family=FAMILIES.get(m, "faithfulness"))
        for m in by.values
    }
    cells = {m: _cell(found, reason) for m, found in by.values.items()}
    cost = Cost(rows=by.rows * n, seconds=1.5, peak_bytes=10**9)
    made = {"attrial": "0.1.0"}
    return Entry(Record(spec=spec, facts=facts, cells=cells, cost=cost, made_with=made), trials)


def _trial(by: By, i: int, size: int, reason: str) -> Trial:
    values = {m: found[i] for m, found in by.values.items()}
    return Trial(
        id=f"e{i}",
        players=[f"w{k}" for k in range(size)],
        scores=list(by.scores[i]) if by.scores else [],
        target=0,
        values=values,
        normalised=values,
        reasons={m: reason for m, v in values.items() if v is None},
        swapped={m: found[i] for m, found in by.swapped.items()},
    )


def _cell(found: Cells, reason: str) -> Cell:
    defined = [v for v in found if v is not None]
    low, high = stats.bootstrap_mean(defined, seed=0) if defined else (None, None)
    missing = len(found) - len(defined)
    mean = float(np.mean(defined)) if defined else None
    return Cell(
        value=mean,
        low=low,
        high=high,
        normalised=mean,
        n=len(defined),
        undefined={reason: missing} if missing else {},
    )
