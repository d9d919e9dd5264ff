"""Methods ranked over blocks, and their strengths in games over examples. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attrial import stats
from attrial.errors import Undefined
from attrial.masks import Floats
from attrial.trust.ground import Grid, Ground, means

RESAMPLES = 200
PRIOR = 1.0  # a game added to each pair keeps who never loses finite


@dataclass(frozen=True)
class Blocks:
    """Methods ranked within blocks: Friedman's test, Nemenyi's difference, and who is told apart.

    Attributes:
        what: What a block is.
        family: Of the metrics.
        methods: Those that have a value wherever another method has one.
        left_out: The others: their means are over other examples, so they have no overall rank.
        blocks: How many.
        ranking: Average ranks, critical difference, cliques and tests.
    """

    what: str
    family: str
    methods: tuple[str, ...]
    left_out: tuple[str, ...]
    blocks: int
    ranking: stats.Ranking


@dataclass(frozen=True)
class Strength:
    """One method's Bradley-Terry log strength on one metric with its 95 % bootstrap interval."""

    method: str
    metric: str
    removal: str
    log: float
    low: float
    high: float


def over_grids(grounds: Sequence[Ground], family: str) -> Blocks | None:
    """Blocks are tasks x models x removals x metrics of a family; None with fewer than two."""
    grids = [g for ground in grounds for g in ground.grids if g.family == family]
    if len(grids) < 2:
        return None
    everyone = list(dict.fromkeys(m for g in grids for m in g.methods))
    common = [m for m in everyone if all(_whole(g, m) for g in grids)]
    rows = [means(g.good[[g.methods.index(m) for m in common]]) for g in grids]
    left_out = tuple(m for m in everyone if m not in common)
    return _blocks("task x model x removal x metric", family, common, left_out, np.array(rows))


def _whole(grid: Grid, method: str) -> bool:
    """Whether a method has a value wherever another has one."""
    if method not in grid.methods:
        return False
    some = ~np.isnan(grid.values)
    return bool((some[grid.methods.index(method)] | ~some.any(axis=0)).all())


def over_examples(grid: Grid) -> Blocks | None:
    """Blocks are the examples of one metric on which every method is defined."""
    complete = grid.good[:, ~np.isnan(grid.good).any(axis=0)].T
    return _blocks(f"example, by {grid.metric}", grid.family, grid.methods, (), complete)


def _blocks(
    what: str, family: str, methods: Sequence[str], left_out: tuple[str, ...], values: Floats
) -> Blocks | None:
    if len(methods) < 2 or len(values) < 2:
        return None
    try:
        ranking = stats.ranking(values, higher=True)
    except Undefined:
        return None
    return Blocks(what, family, tuple(methods), left_out, len(values), ranking)


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
