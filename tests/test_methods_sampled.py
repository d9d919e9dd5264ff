"""Methods that draw sets of players: exact answers, and the draws again, slow and plain."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, Ridge
from sklearn.preprocessing import StandardScaler

from attrial import plugin_call, testing
from attrial.ask import Keep
from attrial.errors import AttrialError
from attrial.example import plain
from attrial.masks import Floats, Masks, Scores, Values

UNIFORM_LIME = "lime(alpha=0.0, sampling='uniform', kernel_width=None)"
BANZHAF = ("banzhaf", UNIFORM_LIME, "context_cite(alpha=0.0)")
SAMPLED = ("shapley", "kernel_shap", "banzhaf", "lime", "context_cite", "sobol")


@dataclass(frozen=True)
class Table:
    """A game by the value of each set; player i is bit i of a set's number."""

    n: int
    values: Values

    def value(self, masks: Masks) -> Values:
        return np.asarray(self.values[masks @ (1 << np.arange(self.n))])

    def play(self, call: str, *, seed: int = 0) -> Scores:
        return testing.attribute(call, testing.game(self.n, self.value), seed=seed)


def table(seed: int, n: int) -> Table:
    """A random one."""
    return Table(n, np.random.default_rng(seed).normal(size=2**n))


def drawn(call: str, n: int, *, seed: int = 0) -> Masks:
    """The sets (k, n) that a method asks about, one asked twice standing there twice."""
    question = next(plugin_call.method(call)(plain(n), seed))
    assert isinstance(question, Keep)
    return question.masks


FIRST = [0.0, 1, 2, 4, 0, 1, 2, 4]  # of {}, 0, 1, 01, 2, 02, 12, 012


@pytest.mark.parametrize("method", [*BANZHAF, "kernel_shap"])
def test_c5_c7_the_first_game_is_the_same_to_all(method: str) -> None:
    got = Table(3, np.array(FIRST)).play(method)
    np.testing.assert_allclose(got, [1.5, 2.5, 0], atol=1e-8)


def test_c5_glove() -> None:
    glove = testing.game(3, lambda m: (m[:, 0] & (m[:, 1] | m[:, 2])).astype(float))
    got = testing.attribute("kernel_shap", glove)
    np.testing.assert_allclose(got, [2 / 3, 1 / 6, 1 / 6], atol=1e-9)


@pytest.mark.parametrize("method", [*BANZHAF, "kernel_shap"])
@pytest.mark.parametrize("kind", ["and", "or"])
def test_c6_c7_and_and_or_tell_banzhaf_from_shapley(method: str, kind: str) -> None:
    game = testing.game(3, lambda m: (m.all(1) if kind == "and" else m.any(1)).astype(float))
    expected = 1 / 3 if method == "kernel_shap" else 1 / 4
    np.testing.assert_allclose(testing.attribute(method, game), [expected] * 3, atol=1e-8)


def test_sobol_of_a_sum_and_of_and() -> None:
    weights = np.array([3.0, -2.0, 1.0, 0.0])
    game = testing.game(4, lambda m: m @ weights)
    np.testing.assert_allclose(
        testing.attribute("sobol", game), weights**2 / (weights**2).sum(), atol=1e-9
    )
    game = testing.game(3, lambda m: m.all(1).astype(float))
    # One in four contexts lets a player matter: (1/4 / 4) / (1/8 * 7/8).
    np.testing.assert_allclose(testing.attribute("sobol", game), [4 / 7] * 3, atol=1e-9)
    still = testing.game(3, lambda m: np.ones(len(m)))
    np.testing.assert_array_equal(testing.attribute("sobol", still), np.zeros(3))


