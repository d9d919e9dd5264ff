"""Registered methods on games whose right answer is known without trusting any library."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import testing
from attrial.errors import AttrialError
from attrial.masks import Floats, Masks, Scores

W = np.array([1.0, -2.0, 0.5])
ROWS = np.array([[1, 0, 2], [0, 1, 0], [3, 1, 1], [0, 1, 0]], float)
PAD = np.array([0.5, 0.5, 0.0])


def bag(scale: float = 1.0, baseline: Floats = PAD) -> testing.Smooth:
    """A linear bag of words: value (sum over tokens of w.e) times a scale."""
    return testing.smooth(
        lambda x: scale * (x @ W).sum(1),
        lambda x: np.broadcast_to(scale * W, x.shape),
        ROWS,
        np.tile(baseline, (4, 1)),
    )


@pytest.mark.parametrize(
    "method",
    ["integrated_gradients", "occlusion", "shapley", "kernel_shap", "banzhaf", "lime(alpha=0.0)",
     "lime(alpha=0.0, sampling='uniform')", "context_cite(alpha=0.0)", "expected_gradients",
     "sequential_integrated_gradients"],
)  # fmt: skip
def test_c1_a_linear_bag_has_one_answer_under_the_pad_baseline(method: str) -> None:
    np.testing.assert_allclose(testing.attribute(method, bag()), [2.5, -1.5, 2, -1.5], atol=1e-8)


def test_c1_gradient_times_input_has_no_baseline() -> None:
    scores = testing.attribute("input_x_gradient", bag())
    np.testing.assert_allclose(scores, [2, -2, 1.5, -2], atol=1e-9)


@pytest.mark.parametrize(
    "method",
    ["integrated_gradients", "integrated_gradients(baseline='zero')", "occlusion", "shapley",
     "input_x_gradient"],
)  # fmt: skip
def test_c1_a_zero_baseline_makes_all_equal(method: str) -> None:
    scores = testing.attribute(method, bag(baseline=np.zeros(3)))
    np.testing.assert_allclose(scores, [2, -2, 1.5, -2], atol=1e-9)
    assert scores[1] == scores[3]  # the same word twice


def test_c2_deleting_from_a_mean_is_not_replacing_in_it() -> None:
    scores = testing.attribute("occlusion", bag(scale=1 / 4))
    np.testing.assert_allclose(scores, [0.625, -0.375, 0.5, -0.375], atol=1e-9)
    tokens = ROWS @ W

    def mean_of_kept(masks: Masks) -> Floats:
        return np.array([tokens[m].mean() if m.any() else 0.0 for m in masks])

    deleted = testing.attribute("occlusion", testing.game(4, mean_of_kept))
    np.testing.assert_allclose(deleted, [0.708333, -0.625, 0.541667, -0.625], atol=5e-7)


def quadratic() -> testing.Smooth:
    """f = x1^2 + 3 x1 x2 at (2, 1), baseline 0."""

    def value(x: Floats) -> Floats:
        return np.asarray(x[:, 0, 0] ** 2 + 3 * x[:, 0, 0] * x[:, 1, 0])

    def gradient(x: Floats) -> Floats:
        parts = [2 * x[:, 0, 0] + 3 * x[:, 1, 0], 3 * x[:, 0, 0]]
        return np.stack(parts, axis=1)[:, :, None]

    return testing.smooth(value, gradient, [[2.0], [1.0]], [[0.0], [0.0]])


def test_c3_one_gauss_legendre_point_is_exact_on_a_quadratic() -> None:
    scores = testing.attribute("integrated_gradients(steps=1, refine=False)", quadratic())
    np.testing.assert_allclose(scores, [7, 3], atol=1e-9)


@pytest.mark.parametrize(("rule", "total"), [("left", 9), ("right", 11), ("trapezoid", 10)])
def test_c3_riemann_sums_miss_by_what_theory_says(rule: str, total: float) -> None:
    call = f"integrated_gradients(steps=10, quadrature={rule!r}, refine=False)"
    got = testing.attempt(call, quadratic())
    assert got.result is not None
    assert got.result.sum() == pytest.approx(total, abs=1e-9)
    assert got.notes["completeness_gap"] == pytest.approx(abs(total - 10), abs=1e-9)


def test_steps_double_until_the_gap_is_small_or_the_cap_is_met_and_say_so() -> None:
    got = testing.attempt("integrated_gradients(steps=10, quadrature='left')", quadratic())
    assert (got.notes["steps"], got.notes["converged"]) == (160, 1.0)  # gap 10/steps < 1 % of 10
    got = testing.attempt("integrated_gradients(steps=10, quadrature='left', cap=40)", quadratic())
    assert (got.notes["steps"], got.notes["converged"]) == (40, 0.0)


def saturated() -> testing.Smooth:
    """f = 1 - relu(1 - x) at 2, baseline 0."""
    return testing.smooth(
        lambda x: 1 - np.maximum(1 - x[:, 0, 0], 0),
        lambda x: (x < 1).astype(float),
        [[2.0]],
        [[0.0]],
    )


@pytest.mark.parametrize(
    ("method", "score"),
    [
        ("gradient_norm", 0),
        ("input_x_gradient", 0),
        ("integrated_gradients(quadrature='midpoint')", 1),
        ("integrated_gradients(quadrature='left')", 1),
        ("integrated_gradients", 1),
        ("occlusion", 1),
        ("gradient_sum_abs", 0),
        ("smooth_grad(noise=0.0)", 0),
        ("expected_gradients(samples=400)", 1),
        ("sequential_integrated_gradients(quadrature='left')", 1),
    ],
)
def test_c4_saturation_hides_from_gradients(method: str, score: float) -> None:
    assert testing.attribute(method, saturated())[0] == pytest.approx(score, abs=0.01)


def table(values: dict[tuple[int, ...], float], n: int) -> testing.Game:
    def value(masks: Masks) -> Floats:
        return np.array([values.get(tuple(np.flatnonzero(m).tolist()), 0.0) for m in masks])

    return testing.game(n, value)


FIRST = {(0,): 1.0, (1,): 2.0, (0, 1): 4.0, (0, 2): 1.0, (1, 2): 2.0, (0, 1, 2): 4.0}
GLOVE = {(0, 1): 1.0, (0, 2): 1.0, (0, 1, 2): 1.0}


def test_c5_shapley_of_small_games() -> None:
    first = testing.attribute("shapley", table(FIRST, 3))
    np.testing.assert_allclose(first, [1.5, 2.5, 0], atol=1e-9)
    glove = testing.attribute("shapley", table(GLOVE, 3))
    np.testing.assert_allclose(glove, [2 / 3, 1 / 6, 1 / 6], atol=1e-9)


@pytest.mark.parametrize(("value", "occluded"), [("all", 1), ("any", 0)])
def test_c6_leaving_one_out_is_no_ground_truth(value: str, occluded: float) -> None:
    game = testing.game(3, lambda m: (m.all(1) if value == "all" else m.any(1)).astype(float))
    np.testing.assert_allclose(testing.attribute("shapley", game), [1 / 3] * 3, atol=1e-9)
    np.testing.assert_allclose(testing.attribute("occlusion", game), [occluded] * 3, atol=1e-9)


def random_game(seed: int, n: int) -> testing.Game:
    values = np.random.default_rng(seed).normal(size=2**n)
    return testing.game(n, lambda masks: values[masks @ (1 << np.arange(n))])


def slow_shapley(game: testing.Game) -> Scores:
    """By the definition: the mean rise over all n! orders."""
    n = game.example.n
    total = np.zeros(n)
    for order in permutations(range(n)):
        mask = np.zeros((1, n), bool)
        before = np.asarray(game.value(mask))[0]
        for player in order:
            mask[0, player] = True
            after = np.asarray(game.value(mask))[0]
            total[player] += after - before
            before = after
    return np.asarray(total / factorial(n))


@given(st.integers(0, 10**6), st.integers(1, 5))
@settings(max_examples=25)
def test_exact_shapley_is_the_mean_over_all_orders(seed: int, n: int) -> None:
    game = random_game(seed, n)
    np.testing.assert_allclose(testing.attribute("shapley", game), slow_shapley(game), atol=1e-9)


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_sampled_shapley_is_efficient_and_right_in_the_mean(seed: int) -> None:
    game = random_game(seed, 5)
    exact = testing.attribute("shapley", game)
    call = "shapley(exact_up_to=0, samples=20)"
    drawn = np.array([testing.attribute(call, game, seed=seed + i) for i in range(400)])
    full, empty = (np.asarray(game.value(np.full((1, 5), kept)))[0] for kept in (True, False))
    np.testing.assert_allclose(drawn.sum(1), full - empty, atol=1e-9)
    error = drawn.std(0) / np.sqrt(len(drawn))
    assert (error > 0).all() and (np.abs(drawn.mean(0) - exact) < 5 * error).all()


def test_antithetic_pairs_are_exact_on_pairwise_interactions() -> None:
    rng = np.random.default_rng(0)
    pairs = np.triu(rng.normal(size=(6, 6)))
    game = testing.game(6, lambda m: np.einsum("ki,ij,kj->k", m * 1.0, pairs, m * 1.0))
    exact = testing.attribute("shapley", game)
    two = testing.attribute("shapley(exact_up_to=0, samples=12)", game, seed=5)
    np.testing.assert_allclose(two, exact, atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 8))
@settings(max_examples=25)
def test_windows_share_their_drop(seed: int, n: int, window: int) -> None:
    game = random_game(seed, n)
    width = min(window, n)
    full = float(np.asarray(game.value(np.ones((1, n), bool)))[0])
    expected = []
    for i in range(n):
        shares = []
        for start in range(n - width + 1):
            if start <= i < start + width:
                mask = np.ones((1, n), bool)
                mask[0, start : start + width] = False
                shares.append((full - float(np.asarray(game.value(mask))[0])) / width)
        expected.append(np.mean(shares))
    got = testing.attribute(f"occlusion(window={window})", game)
    np.testing.assert_allclose(got, expected, atol=1e-9)


def cubic(seed: int) -> testing.Smooth:
    """A smooth function of three vectors of width two, with its gradient by hand."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(3, 2))

    def value(x: Floats) -> Floats:
        return np.asarray(np.tanh((x * a).sum((1, 2))) + x[:, 0, 0] * x[:, 1, 1] ** 2)

    def gradient(x: Floats) -> Floats:
        out = (1 - np.tanh((x * a).sum((1, 2))) ** 2)[:, None, None] * a
        out[:, 0, 0] += x[:, 1, 1] ** 2
        out[:, 1, 1] += 2 * x[:, 0, 0] * x[:, 1, 1]
        return np.asarray(out)

    return testing.smooth(value, gradient, rng.normal(size=(3, 2)), rng.normal(size=(3, 2)))


