"""Findings of a trust report on hand-made records with known answers, and second derivations."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau, spearmanr

from attrial import stats
from attrial.errors import Undefined
from attrial.masks import Floats
from attrial.store import Entry
from attrial.trust import grounds, trust
from attrial.trust.costs import front, prices
from attrial.trust.ground import Grid
from attrial.trust.kendall import spearman, tau_b, tau_matrix
from attrial.trust.leaders import lead
from attrial.trust.power import power
from attrial.trust.stability import SPLITS, buckets, halves
from tests.hand_made import By, entry

N = 24
VECTORS = hnp.arrays(np.float64, 7, elements=st.integers(-3, 3).map(float))


def around(level: float, *, seed: int = 0, n: int = N, noise: float = 0.01) -> list[float]:
    """Values near a level, other ones for each seed."""
    return [float(v) for v in level + noise * np.random.default_rng(seed).normal(size=n)]


def board(levels: dict[str, float], *, metric: str = "aopc", removal: str = "mask") -> list[Entry]:
    """Methods at levels that nobody mistakes for each other, and a random order at 0."""
    found = {**levels, "random_order": 0.0}
    return [
        entry(By(name, {metric: around(level, seed=k)}, removal=removal))
        for k, (name, level) in enumerate(found.items())
    ]


def grid_of(values: Floats, *, higher: bool = True) -> Grid:
    """A grid of these values (m, n) alone."""
    names = tuple(f"m{i}" for i in range(len(values)))
    nothing = np.full(values.shape, np.nan)
    place = ("aopc", "mask", "faithfulness", higher, "", names)
    return Grid(*place, values, nothing, nothing[0], 0)


@given(VECTORS, VECTORS)
def test_tau_b_and_rho_are_those_of_scipy(a: Floats, b: Floats) -> None:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert np.isnan(tau_b(a, b)) and np.isnan(spearman(a, b))
    else:
        assert tau_b(a, b) == pytest.approx(kendalltau(a, b).statistic, abs=1e-12)
        assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


@given(hnp.arrays(np.float64, (4, 6), elements=st.integers(-2, 2).map(float)))
def test_a_matrix_of_taus_is_symmetric_and_in_range(rows: Floats) -> None:
    matrix = tau_matrix(rows)
    np.testing.assert_array_equal(matrix, matrix.T)
    known = matrix[~np.isnan(matrix)]
    assert (np.abs(known) <= 1 + 1e-12).all()
    for i, j in combinations(range(4), 2):
        np.testing.assert_allclose(matrix[i, j], tau_b(rows[i], rows[j]), atol=1e-12)


def test_rounding_is_a_tie() -> None:
    assert tau_b(np.array([0.3, 0.1 + 0.2, 1.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(
        kendalltau([0, 0, 1], [1, 2, 3]).statistic
    )


def test_who_leads_with_its_margin_and_who_is_no_better_than_chance() -> None:
    (ground,) = grounds(board({"good": 1.0, "fair": 0.5, "none": 0.0}))
    found = lead(ground.grids[0])
    assert (found.leader, found.runner_up, found.level) == ("good", "fair", ())
    assert found.margin == pytest.approx(0.5, abs=0.02)
    assert found.margin_low is not None and found.margin_high is not None
    assert 0.48 < found.margin_low < 0.5 < found.margin_high < 0.52
    assert found.p is not None and found.p < 0.01
    assert found.not_better == ("none",)


def test_lower_is_better_where_the_metric_says_so() -> None:
    (ground,) = grounds(board({"good": -1.0, "bad": 1.0}, metric="deletion_auc"))
    found = lead(ground.grids[0])
    assert (found.leader, found.not_better) == ("good", ("bad",))
    assert found.value == pytest.approx(-1, abs=0.01) and found.margin is not None
    assert found.margin == pytest.approx(2, abs=0.02)


def test_methods_that_no_one_tells_apart_are_level() -> None:
    values = np.random.default_rng(0).normal(size=(3, N))
    found = lead(grid_of(values))
    assert {found.leader, *found.level} == {"m0", "m1", "m2"}
    told = power(grid_of(values))
    assert (told.pairs, told.apart, told.n) == (3, 0, N)
    assert told.detectable is not None and 0.5 < told.detectable < 1.5  # sd of a pair is 1.4
    assert told.settle_half is None or told.settle_half > N


def test_power_is_that_of_every_pair_on_its_own() -> None:
    values = np.random.default_rng(6).normal(size=(6, 15)) + 0.3 * np.arange(6)[:, None]
    values[2, 1] = values[0, 7] = np.nan
    values[5] = values[4]
    told = power(grid_of(values))
    compared = stats.compare(values, higher=True, seed=0)
    pairs = list(combinations(range(6), 2))
    found = {pair: stats.paired(values[pair[0]], values[pair[1]]) for pair in pairs}
    least = [stats.detectable_difference(d, comparisons=15) for d in found.values() if d.any()]
    assert told.detectable == pytest.approx(np.median(least), rel=1e-9)
    needs = []
    for (i, j), d in found.items():
        if not compared.better[i, j] and not compared.better[j, i]:
            try:
                needs.append(stats.needed_examples(d, comparisons=15))
            except Undefined:
                needs.append(10**10)
    needs.sort()
    assert told.apart == 15 - len(needs) and told.hopeless == needs.count(10**10) == 1
    assert told.settle_half == needs[-(-len(needs) // 2) - 1]
    assert told.settle_most == needs[-(-9 * len(needs) // 10) - 1]


def test_a_pair_without_any_difference_is_hopeless() -> None:
    same = np.random.default_rng(0).normal(size=N)
    told = power(grid_of(np.stack([same, same])))
    assert (told.pairs, told.apart, told.hopeless, told.settle_half) == (1, 0, 1, None)


def test_an_inverse_metric_has_tau_minus_one() -> None:
    names = ("a", "b", "c", "d")
    entries = [
        entry(By(name, {"aopc": around(k, seed=k), "gini": around(-k, seed=k + 9)}))
        for k, name in enumerate(names)
    ]
    part = trust(entries).parts[0]
    assert part.by_means["mask"].names == ("aopc", "gini")
    assert part.by_means["mask"].values[0, 1] == pytest.approx(-1)
    assert part.by_examples["mask"].values[0, 1] == pytest.approx(-1)
    np.testing.assert_array_equal(part.by_examples["mask"].defined, N)


def test_rho_on_each_example_is_the_mean_of_scipys() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(2, 5, N)).round(1)
    values[0, :, 3] = 0.5  # ranks nobody there
    entries = [
        entry(By(f"m{i}", {"aopc": [*values[0, i]], "deletion_auc": [*values[1, i]]}))
        for i in range(5)
    ]
    matrix = trust(entries).parts[0].by_examples["mask"]
    slow = [spearmanr(values[0, :, k], -values[1, :, k]).statistic for k in range(N) if k != 3]
    assert matrix.values[0, 1] == pytest.approx(np.mean(slow), abs=1e-12)
    assert matrix.defined[0, 1] == N - 1 and matrix.defined[1, 1] == N


def test_two_methods_that_swap_in_one_length_bucket() -> None:
    sizes = [3] * 8 + [5] * 8 + [9] * 8
    a = around(1.0, seed=1)
    b = [0.0] * 16 + [3.0] * 8  # worse on average below nine players, better there
    b = [v - 0.9 for v in b[:16]] + [1.2] * 8
    entries = [entry(By(name, {"aopc": v}), sizes=sizes) for name, v in (("a", a), ("b", b))]
    part = trust(entries).parts[0]
    assert part.leads[0].leader == "a" and part.power[0].apart == 1
    by = {(c.here, c.there): c for c in part.lengths}
    short, middle, long = "3 players", "5 players", "9 players"
    assert by[short, middle].tau == 1 and by[short, middle].kept == 1
    for here in (short, middle):
        change = by[here, long]
        assert change.tau == -1 and change.turned == (("a", "b"),)
        assert not change.same_leader and (change.kept, change.claims) == (0, 1)
        assert (change.leaders_here, change.leaders_there) == (("a",), ("b",))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_every_example_is_in_one_bucket(sizes: Sequence[int]) -> None:
    found = buckets(np.array(sizes))
    assert 1 <= len(found) <= 3
    np.testing.assert_array_equal(sum(which.astype(int) for _, which in found), 1)


def test_removals_that_reverse_the_ranking() -> None:
    entries = board({"a": 1.0, "b": 0.5}) + board({"a": 0.5, "b": 1.0}, removal="delete")
    (change,) = trust(entries).parts[0].removals
    assert (change.here, change.there, change.tau) == ("mask", "delete", -1)
    assert change.turned == (("a", "b"),)


def test_the_other_function_is_read_where_every_method_has_it() -> None:
    values = {name: around(k, seed=k) for k, name in enumerate("ab")}
    other = {"a": around(5, seed=7), "b": around(2, seed=8)}
    entries = [
        entry(By(name, {"aopc": v}, swapped={"aopc": other[name]})) for name, v in values.items()
    ]
    (change,) = trust(entries).parts[0].targets
    assert (change.axis, change.tau, change.turned) == ("target", -1, (("b", "a"),))
    assert trust([entries[0], entry(By("b", {"aopc": values["b"]}))]).parts[0].targets == ()


def test_halves_of_the_data() -> None:
    apart = halves(grid_of(np.array([around(0, seed=1), around(1, seed=2), around(2, seed=3)])))
    assert (apart.tau, apart.low, apart.high, apart.same_leader) == (1, 1, 1, 1)
    assert apart.splits == SPLITS >= 100 and apart.undefined == 0
    alike = halves(grid_of(np.random.default_rng(3).normal(size=(6, 40))))
    assert alike.tau is not None and abs(alike.tau) < 0.5 and (alike.same_leader or 1) < 0.9
    nobody = halves(grid_of(np.ones((5, 12)) + 1e-8 * np.arange(5)[:, None]))
    assert (nobody.tau, nobody.same_leader, nobody.undefined) == (None, None, SPLITS)
    two = halves(grid_of(np.array([np.ones(12), np.ones(12) + 1e-8, np.zeros(12)])))
    assert (two.tau, two.same_leader) == (1, 1)
    alternating = np.array([[0.0, 1.0] * 12, [1.0, 0.0] * 12])
    entries = [entry(By(f"m{i}", {"aopc": [*row]})) for i, row in enumerate(alternating)]
    (odd,) = trust(entries).parts[0].odd_even
    assert (odd.here, odd.leaders_here, odd.leaders_there, odd.tau) == ("odd", ("m1",), ("m0",), -1)


def test_halves_are_those_of_a_slow_derivation() -> None:
    values = np.random.default_rng(5).normal(size=(4, 11))
    values[1, 2] = np.nan
    rng = np.random.default_rng([0, 11])
    parts = rng.permuted(np.tile(np.arange(11) < 5, (SPLITS, 1)), axis=1)
    slow = [
        kendalltau(np.nanmean(values[:, p], 1), np.nanmean(values[:, ~p], 1)).statistic
        for p in parts
    ]
    assert halves(grid_of(values)).tau == pytest.approx(np.mean(slow), abs=1e-12)


def test_a_metric_against_known_evidence() -> None:
    order = {"a": 3.0, "b": 2.0, "c": 1.0}
    entries = [
        entry(By(name, {"aopc": around(v, seed=1), "sufficiency": around(v, seed=2),
                        "average_precision": around(v / 4, seed=3)}))
        for name, v in order.items()
    ]  # fmt: skip
    found = {c.metric: c for c in trust(entries).parts[0].concords}
    assert set(found) == {"aopc", "sufficiency"}
    assert (found["aopc"].tau, found["aopc"].low, found["aopc"].high) == (1, 1, 1)
    assert found["sufficiency"].tau == -1 and found["sufficiency"].high == -1
    assert found["aopc"].evidence == "average_precision" and found["aopc"].methods == 3
    assert trust(board({"a": 1.0})).parts[0].concords == ()


def test_an_undefined_cell_takes_its_example_out_of_nobody_else() -> None:
    values: list[float | None] = [*around(1.0, seed=1)]
    values[0] = None
    entries = [entry(By("a", {"aopc": values})), *board({"b": 0.0})]
    part = trust(entries).parts[0]
    assert part.power[0].n == N - 1
    assert part.leads[0].leader == "b" and part.leads[0].partial == (("a", N - 1),)


def test_older_versions_and_controls_do_not_compete() -> None:
    entries = [
        entry(By("a", {"aopc": around(9, seed=1)})),
        entry(By("a", {"aopc": around(1, seed=2)}, version=2)),
        *board({"b": 0.5}),
    ]
    part = trust(entries).parts[0]
    assert part.ground.methods == ("a", "b")
    assert part.leads[0].value == pytest.approx(1, abs=0.02)


def test_strengths_rank_as_games_are_won() -> None:
    part = trust(board({"a": 1.0, "b": 0.5, "c": 0.0})).parts[0]
    by = {s.method: s for s in part.strengths}
    assert by["a"].log > by["b"].log > by["c"].log
    assert all(s.low <= s.log <= s.high for s in by.values())


def test_the_front_of_quality_against_cost() -> None:
    entries = [
        entry(By(name, {"aopc": [quality] * N}, rows=rows))
        for name, quality, rows in (
            ("cheap", 0.2, 1), ("dear", 0.9, 100), ("wasted", 0.9, 101), ("worse", 0.1, 50)
        )
    ]  # fmt: skip
    (ground,) = grounds(entries)
    points = front(ground.grids[0], prices(ground))
    assert [(p.method, p.front) for p in points] == [
        ("cheap", True), ("worse", False), ("dear", True), ("wasted", False)
    ]  # fmt: skip
