"""Attention flow: the most that can stream from an output to an input through narrow layers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from attrial.algebra.matrices import add_residual, fuse, weights_of
from attrial.masks import Floats

UNITS = 2**29  # whole units that the flow is counted in: a pair of opposite edges fits 32 bits
EXACT = 1e-13  # what may be missing of a flow


def flow(
    attention: npt.ArrayLike,
    residual: npt.ArrayLike = 0.5,
    fusion: str = "mean",
    *,
    rows: Sequence[int] | None = None,
    normalise: bool = False,
) -> Floats:
    """Attention flow: F[i, j] = maximum flow from output i to input j, weights being capacities.

    Args:
        attention: (L, H, n, n) or (L, n, n), layer 0 nearest the input, query rows.
        residual: Share of the identity in each layer; (L,) for one a layer.
        fusion: ``mean``, ``max`` or ``min`` over heads.
        rows: Outputs that are wanted; None for all n.
        normalise: Whether rows are scaled to sum 1, as the paper's code does.

    Returns:
        (rows, n), each from 0 to 1, proven to 1e-13 by a cut of the same capacity. With one layer
        it is the matrix itself, with two sum_k min(A_2[i, k], A_1[k, j]). Ties are common: where
        an input's own column is the narrowest cut, every output has the same flow to it.

    Source: Abnar & Zuidema 2020, arXiv 2005.00928.
    """
    layers = add_residual(fuse(weights_of(attention), fusion), residual)
    depth, n = layers.shape[:2]
    graph = _graph(layers)
    outputs = range(n) if rows is None else rows
    amounts = np.array([[_most(graph, depth * n + i, j) for j in range(n)] for i in outputs])
    return np.asarray(amounts / amounts.sum(-1, keepdims=True)) if normalise else amounts


def _graph(layers: Floats) -> csr_array[np.float64]:
    """Capacities between the nodes l * n + position, l = 0 being the inputs."""
    depth, n = layers.shape[:2]
    layer, query, key = np.nonzero(layers)
    ends = ((layer + 1) * n + query, layer * n + key)
    size = (depth + 1) * n
    return csr_array((layers[layer, query, key], ends), shape=(size, size))


def _most(capacity: csr_array[np.float64], source: int, sink: int) -> float:
    """The maximum flow: whole-number flows, each on what the last left, until a cut proves it."""
    left, total, missing = capacity, 0.0, 1.0
    while missing > EXACT:
        scale = UNITS / missing
        whole = _whole(left, missing, scale)
        found = maximum_flow(whole, source, sink)
        total += found.flow_value / scale
        left = csr_array(left - found.flow / scale)
        missing = _across(left, csr_array(whole - found.flow), source)
    return total + missing


def _whole(left: csr_array[np.float64], most: float, scale: float) -> csr_array[np.int32]:
    """Capacities as whole units; none needs more than what is missing of the flow."""
    whole = left.copy()
    whole.data = np.floor(np.clip(left.data, 0, most) * scale)
    return csr_array(whole.astype(np.int32))


def _across(left: csr_array[np.float64], rest: csr_array[np.int32], source: int) -> float:
    """What could still pass the cut around the nodes that whole units still reach."""
    rest.eliminate_zeros()
    inside = np.zeros(left.shape[0], bool)
    inside[breadth_first_order(rest, source, return_predecessors=False)] = True
    edges = left.tocoo()
    crossing = inside[edges.row] & ~inside[edges.col]
    return float(np.maximum(edges.data[crossing], 0).sum())
