"""Ranks within blocks: Friedman, Nemenyi and Wilcoxon against textbooks, loops and libraries."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scikit_posthocs
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from attrial import stats
from attrial.errors import Undefined
from attrial.masks import Floats

S2 = [[3, 2, 1], [3, 2, 1], [3, 2, 1], [2, 3, 1]]  # higher is better: ranks (1,2,3) x3, (2,1,3)
Q05 = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)  # k = 2..10, as published


@st.composite
def blocks(draw: st.DrawFn) -> Floats:
    """Whole numbers, many of them tied."""
    n, k = draw(st.integers(1, 7)), draw(st.integers(2, 6))
    cells = draw(st.lists(st.integers(0, 4), min_size=n * k, max_size=n * k))
    return np.asarray(cells, np.float64).reshape(n, k)


def slow_ranks(block: list[float]) -> list[Fraction]:
    """1 + how many are lower + half of how many others are equal."""
    return [
        1 + sum(b < a for b in block) + Fraction(sum(b == a for b in block) - 1, 2) for a in block
    ]


def slow_w(values: Floats) -> Fraction | None:
    """The textbook's W with its correction for ties, in fractions; None where all is tied."""
    ranks = [slow_ranks(block) for block in values.tolist()]
    n, k = values.shape
    sums = [sum(column, Fraction(0)) for column in zip(*ranks, strict=True)]
    s = sum(((r - Fraction(n * (k + 1), 2)) ** 2 for r in sums), Fraction(0))
    ties = sum(t**3 - t for row in ranks for t in [row.count(r) for r in set(row)])
    room = n**2 * (k**3 - k) - n * ties
    return 12 * s / room if room else None


def test_oracle_s2() -> None:
    found = stats.friedman(S2)
    assert found.chi2 == pytest.approx(6.5, abs=1e-12)
    assert found.chi2_p == pytest.approx(0.0388, abs=5e-5)
    assert found.f == pytest.approx(13, abs=1e-12)
    assert found.f_p == pytest.approx(scipy.stats.f.sf(13, 2, 6), abs=1e-15)
    assert stats.critical_difference(3, 4) == pytest.approx(1.657, abs=5e-4)
    assert stats.average_ranks(S2, higher=True).tolist() == [1.25, 1.75, 3.0]


@pytest.mark.parametrize(("k", "q"), list(enumerate(Q05, start=2)))
def test_critical_differences_are_the_published_ones(k: int, q: float) -> None:
    """The published q are cut, not rounded, after three digits."""
    for n in (1, 4, 30):
        got = stats.critical_difference(k, n)
        assert got / math.sqrt(k * (k + 1) / (6 * n)) == pytest.approx(q, abs=1e-3)


def test_a_critical_difference_of_two_is_the_normal_one() -> None:
    z = scipy.stats.norm.isf(0.005)
    assert stats.critical_difference(2, 10, alpha=0.01) == pytest.approx(z / math.sqrt(10))


@given(blocks())
def test_ranks_equal_the_loop(values: Floats) -> None:
    slow = np.mean([[float(r) for r in slow_ranks(b)] for b in values.tolist()], axis=0)
    np.testing.assert_allclose(stats.average_ranks(values, higher=False), slow, atol=1e-12)
    k = values.shape[1]
    np.testing.assert_allclose(stats.average_ranks(values, higher=True), k + 1 - slow, atol=1e-12)


@given(blocks())
def test_friedman_equals_the_textbook(values: Floats) -> None:
    n, k = values.shape
    found, w = stats.friedman(values), slow_w(values)
    assert 0 < found.chi2_p <= 1
    assert 0 < found.f_p <= 1
    if w is None:
        assert (found.chi2, found.chi2_p, found.f_p) == (0, 1, 1)
        with pytest.raises(Undefined, match="tie in every block"):
            stats.kendall_w(values)
        return
    assert stats.kendall_w(values) == pytest.approx(float(w), abs=1e-12)
    chi2 = n * (k - 1) * w
    assert found.chi2 == pytest.approx(float(chi2), abs=1e-9)
    if w == 1:
        assert found.f == math.inf
    else:
        f = (n - 1) * chi2 / (n * (k - 1) - chi2)
        assert found.f == pytest.approx(float(f), rel=1e-9, abs=1e-9)


