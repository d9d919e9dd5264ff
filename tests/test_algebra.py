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