def finite_differences(game: testing.Smooth, at: Floats) -> Floats:
    """The gradient by central differences, one entry at a time."""
    out = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[place] = 1e-6
        up, down = (float(np.asarray(game.function((at + s)[None]))[0]) for s in (step, -step))
        out[place] = (up - down) / 2e-6
    return out


@pytest.mark.parametrize("seed", range(3))
def test_gradient_methods_against_finite_differences(seed: int) -> None:
    game = cubic(seed)
    gradient = finite_differences(game, game.point)
    for order in (1, 2):
        expected = [np.linalg.norm(row, ord=order) for row in gradient]
        got = testing.attribute(f"gradient_norm(order={order})", game)
        np.testing.assert_allclose(got, expected, atol=1e-7)
    got = testing.attribute("gradient_sum_abs", game)
    np.testing.assert_allclose(got, [abs(sum(row)) for row in gradient], atol=1e-7)
    product = [float(row @ x) for row, x in zip(gradient, game.point, strict=True)]
    np.testing.assert_allclose(testing.attribute("input_x_gradient", game), product, atol=1e-7)


def test_c3_one_at_a_time_is_leaving_one_out() -> None:
    scores = testing.attribute("sequential_integrated_gradients", quadratic())
    np.testing.assert_allclose(scores, [10, 6], atol=1e-9)  # 10 - 0 and 10 - 4


