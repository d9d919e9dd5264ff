"""Does each metric put on top what known evidence puts on top? Pure."""

from dataclasses import dataclass

import numpy as np

from attrial.masks import Floats, Ints, Values
from attrial.stats import draws
from attrial.trust.ground import FIRST, Grid, Ground, means
from attrial.trust.kendall import agreement, signs, tau_b

RESAMPLES = 1_000
EVIDENCE = "evidence"


@dataclass(frozen=True)
class Concord:
    """How alike a metric and known evidence rank the methods.

    Attributes:
        metric, removal: The metric in question.
        evidence: The metric that reads known evidence.
        methods: How many both define.
        tau: Kendall's tau-b of the method means, each turned so that higher is better; None where
            either ranks nobody.
        low, high: Its 95 % percentile bootstrap interval over examples.
    """

    metric: str
    removal: str
    evidence: str
    methods: int
    tau: float | None
    low: float | None
    high: float | None


def concords(ground: Ground) -> list[Concord]:
    """Every faithfulness metric against every evidence metric; empty where no truth is known."""
    known = [g for g in ground.grids if g.family == EVIDENCE]
    return [_concord(g, e) for g in ground.grids if g.family == FIRST for e in known]


def _concord(grid: Grid, evidence: Grid) -> Concord:
    common = [m for m in grid.methods if m in evidence.methods]
    a, b = (_rows(g, common) for g in (grid, evidence))
    tau = tau_b(means(a), means(b)) if len(common) > 1 else float("nan")
    low, high = (None, None) if np.isnan(tau) else _interval(a, b, grid.seed)
    place = (grid.metric, grid.removal, evidence.metric, len(common))
    return Concord(*place, None if np.isnan(tau) else tau, low, high)


def _rows(grid: Grid, methods: list[str]) -> Floats:
    index = [grid.methods.index(m) for m in methods]
    return np.asarray(grid.good[index])


def _interval(a: Floats, b: Floats, seed: int) -> tuple[float | None, float | None]:
    """Examples are drawn alike for both metrics; draws that rank nobody are left out."""
    rows = np.concatenate(draws.examples(a.shape[1], RESAMPLES, seed))
    taus = agreement(signs(_resampled(a, rows)), signs(_resampled(b, rows)))
    found = taus[~np.isnan(taus)]
    if len(found) == 0:
        return None, None
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _resampled(values: Floats, rows: Ints) -> Values:
    """Means of each draw: (m, n), (b, n) -> (b, m); 0 where a draw defines none."""
    drawn = np.stack([np.bincount(row, minlength=values.shape[1]) for row in rows])
    defined = ~np.isnan(values)
    totals = drawn @ np.where(defined, values, 0.0).T
    return np.asarray(totals / np.maximum(drawn @ defined.T, 1))