@given(blocks().filter(lambda v: v.shape[1] > 2 and slow_w(v) is not None))
def test_friedman_agrees_with_scipy(values: Floats) -> None:
    theirs = scipy.stats.friedmanchisquare(*values.T)
    assert stats.friedman(values).chi2 == pytest.approx(theirs.statistic, abs=1e-9)
    assert stats.friedman(values).chi2_p == pytest.approx(theirs.pvalue, abs=1e-9)


@given(blocks())
def test_relabelling_methods_permutes_and_scales_do_not_matter(values: Floats) -> None:
    k = values.shape[1]
    order = [*range(1, k), 0]
    found, other = stats.friedman(values), stats.friedman(np.exp(values[:, order]))
    assert other.chi2 == pytest.approx(found.chi2, abs=1e-9)
    ranks = stats.average_ranks(values, higher=True)
    np.testing.assert_allclose(stats.average_ranks(values[:, order], higher=True), ranks[order])


@pytest.mark.parametrize("pattern", [[1.0, 2.0, 3.0], [1.0, 1.0, 2.0]])
def test_the_p_of_full_agreement_counts_arrangements(pattern: list[float]) -> None:
    """Of all ways to arrange three blocks those in which all rank alike, counted one by one."""
    rows = sorted(set(itertools.permutations(pattern)))
    boards = list(itertools.product(rows, repeat=3))
    exact = sum(len(set(board)) == 1 for board in boards) / len(boards)
    assert stats.friedman([pattern] * 3).f_p == pytest.approx(exact, abs=1e-15)


def test_one_block_says_nothing() -> None:
    assert stats.friedman([[1, 2, 3]]).f_p == 1


def test_many_agreeing_blocks_have_a_p_above_zero() -> None:
    found = stats.friedman(np.tile(np.arange(35.0), (300, 1)))
    assert found.f == math.inf
    assert 0 < found.f_p < 1e-300
    assert 0 < found.chi2_p < 1e-300


def test_kendalls_w_is_the_mean_spearman() -> None:
    """Without ties W = (r (N - 1) + 1) / N, r the mean correlation of ranks of all block pairs."""
    values = np.random.default_rng(0).normal(size=(6, 5)) + np.arange(5)
    r = np.mean([scipy.stats.spearmanr(a, b)[0] for a, b in itertools.combinations(values, 2)])
    assert stats.kendall_w(values) == pytest.approx((r * 5 + 1) / 6, abs=1e-12)
    assert stats.kendall_w([[1, 2, 3]] * 4) == 1
    assert stats.kendall_w([[1, 2], [2, 1]]) == 0


def test_rounding_makes_no_ranks() -> None:
    assert stats.average_ranks([[0.1 + 0.2, 0.3, 1.0]], higher=False).tolist() == [1.5, 1.5, 3.0]


def slow_cliques(ranks: list[float], difference: float) -> set[frozenset[int]]:
    """All sets whose ranks span less than the difference and to which nobody can be added."""
    k = len(ranks)
    sets = [
        frozenset(group)
        for size in range(2, k + 1)
        for group in itertools.combinations(range(k), size)
        if max(ranks[i] for i in group) - min(ranks[i] for i in group) < difference
    ]
    return {group for group in sets if not any(group < other for other in sets)}