def contexts(n: int, player: int) -> list[tuple[int, int]]:
    """Numbers of every set of the others, without the player and with it."""
    others = [i for i in range(n) if i != player]
    found = []
    for size in range(n):
        for kept in combinations(others, size):
            without = sum(1 << i for i in kept)
            found.append((without, without | 1 << player))
    return found


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=15, deadline=None)
def test_banzhaf_and_its_regressions_by_the_definition(seed: int, n: int) -> None:
    it = table(seed, n)
    expected = [
        np.mean([it.values[with_i] - it.values[without] for without, with_i in contexts(n, i)])
        for i in range(n)
    ]
    for method in BANZHAF:
        got = it.play(method)
        np.testing.assert_allclose(got, expected, atol=1e-7, err_msg=method)


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=15, deadline=None)
def test_kernel_shap_with_all_sets_is_shapley(seed: int, n: int) -> None:
    it = table(seed, n)
    np.testing.assert_allclose(it.play("kernel_shap"), it.play("shapley"), atol=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 6))
@settings(max_examples=15, deadline=None)
def test_sobol_is_the_variance_left_when_all_others_are_known(seed: int, n: int) -> None:
    it = table(seed, n)
    left = [
        np.mean([np.var([it.values[a], it.values[b]]) for a, b in contexts(n, i)]) for i in range(n)
    ]
    np.testing.assert_allclose(it.play("sobol"), np.array(left) / np.var(it.values), atol=1e-9)


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.parametrize("samples", [30, 101, 500])
def test_a_budget_is_kept(method: str, samples: int) -> None:
    exact = ", exact_up_to=0" if method in ("shapley", "banzhaf", "sobol") else ""
    rows = len(drawn(f"{method}(samples={samples}{exact})", 13))
    assert samples / 2 < rows <= samples


@pytest.mark.parametrize("method", SAMPLED)
def test_what_the_budget_pays_for_is_exact(method: str) -> None:
    got = {row.tobytes() for row in drawn(f"{method}(samples=512)", 9)}
    assert len(got) == 512 == len(drawn(f"{method}(samples=512)", 9))


@pytest.mark.parametrize("method", ["kernel_shap", "banzhaf(exact_up_to=0)", "context_cite"])
def test_sets_are_drawn_with_their_complements(method: str) -> None:
    rows = drawn(method, 13, seed=1)
    got = sorted(row.tobytes() for row in rows)
    assert got == sorted(row.tobytes() for row in ~rows)
    assert len(set(got)) > 60


@pytest.mark.parametrize("method", ["kernel_shap", "lime(alpha=0.0)", "sobol", *BANZHAF])
def test_draws_are_right_in_the_mean(method: str) -> None:
    """Half the sets of 9 players, many times over, against all of them."""
    it = table(2, 9)
    call = method.replace("(", "(samples=256, ") if "(" in method else f"{method}(samples=256)"
    if method in ("sobol", "banzhaf"):
        call = call.replace(")", ", exact_up_to=0)")
    many = np.array([it.play(call, seed=seed) for seed in range(150)])
    error = many.std(0) / np.sqrt(len(many))
    bias = 0.02 if method in ("kernel_shap", "lime(alpha=0.0)", "sobol") else 0  # ratios have some
    assert (error > 1e-4).all()
    exact = it.play(call.replace("256", "512"))
    assert (np.abs(many.mean(0) - exact) < 5 * error + bias).all()