@pytest.mark.parametrize("seed", range(3))
def test_integrated_gradients_against_a_plain_riemann_sum(seed: int) -> None:
    game = cubic(seed)
    total = np.zeros(3)
    for step in range(2000):
        at = game.baseline + (step + 0.5) / 2000 * (game.point - game.baseline)
        slopes = np.asarray(game.gradient(at[None]))[0]
        total += ((game.point - game.baseline) * slopes).sum(1) / 2000
    np.testing.assert_allclose(testing.attribute("integrated_gradients", game), total, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("integrated_gradients(steps=0)", "steps=0"),
        ("integrated_gradients(quadrature='simpson')", "no quadrature 'simpson'"),
        ("occlusion(window=0)", "window=0"),
        ("shapley(samples=0)", "samples=0"),
        ("gradient_norm(order=3)", "order=3"),
    ],
)
def test_arguments_out_of_range_are_named(call: str, said: str) -> None:
    with pytest.raises(AttrialError, match=said):
        testing.attribute(call, bag())


def bag_again() -> testing.Smooth:
    """The linear bag written another way: token by token, word by word."""

    def value(x: Floats) -> Floats:
        return np.array([sum(sum(a * b for a, b in zip(e, W, strict=True)) for e in k) for k in x])

    def gradient(x: Floats) -> Floats:
        return np.array([[list(W) for _ in k] for k in x])

    return testing.smooth(value, gradient, ROWS, [PAD] * 4)


@pytest.mark.parametrize("method", ["integrated_gradients", "shapley", "input_x_gradient"])
def test_c12_two_codes_of_one_function_get_one_answer(method: str) -> None:
    once, again = (testing.attribute(method, g) for g in (bag(), bag_again()))
    np.testing.assert_allclose(once, again, atol=1e-12)
