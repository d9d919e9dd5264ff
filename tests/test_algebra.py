"""Composition of attention matrices against closed forms and sums over paths."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial import algebra
from attrial.errors import AttrialError
from attrial.masks import Floats


def stochastic(rng: np.random.Generator, *shape: int) -> Floats:
    weights = rng.random(shape) ** 3
    return np.asarray(weights / weights.sum(-1, keepdims=True))


@pytest.mark.parametrize("r", [0.5, 0.0, 0.25])
def test_a1_uniform_attention_is_uniform_only_without_residual(r: float) -> None:
    n, layers = 4, 3
    got = algebra.rollout(np.full((layers, n, n), 1 / n), residual=r)
    expected = r**layers * np.eye(n) + (1 - r**layers) / n * np.ones((n, n))
    np.testing.assert_allclose(got, expected, atol=1e-9)
    if r == 0.5:
        np.testing.assert_allclose([got[0, 0], got[0, 1]], [11 / 32, 7 / 32], atol=1e-9)


@pytest.mark.parametrize("fusion", ["mean", "max", "min"])
@pytest.mark.parametrize("r", [0.0, 0.3, 0.5, 1.0])
def test_a2_identity_stays_identity(fusion: str, r: float) -> None:
    attention = np.broadcast_to(np.eye(3), (2, 4, 3, 3))
    np.testing.assert_allclose(algebra.rollout(attention, r, fusion), np.eye(3), atol=1e-9)


def test_a3_later_layers_stand_on_the_left() -> None:
    attention = np.array([[[1, 0], [1, 0]], [[0, 1], [0, 1]]], float)
    np.testing.assert_allclose(algebra.rollout(attention, 0.0), [[1, 0], [1, 0]], atol=1e-9)
    np.testing.assert_allclose(algebra.rollout(attention), [[0.75, 0.25], [0.5, 0.5]], atol=1e-9)
    wrong = algebra.rollout(attention[::-1])
    np.testing.assert_allclose(wrong, [[0.5, 0.5], [0.25, 0.75]], atol=1e-9)


@given(
    st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 4), st.sampled_from([0.0, 0.5, 0.8])
)
def test_a4_rollout_is_the_sum_over_all_paths(seed: int, n: int, layers: int, r: float) -> None:
    attention = stochastic(np.random.default_rng(seed), layers, n, n)
    mixed = [
        [[(1 - r) * a[i, j] + r * (i == j) for j in range(n)] for i in range(n)] for a in attention
    ]
    expected = np.zeros((n, n))
    for path in product(range(n), repeat=layers + 1):  # from the output down to the input
        share = 1.0
        for step, (i, j) in enumerate(pairwise(path)):
            share *= mixed[layers - 1 - step][i][j]
        expected[path[0], path[-1]] += share
    got = algebra.rollout(attention, r)
    np.testing.assert_allclose(got, expected, atol=1e-9)
    np.testing.assert_allclose(got.sum(1), 1, atol=1e-9)


def test_a5_causal_uniform_collapses_onto_the_first_token() -> None:
    causal = np.tril(np.ones((3, 3))) / np.arange(1, 4)[:, None]
    expected = np.array([[1, 0, 0], [3 / 4, 1 / 4, 0], [11 / 18, 5 / 18, 1 / 9]])
    np.testing.assert_allclose(algebra.rollout([causal, causal], 0.0), expected, atol=1e-9)


def test_a6_rows_are_normalised_after_max_fusion_and_never_nan_after_min() -> None:
    heads = np.array([[[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.7, 0.3]]]])
    expected = [[0.95 / 1.15, 0.2 / 1.15], [0.28, 0.72]]
    np.testing.assert_allclose(algebra.rollout(heads, fusion="max"), expected, atol=1e-9)
    apart = np.array([[[[1, 0], [0, 1]], [[0, 1], [1, 0]]]], float)
    for r in (0.5, 0.0):
        np.testing.assert_allclose(algebra.rollout(apart, r, "min"), np.eye(2), atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"residual": 1.5}, "residual=1.5"),
        ({"fusion": "men"}, "did you mean mean or min"),
        ({"start": 9}, "start=9"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(AttrialError, match=said):
        algebra.rollout(np.full((2, 1, 3, 3), 1 / 3), **arguments)  # type: ignore[arg-type]


def test_a_wrong_shape_is_named() -> None:
    with pytest.raises(AttrialError, match="shape"):
        algebra.rollout(np.ones((3, 2)))


def rollout_by_steps(
    encoder: Floats, decoder: Floats, cross: Floats, r: float
) -> tuple[Floats, Floats]:
    """One square product over [decoder | encoder] positions a step."""
    t, s = cross.shape[1:]
    total = np.eye(t + s)
    mixed = np.eye(t + s)
    for layer in encoder:
        mixed[t:, t:] = (1 - r) * layer + r * np.eye(s)
        total = mixed @ total
    for own, looks in zip(decoder, cross, strict=True):
        first, second = np.eye(t + s), np.eye(t + s)
        first[:t, :t] = (1 - r) * own + r * np.eye(t)
        second[:t, :t], second[:t, t:] = r * np.eye(t), (1 - r) * looks
        total = second @ first @ total
    return total[:t, :t], total[:t, t:]


def test_a10_encoder_and_decoder() -> None:
    cross, own = [[[0.25, 0.75]]], [[[1.0]]]
    d, x = algebra.rollout_encoder_decoder([[[0, 1], [1, 0]]], own, cross)
    np.testing.assert_allclose((d[0, 0], *x[0]), [0.5, 0.25, 0.25], atol=1e-9)
    d, x = algebra.rollout_encoder_decoder([np.eye(2)], own, cross)
    np.testing.assert_allclose((d[0, 0], *x[0]), [0.5, 0.125, 0.375], atol=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 0.8]))
def test_shares_of_decoder_and_encoder_sum_to_one(seed: int, r: float) -> None:
    rng = np.random.default_rng(seed)
    parts = stochastic(rng, 3, 4, 4), stochastic(rng, 2, 3, 3), stochastic(rng, 2, 3, 4)
    d, x = algebra.rollout_encoder_decoder(*parts, residual=r)
    np.testing.assert_allclose(np.c_[d, x].sum(1), 1, atol=1e-12)
    slow = rollout_by_steps(*parts, r)
    np.testing.assert_allclose(np.c_[d, x], np.c_[slow], atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 2, 3, 5), (1, 2, 5, 3)])
def test_cross_attention_is_folded_over_heads(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    cross = stochastic(rng, *shape)
    own, encoder = stochastic(rng, 1, *shape[2:3] * 2), stochastic(rng, 1, *shape[3:] * 2)
    whole = algebra.rollout_encoder_decoder(encoder, own, cross)
    folded = algebra.rollout_encoder_decoder(encoder, own, cross.mean(1))
    np.testing.assert_allclose(np.c_[whole], np.c_[folded], atol=1e-12)


def test_cross_attention_that_agrees_on_nothing_leaves_all_in_the_decoder() -> None:
    heads = np.array([[[[1.0, 0.0]], [[0.0, 1.0]]]])
    d, x = algebra.rollout_encoder_decoder([np.eye(2)], [[[1.0]]], heads, fusion="min")
    np.testing.assert_allclose((d[0, 0], *x[0]), [1, 0, 0], atol=1e-12)


def test_parts_that_don_t_fit_are_named() -> None:
    with pytest.raises(AttrialError, match="don't fit"):
        algebra.rollout_encoder_decoder([np.eye(3)], [[[1.0]]], [[[0.5, 0.5]]])


def test_discarding_takes_the_lowest_and_spares_whole_columns_and_ties() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.05, 0.6, 0.35]])
    expected = [[0, 0, 0.7], [0.3, 0.3, 0.4], [0, 0.6, 0.35]]
    np.testing.assert_array_equal(algebra.discard(weights, 3 / 9), expected)
    spared = [[0.1, 0, 0.7], [0.3, 0.3, 0.4], [0.05, 0.6, 0.35]]
    np.testing.assert_array_equal(algebra.discard(weights, 3 / 9, protect=[0]), spared)
    np.testing.assert_array_equal(algebra.discard(weights, 4 / 9), expected)  # .3 twice: both stay
    even = np.full((2, 3, 3), 1 / 3)
    np.testing.assert_array_equal(algebra.discard(even, 0.9), even)


def test_rows_are_whole_again_after_discarding() -> None:
    attention = stochastic(np.random.default_rng(1), 3, 2, 5, 5)
    got = algebra.rollout(attention, discard_ratio=0.6, protect=[0])
    np.testing.assert_allclose(got.sum(1), 1, atol=1e-12)
    by_hand = np.eye(5)
    for layer in attention.mean(1):
        bar = np.sort(layer.ravel())[15]
        left = np.array([[w if w >= bar or j == 0 else 0 for j, w in enumerate(r)] for r in layer])
        mixed = left / 2 + np.eye(5) / 2
        by_hand = mixed / mixed.sum(1, keepdims=True) @ by_hand
    np.testing.assert_allclose(got, by_hand, atol=1e-12)


def test_a_residual_of_each_layer_or_query() -> None:
    attention = stochastic(np.random.default_rng(2), 2, 3, 3)
    shares = [0.2, 0.9]
    first, second = ((1 - r) * a + r * np.eye(3) for a, r in zip(attention, shares, strict=True))
    np.testing.assert_allclose(algebra.rollout(attention, shares), second @ first, atol=1e-12)
    each = np.repeat(np.array(shares)[:, None], 3, axis=1)
    np.testing.assert_allclose(algebra.rollout(attention, each), second @ first, atol=1e-12)
    with pytest.raises(AttrialError, match="one a layer"):
        algebra.rollout(attention, [0.1, 0.2, 0.3])


def test_b1_one_head() -> None:
    weights, gradient = np.zeros((2, 1, 1, 3, 3))
    weights[0, 0, 0], gradient[0, 0, 0] = [0.2, 0.5, 0.3], [2, -1, 3]
    np.testing.assert_allclose(algebra.chefer(weights, gradient)[0], [1.4, 0, 0.9], atol=1e-9)


def test_b2_two_layers_are_the_identity_and_each_and_both() -> None:
    rng = np.random.default_rng(0)
    weights, gradient = stochastic(rng, 2, 4, 3, 3), rng.normal(size=(2, 4, 3, 3))
    kept = [
        [np.where(g * a > 0, g * a, 0) for g, a in zip(gs, ws, strict=True)]
        for gs, ws in zip(gradient, weights, strict=True)
    ]
    first, second = (np.asarray(sum(heads)) / 4 for heads in kept)
    expected = np.eye(3) + first + second + second @ first
    np.testing.assert_allclose(algebra.chefer(weights, gradient), expected, atol=1e-9)
    np.testing.assert_allclose(
        algebra.chefer(weights, gradient, start=1), np.eye(3) + second, atol=1e-9
    )


def test_gradients_of_another_shape_are_refused() -> None:
    with pytest.raises(AttrialError, match="both are"):
        algebra.chefer(np.ones((2, 1, 3, 3)), np.ones((2, 3, 3)))
