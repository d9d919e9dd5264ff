"""Methods ranked over blocks, and their strengths in games over examples. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attrial import stats
from attrial.errors import Undefined
from attrial.masks import Floats, Values
from attrial.trust.ground import FIRST, Grid, Ground, means

RESAMPLES = 200
MANY, LEAST = 5, 10  # more methods than that need so many blocks (Demsar 2006)
PRIOR = 1.0  # a game added to each pair keeps who never loses finite


@dataclass(frozen=True)
class Blocks:
    """Methods ranked within blocks: Friedman's test, Nemenyi's difference, and who is told apart.

    Attributes:
        what: What a block is.
        metric, removal, family: Of the values; no metric where a block averages over several.
        methods: Those that have a value wherever another method has one.
        left_out: The others: their means are over other examples, so they have no overall rank.
        same: (metric, other): left out as it is the other one, turned or shifted.
        blocks: How many.
        ranking: Average ranks, critical difference, cliques and tests; None where nobody can be
            ranked: fewer than two methods or blocks, or all methods tie in all of them.
    """

    what: str
    metric: str
    removal: str
    family: str
    methods: tuple[str, ...]
    left_out: tuple[str, ...]
    same: tuple[tuple[str, str], ...]
    blocks: int
    ranking: stats.Ranking | None

    @property
    def few(self) -> bool:
        """Whether there are fewer blocks than the tests' approximations need."""
        return len(self.methods) > MANY and self.blocks < LEAST


@dataclass(frozen=True)
class Strength:
    """One method's Bradley-Terry log strength on one metric with its 95 % bootstrap interval."""

    method: str
    metric: str
    removal: str
    log: float
    low: float
    high: float


def primary(ground: Ground) -> Grid | None:
    """The grid that speaks for a task: the first faithfulness metric that was asked for, or first.

    Under the removal that methods explained under. Nobody chose it by what came out.
    """
    own = ground.spec.explained_under
    grids = {g.metric: g for g in ground.grids if g.removal == own}
    asked = [e.record.spec for e in ground.entries if e.record.spec.removal == own]
    order = dict.fromkeys(m for spec in asked for m in spec.metrics)
    found = [grids[m] for m in order if m in grids]
    return next((g for g in found if g.family == FIRST), found[0] if found else None)


def over_examples(grid: Grid) -> Blocks:
    """Blocks are the examples of one metric, which share nothing."""
    methods = [m for m in grid.methods if _whole(grid, m)]
    some = ~np.isnan(grid.values).all(axis=0)
    values = _rows(grid, methods)[:, some].T
    left_out = tuple(m for m in grid.methods if m not in methods)
    place = ("example", grid.metric, grid.removal, grid.family)
    return Blocks(*place, tuple(methods), left_out, (), len(values), _ranking(values))


def over_tasks(grounds: Sequence[Ground], family: str) -> Blocks | None:
    """Blocks are tasks x models; None with fewer than two.

    A method's value in a block is its average rank over the metrics of the family, under the
    removal that methods explained under. Metrics that are one another turned or shifted count
    once. Boards that share a task and a model (seeds, targets) are averaged into one block.
    """
    own = [ground.of(ground.spec.explained_under, family) for ground in grounds]
    boards = [(ground, grids) for ground, grids in zip(grounds, own, strict=True) if grids]
    everyone = list(dict.fromkeys(m for _, grids in boards for g in grids for m in g.methods))
    common = [m for m in everyone if all(_whole(g, m) for _, grids in boards for g in grids)]
    blocks: dict[tuple[str, str, str], list[Values]] = {}
    same: dict[tuple[str, str], None] = {}
    for ground, grids in boards:
        kept, dropped = _distinct(grids, common)
        same |= dict.fromkeys(dropped)
        blocks.setdefault(_block(ground), []).append(_average_rank(kept, common))
    if len(blocks) < 2:
        return None
    values = -np.array([np.mean(found, axis=0) for found in blocks.values()])
    left_out = tuple(m for m in everyone if m not in common)
    place = ("task x model", "", "", family, tuple(common), left_out, tuple(same))
    return Blocks(*place, len(values), _ranking(values))


def _block(ground: Ground) -> tuple[str, str, str]:
    return (ground.spec.data.task, ground.spec.model.name, ground.spec.model.weights)


def _distinct(
    grids: Sequence[Grid], methods: Sequence[str]
) -> tuple[list[Grid], list[tuple[str, str]]]:
    """Grids that say something new about these methods, and (metric, the one that it repeats)."""
    kept: list[Grid] = []
    dropped = []
    for grid in grids:
        twin = next((g for g in kept if _alike(g, grid, methods)), None)
        if twin is None:
            kept.append(grid)
        else:
            dropped.append((grid.metric, twin.metric))
    return kept, dropped


def _alike(a: Grid, b: Grid, methods: Sequence[str]) -> bool:
    """Whether two metrics differ, each turned so that higher is better, by what no method decides.

    A number added to all methods of an example changes no difference between methods.
    """
    one, two = (found - found[:1] for found in (_rows(a, methods), _rows(b, methods)))
    same = stats.above(one, two) | stats.above(two, one)
    return not same.any() and bool((np.isnan(one) == np.isnan(two)).all())


def _average_rank(grids: Sequence[Grid], methods: Sequence[str]) -> Values:
    rows = np.array([means(_rows(g, methods)) for g in grids])
    return stats.average_ranks(rows, higher=True) if len(methods) > 1 else np.ones(len(methods))


def _rows(grid: Grid, methods: Sequence[str]) -> Floats:
    return np.asarray(grid.good[[grid.methods.index(m) for m in methods]])


def _whole(grid: Grid, method: str) -> bool:
    """Whether a method has a value wherever another has one."""
    if method not in grid.methods:
        return False
    some = ~np.isnan(grid.values)
    return bool((some[grid.methods.index(method)] | ~some.any(axis=0)).all())


def _ranking(values: Floats) -> stats.Ranking | None:
    """Of values (N, k), higher is better."""
    if len(values) < 2 or values.shape[1] < 2:
        return None
    try:
        return stats.ranking(values, higher=True)
    except Undefined:
        return None


def strengths(grid: Grid) -> list[Strength]:
    """Strengths of one metric: on each example every two methods play a game; robust to scale."""
    if len(grid.methods) < 2:
        return []
    log = stats.bradley_terry(grid.good, higher=True, prior=PRIOR).log
    low, high = stats.bradley_terry_intervals(
        grid.good, higher=True, prior=PRIOR, resamples=RESAMPLES, seed=grid.seed
    )
    return [
        Strength(name, grid.metric, grid.removal, *map(float, numbers))
        for name, *numbers in zip(grid.methods, log, low, high, strict=True)
    ]
