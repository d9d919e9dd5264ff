"""Maximum flow through attention against closed forms, minimum cuts and networkx."""

from itertools import product

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import algebra
from attrial.masks import Floats

FIRST, SECOND, THIRD = (
    [[0.6, 0.4], [0.3, 0.7]],
    [[0.5, 0.5], [0.2, 0.8]],
    [[0.9, 0.1], [0.5, 0.5]],
)


def stochastic(seed: int, layers: int, n: int, *, sparse: bool = False) -> Floats:
    rng = np.random.default_rng(seed)
    weights = rng.random((layers, n, n)) ** 3
    if sparse:
        weights *= (rng.random(weights.shape) < 0.5) | np.eye(n, dtype=bool)
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def minimum_cut(layers: Floats, source: int, sink: int) -> float:
    """The narrowest of all cuts: every way to put the nodes on the source's side or not."""
    depth, n = layers.shape[:2]
    sides = np.array(list(product((True, False), repeat=n)))
    tops, bottoms = sides[sides[:, source]], sides[~sides[:, sink]]
    # Cheapest way from each layer's side to the bottom, by trying all sides of the layer below.
    cost = {tuple(bottom): 0.0 for bottom in bottoms}
    for level in range(depth):
        above = tops if level == depth - 1 else sides
        cost = {
            tuple(up): min(
                below + layers[level][np.ix_(up, ~np.array(down))].sum()
                for down, below in cost.items()
            )
            for up in above
        }
    return float(min(cost.values()))


def by_networkx(layers: Floats, source: int, sink: int) -> float:
    depth, n = layers.shape[:2]
    graph = networkx.DiGraph()
    graph.add_nodes_from((level, i) for level in range(depth + 1) for i in range(n))
    for level, query, key in zip(*np.nonzero(layers), strict=True):
        width = layers[level, query, key]
        graph.add_edge((level + 1, query), (level, key), capacity=width)
    return float(networkx.maximum_flow_value(graph, (depth, source), (0, sink)))


def test_a2_identity_stays_identity() -> None:
    np.testing.assert_allclose(algebra.flow(np.tile(np.eye(3), (4, 1, 1))), np.eye(3), atol=1e-9)


def test_a7_one_layer_is_its_own_flow() -> None:
    got = algebra.flow([FIRST], 0.5)
    np.testing.assert_allclose(got, (np.array(FIRST) + np.eye(2)) / 2, atol=1e-9)


def test_a8_two_layers() -> None:
    layers = [FIRST, SECOND]
    np.testing.assert_allclose(algebra.flow(layers, 0), [[0.8, 0.9], [0.5, 0.9]], atol=1e-9)
    rows = [[8 / 17, 9 / 17], [5 / 14, 9 / 14]]
    np.testing.assert_allclose(algebra.flow(layers, 0, normalise=True), rows, atol=1e-9)
    np.testing.assert_allclose(algebra.rollout(layers, 0), [[0.45, 0.55], [0.36, 0.64]], atol=1e-9)
    np.testing.assert_allclose(algebra.flow(layers), [[0.9, 0.45], [0.25, 0.95]], atol=1e-9)
    rows = [[2 / 3, 1 / 3], [5 / 24, 19 / 24]]
    np.testing.assert_allclose(algebra.flow(layers, normalise=True), rows, atol=1e-9)


def test_a9_three_layers_tie() -> None:
    got = algebra.flow([FIRST, SECOND, THIRD], 0.0)
    np.testing.assert_allclose(got, [[0.9, 1], [0.9, 1]], atol=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 9), st.sampled_from([0.0, 0.5]))
@settings(max_examples=20, deadline=None)
def test_two_layers_have_a_closed_form(seed: int, n: int, residual: float) -> None:
    layers = stochastic(seed, 2, n)
    below, above = (1 - residual) * layers + residual * np.eye(n)
    expected = np.minimum(above[:, :, None], below[None, :, :]).sum(1)
    np.testing.assert_allclose(algebra.flow(layers, residual), expected, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.booleans())
@settings(max_examples=20, deadline=None)
def test_flow_is_the_minimum_over_all_cuts(seed: int, n: int, depth: int, sparse: bool) -> None:
    layers = stochastic(seed, depth, n, sparse=sparse)
    expected = [[minimum_cut(layers, i, j) for j in range(n)] for i in range(n)]
    np.testing.assert_allclose(algebra.flow(layers, 0.0), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_networkx_agrees(seed: int) -> None:
    layers = stochastic(seed, 5, 8, sparse=True)
    expected = [by_networkx(layers, 3, j) for j in range(8)]
    np.testing.assert_allclose(algebra.flow(layers, 0.0, rows=[3])[0], expected, atol=1e-9)


def test_uniform_attention_without_residual_lets_everything_through() -> None:
    np.testing.assert_allclose(algebra.flow(np.full((3, 4, 4), 0.25), 0.0), 1, atol=1e-12)
