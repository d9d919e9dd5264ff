"""Who is said to lead a metric: ties, partial submissions, intervals."""

import numpy as np
import pytest

from attrial import leaderboard
from attrial.masks import Floats
from attrial.trust import trust
from attrial.trust.ground import Grid
from attrial.trust.leaders import lead
from attrial.trust.stability import halves
from tests.hand_made import By, entry


def grid_of(values: Floats) -> Grid:
    """A grid of these values (m, n) alone, higher is better."""
    names = tuple(f"m{i}" for i in range(len(values)))
    nothing = np.full(values.shape, np.nan)
    place = ("aopc", "mask", "faithfulness", True, "", names)
    return Grid(*place, values, nothing, nothing[0], 0)


def test_tied_best_means_are_all_named_and_partial_ones_never() -> None:
    rows = np.array([np.full(12, 0.5), np.full(12, 0.5 + 1e-8), np.linspace(0, 0.2, 12)])
    part = np.array([*np.full(3, 0.9), *np.full(9, np.nan)])
    found = lead(grid_of(np.vstack([rows, part])))
    assert set(found.leaders) == {"m0", "m1"}
    assert (found.runner_up, found.partial, found.examples) == ("m2", (("m3", 3),), 12)
    assert "m3" not in found.level and found.margin == pytest.approx(0.4)
    assert halves(grid_of(np.vstack([rows, part]))).same_leader == 1
    alone = lead(grid_of(rows[:2]))
    assert (alone.level, alone.runner_up, alone.p) == ((), None, None)


def test_intervals_of_the_leader_are_those_of_the_board() -> None:
    skewed = np.array([np.random.default_rng(1).exponential(size=20), np.zeros(20)])
    entries = [entry(By(f"m{i}", {"aopc": [*row]})) for i, row in enumerate(skewed)]
    (found,) = trust(entries).parts[0].leads
    row = next(r for r in leaderboard.rows(entries) if r.method == "m0")
    assert (found.value, found.low, found.high) == (row.value, row.low, row.high)