@given(st.lists(st.integers(2, 14), min_size=1, max_size=7), st.integers(1, 8))
def test_cliques_equal_the_brute_force(halves: list[int], gap: int) -> None:
    ranks, difference = [h / 2 for h in halves], gap / 2
    found = stats.cliques(ranks, difference)
    assert len(found) == len({frozenset(group) for group in found})
    assert {frozenset(group) for group in found} == slow_cliques(ranks, difference)
    for group in found:
        assert [ranks[i] for i in group] == sorted(ranks[i] for i in group)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_cliques_agree_with_scikit_posthocs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(12, 5)) + 0.7 * np.arange(5)
    p = scikit_posthocs.posthoc_nemenyi_friedman(values).to_numpy()
    found = stats.ranking(values, higher=True)
    for i, j in itertools.combinations(range(5), 2):
        assert any({i, j} <= set(group) for group in found.cliques) == (p[i, j] > 0.05)


def test_a_ranking_equals_its_parts() -> None:
    found = stats.ranking(S2, higher=True)
    assert found.ranks == (1.25, 1.75, 3.0)
    assert found.cliques == ((0, 1), (1, 2))
    assert found.difference == stats.critical_difference(3, 4)
    assert found.test == stats.friedman(S2)
    assert found.w == 6.5 / 8
    assert stats.ranking(S2, higher=False).ranks == (2.75, 2.25, 1.0)


def test_what_cannot_be_ranked_is_refused() -> None:
    for values in ([], [[1.0]], [[1.0, math.nan]], [1.0, 2.0]):
        with pytest.raises(ValueError, match="blocks need"):
            stats.friedman(values)
        with pytest.raises(ValueError, match="blocks need"):
            stats.average_ranks(values, higher=True)
    with pytest.raises(ValueError, match="two methods and one block"):
        stats.critical_difference(1, 5)


def test_signed_ranks_agree_with_scipy_and_statsmodels() -> None:
    """Exact Wilcoxon tests without ties, corrected by another library's Holm."""
    rng = np.random.default_rng(7)
    values = rng.normal(size=(4, 12)) + 0.6 * np.arange(4)[:, None]
    found = stats.compare_signed_ranks(values, higher=True, seed=0)
    pairs = list(itertools.combinations(range(4), 2))
    raw = [scipy.stats.wilcoxon(values[i], values[j], method="exact").pvalue for i, j in pairs]
    theirs = multipletests(raw, method="holm")[1]
    np.testing.assert_allclose([found.p[i, j] for i, j in pairs], theirs, atol=1e-12)
    assert found.better[3, 0]
    assert stats.compare_signed_ranks(values, higher=False, seed=0).better[0, 3]


def test_signed_ranks_with_ties_equal_the_enumeration() -> None:
    differences = [1, 1, -1, 2, 0, 3, 3]
    ranks = [float(r) for r in slow_ranks([abs(d) for d in differences if d])]
    signed = [math.copysign(r, d) for r, d in zip(ranks, filter(None, differences), strict=True)]
    sums = [sum(s * abs(r) for s, r in zip(f, signed, strict=True)) for f in all_signs(6)]
    exact = np.mean([abs(total) >= abs(sum(signed)) for total in sums])
    values = np.array([differences, [0] * 7], float)
    assert stats.compare_signed_ranks(values, higher=True, seed=0).p[0, 1] == exact


def all_signs(n: int) -> list[tuple[int, ...]]:
    return list(itertools.product((1, -1), repeat=n))


def test_signed_ranks_do_not_read_the_size_of_differences() -> None:
    """One huge difference decides a mean; among ranks it is the last of ten."""
    gaps = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, -100.0])
    values = np.stack([gaps, np.zeros(10)])
    plain = stats.compare_signed_ranks(values, higher=True, seed=0)
    cubed = stats.compare_signed_ranks(values**3, higher=True, seed=0)
    assert plain.p[0, 1] == cubed.p[0, 1] < 0.1
    assert stats.compare(values, higher=True, seed=0).p[0, 1] > 0.5


def test_signed_ranks_read_common_examples_only() -> None:
    values = np.array([[1.0, 2, 3, 4, 5, np.nan, 9], [0, 0, 0, 0, 0, 7, np.nan]])
    found = stats.compare_signed_ranks(values, higher=True, seed=0)
    assert found.n[0, 1] == 5
    assert found.p[0, 1] == 2 / 2**5
