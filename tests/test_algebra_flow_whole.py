"""Flow through few edges against flow through the whole graph, on attention of many shapes."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from attrial.algebra import maximum_flow as few
from attrial.masks import Floats

UNITS = 2**29
Shape = Callable[[np.random.Generator, int, int], Floats]


def whole_flow(layers: Floats, source: int) -> Floats:
    """One solution a sink on the graph of all edges, refined until its cut proves it: (n,)."""
    depth, n = layers.shape[:2]
    layer, query, key = np.nonzero(layers)
    ends = ((layer + 1) * n + query, layer * n + key)
    size = (depth + 1) * n
    graph = csr_array((layers[layer, query, key], ends), shape=(size, size))
    return np.array([refined(graph, depth * n + source, sink) for sink in range(n)])


def refined(capacity: csr_array[np.float64], source: int, sink: int) -> float:
    """Whole-number flows on what the last left, until no more than 1e-13 can be missing."""
    left, total, missing = capacity.copy(), 0.0, 1.0
    while missing > 1e-13:
        scale = UNITS / missing
        whole = left.copy()
        whole.data = np.floor(np.clip(left.data, 0, missing) * scale)
        whole = csr_array(whole.astype(np.int32))
        found = maximum_flow(whole, source, sink)
        total += found.flow_value / scale
        left = csr_array(left - found.flow / scale)
        rest = csr_array(whole - found.flow)
        rest.eliminate_zeros()
        inside = np.zeros(left.shape[0], bool)
        inside[breadth_first_order(rest, source, return_predecessors=False)] = True
        edges = left.tocoo()
        crossing = inside[edges.row] & ~inside[edges.col]
        missing = float(np.maximum(edges.data[crossing], 0).sum())
    return total + missing


def rows_of_one(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def even(rng: np.random.Generator, depth: int, n: int) -> Floats:
    """As an untrained model attends."""
    return rows_of_one(1 + 0.1 * rng.random((depth, n, n)))


def peaked(rng: np.random.Generator, depth: int, n: int) -> Floats:
    """A few keys for each query."""
    return rows_of_one(np.exp(4 * rng.normal(size=(depth, n, n))))


def to_itself(rng: np.random.Generator, depth: int, n: int) -> Floats:
    """The source's own column is narrow in all layers, as on trained classifiers."""
    weights = even(rng, depth, n)
    weights[:, 0] *= 0.05
    weights[:, 0, 0] = 1 - weights[:, 0, 1:].sum(-1)
    return weights


def backwards(rng: np.random.Generator, depth: int, n: int) -> Floats:
    """As a decoder attends: nothing after the query is seen, and some inputs can't be reached."""
    return rows_of_one(np.tril(rng.random((depth, n, n)) ** 3 + 1e-3))


def sparse(rng: np.random.Generator, depth: int, n: int) -> Floats:
    """Most weights are nought, many ways are dead ends."""
    weights = rng.random((depth, n, n)) ** 3
    return rows_of_one(weights * ((rng.random(weights.shape) < 0.15) | np.eye(n, dtype=bool)))


@pytest.mark.parametrize("shape", [even, peaked, to_itself, backwards, sparse])
@pytest.mark.parametrize("residual", [0.0, 0.5])
@pytest.mark.parametrize(("depth", "n"), [(1, 9), (3, 25), (6, 16)])
def test_few_edges_pass_as_much_as_all(shape: Shape, residual: float, depth: int, n: int) -> None:
    weights = shape(np.random.default_rng(n), depth, n)
    layers = (1 - residual) * weights + residual * np.eye(n)
    got = few.flow(weights, residual, rows=[0, n // 2])
    expected = [whole_flow(layers, source) for source in (0, n // 2)]
    np.testing.assert_allclose(got, expected, rtol=0, atol=3e-13)


def test_where_the_first_edges_are_too_few_others_are_opened() -> None:
    """Without a residual nothing stays at its position, so flows begin with far too few edges."""
    layers = peaked(np.random.default_rng(0), 4, 20)
    likely = few._likely(4, 20, 0, 3)
    begun, _ = few._passed(layers, likely, 0, 3)
    width, opened = few._most(layers, likely, 0, 3)
    assert width > begun + 1e-3
    assert 0 < len(opened) < layers.size / 2


def test_long_inputs_need_few_edges() -> None:
    """The point of it: the edges that were opened are a small part of the graph."""
    layers = 0.5 * even(np.random.default_rng(1), 6, 120) + 0.5 * np.eye(120)
    likely = few._likely(6, 120, 0, 7)
    width, opened = few._most(layers, likely, 0, 7)
    assert width == pytest.approx(min(1.0, layers[0, :, 7].sum()), abs=1e-12)
    assert len(likely) + len(opened) < layers.size / 20