def by_lagrange(sets: Masks, values: Values, total: float) -> Scores:
    """Least squares under sum(s) = total."""
    n = sets.shape[1]
    z = sets.astype(float)
    left = np.block([[2 * z.T @ z, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    return np.asarray(np.linalg.solve(left, np.append(2 * z.T @ values, total))[:n])


@pytest.mark.parametrize("seed", range(2))
def test_sampled_kernel_shap_solves_its_regression(seed: int) -> None:
    it, call = table(seed, 13), "kernel_shap(samples=300)"
    got, empty, total = it.play(call, seed=seed), it.values[0], it.values[-1] - it.values[0]
    assert got.sum() == pytest.approx(total, abs=1e-9)
    sets = drawn(call, 13, seed=seed)[2:]
    expected = by_lagrange(sets, it.value(sets) - empty, total)
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_sizes_are_drawn_by_the_shapley_kernel() -> None:
    n = 16
    sets = drawn("kernel_shap(samples=40002)", n)[2:]
    sizes = np.arange(1, n)
    mass = 1 / (sizes * (n - sizes))
    got = np.bincount(sets.sum(1), minlength=n + 1)[1:n] / len(sets)
    np.testing.assert_allclose(got, mass / mass.sum(), atol=0.01)
    np.testing.assert_allclose(sets.mean(0), 0.5, atol=1e-12)


def lime_kernel(sets: Masks) -> Floats:
    """As LIME has it: sqrt(exp(-d^2 / 25^2)), d = 100 (1 - cosine to all ones)."""
    n = sets.shape[1]
    weights = []
    for row in sets:
        cosine = row.sum() / (np.sqrt(row.sum()) * np.sqrt(n)) if row.any() else 0.0
        weights.append(np.sqrt(np.exp(-((100 * (1 - cosine)) ** 2) / 25.0**2)))
    return np.array(weights)


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_sampled_lime_is_scikit_learn_s_ridge(alpha: float) -> None:
    it, call = table(5, 13), f"lime(samples=200, alpha={alpha})"
    sets = drawn(call, 13)
    assert sets[0].all() and not sets[1:].all(1).any()
    model = Ridge(alpha=alpha).fit(sets, it.value(sets), sample_weight=lime_kernel(sets))
    np.testing.assert_allclose(it.play(call), model.coef_, atol=1e-8)


def test_lime_with_all_sets_counts_each_as_often_as_it_is_drawn() -> None:
    it = table(8, 4)
    sets = drawn("lime(samples=100)", 4)
    sizes = sets.sum(1)
    ways = {0: 1, 1: 4, 2: 6, 3: 4}
    counts = [1.0 if s == 4 else 99 / 4 / ways[int(s)] for s in sizes]
    weights = np.array(counts) * lime_kernel(sets)
    model = Ridge(alpha=1.0).fit(sets, it.value(sets), sample_weight=weights)
    np.testing.assert_allclose(it.play("lime(samples=100)"), model.coef_, atol=1e-8)


def test_sampled_context_cite_is_scikit_learn_s_lasso() -> None:
    it = table(6, 13)
    sets = drawn("context_cite", 13)
    assert len(sets) == 64
    scaler = StandardScaler().fit(sets)
    z = scaler.transform(sets)
    for alpha in (0.01, 0.2):
        model = Lasso(alpha=alpha, tol=1e-10, max_iter=100_000).fit(z, it.value(sets))
        got = it.play(f"context_cite(alpha={alpha})")
        np.testing.assert_allclose(got, model.coef_ / scaler.scale_, atol=1e-6)
    assert (got == 0).any()


@pytest.mark.parametrize("method", SAMPLED)
def test_few_draws_for_many_players_are_no_error(method: str) -> None:
    got = testing.attempt(f"{method}(samples=8)", testing.game(40, lambda m: m.mean(1)))
    assert got.result is not None and np.isfinite(got.result).all()


@pytest.mark.parametrize("samples", range(1, 6))
def test_one_player_and_hardly_a_row_is_no_error(samples: int) -> None:
    call = f"shapley(samples={samples}, exact_up_to=0)"
    game = testing.game(1, lambda m: 3 * m.sum(1) - 1)
    np.testing.assert_allclose(testing.attribute(call, game), [3])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("kernel_shap(samples=3)", "samples=3"),
        ("banzhaf(samples=1)", "samples=1"),
        ("sobol(samples=0)", "samples=0"),
        ("lime(samples=1)", "samples=1"),
        ("lime(sampling='all')", "sampling='all'"),
        ("context_cite(alpha=-0.1)", "alpha=-0.1"),
    ],
)
def test_arguments_out_of_range_are_named(call: str, said: str) -> None:
    with pytest.raises(AttrialError, match=said):
        testing.attribute(call, testing.game(3, lambda m: m.sum(1)))
