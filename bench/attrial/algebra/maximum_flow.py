"""Attention flow: the most that can stream from an output to an input through narrow layers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from attrial.algebra.matrices import add_residual, fuse, weights_of
from attrial.masks import Bools, Floats, Ints

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
        (rows, n), each from 0 to 1: the capacity of a cut that a flow fills to 1e-13. With one
        layer it is the matrix itself, with two sum_k min(A_2[i, k], A_1[k, j]). Ties are common:
        where an input's own column is the narrowest cut, every output has the same flow to it.

    Source: Abnar & Zuidema 2020, arXiv 2005.00928.
    """
    layers = add_residual(fuse(weights_of(attention), fusion), residual)
    outputs = range(layers.shape[1]) if rows is None else rows
    amounts = np.array([_from(layers, i) for i in outputs])
    return np.asarray(amounts / amounts.sum(-1, keepdims=True)) if normalise else amounts


def _from(layers: Floats, source: int) -> Floats:
    """The maximum flow from one output to each input: (n,).

    A flow through few edges and a cut through all of them that it fills prove each other. Edges
    that one input needed are open to the next: the narrow places are mostly the same.
    """
    depth, n = layers.shape[:2]
    widths, shared = np.zeros(n), np.zeros(0, np.int64)
    for sink in range(n):
        likely = _likely(depth, n, source, sink)
        widths[sink], more = _most(layers, np.union1d(likely, shared), source, sink)
        shared = np.union1d(shared, more[more >= n * n])  # the lowest edges lead to one input each
    return widths


def _likely(depth: int, n: int, source: int, sink: int) -> Ints:
    """Edges that flows begin with, by their places in ``layers.ravel()``.

    They stay at a position, leave the source's or come to the sink's.
    """
    every = np.arange(n)
    starts = np.arange(1, depth)[:, None] * n * n
    kinds = (every * (n + 1), source * n + every, every * n + sink)
    return np.concatenate([every * n + sink, *(np.ravel(starts + kind) for kind in kinds)])


def _most(layers: Floats, edges: Ints, source: int, sink: int) -> tuple[float, Ints]:
    """The maximum flow, and the edges (k,) that had to be opened besides those given."""
    n = layers.shape[1]
    opened, more = edges, n
    while True:
        passed, inside = _passed(layers, opened, source, sink)
        width, closed = _width(layers, inside), np.zeros(0, np.int64)
        if width - passed > EXACT:
            closed = _widest(layers, inside, opened, more)
        if not len(closed):
            return width, np.setdiff1d(opened, edges)
        opened, more = np.union1d(opened, closed), 2 * more


def _width(layers: Floats, inside: Bools) -> float:
    """Capacity of all edges that lead out of the nodes (L + 1, n) on the source's side."""
    pairs = zip(inside[1:], layers, ~inside[:-1], strict=True)
    return float(sum((above.astype(float) @ layer) @ below for above, layer, below in pairs))


def _widest(layers: Floats, inside: Bools, opened: Ints, most: int) -> Ints:
    """The widest edges that lead out of these nodes and aren't opened yet."""
    closed = inside[1:, :, None] & ~inside[:-1, None, :] & (layers > 0)
    closed.ravel()[opened] = False
    places = np.flatnonzero(closed)
    return places[np.argsort(-layers.ravel()[places], kind="stable")[:most]]


def _passed(layers: Floats, edges: Ints, source: int, sink: int) -> tuple[float, Bools]:
    """The maximum flow through these edges, and a narrowest cut's nodes (L + 1, n) above it.

    Whole-number flows, each on what the last left, until a cut proves it.
    """
    depth, n = layers.shape[:2]
    left, total, missing = _graph(layers, edges), 0.0, 1.0
    inside = np.zeros(0, bool)
    while missing > EXACT:
        scale = UNITS / missing
        whole = _whole(left, missing, scale)
        found = maximum_flow(whole, depth * n + source, sink)
        total += found.flow_value / scale
        left = csr_array(left - found.flow / scale)
        inside = _reached(csr_array(whole - found.flow), depth * n + source)
        missing = _across(left, inside)
    nodes = inside.reshape(depth + 1, n)
    nodes[0] = np.arange(n) != sink  # from other inputs nothing leads on
    return total + missing, nodes


def _graph(layers: Floats, edges: Ints) -> csr_array[np.float64]:
    """Capacities between the nodes l * n + position, l = 0 being the inputs."""
    depth, n = layers.shape[:2]
    capacity = layers.ravel()[edges]
    layer, query, key = np.unravel_index(edges[capacity > 0], layers.shape)
    ends = ((layer + 1) * n + query, layer * n + key)
    size = (depth + 1) * n
    return csr_array((capacity[capacity > 0], ends), shape=(size, size))


def _whole(left: csr_array[np.float64], most: float, scale: float) -> csr_array[np.int32]:
    """Capacities as whole units; none needs more than what is missing of the flow."""
    whole = left.copy()
    whole.data = np.floor(np.clip(left.data, 0, most) * scale)
    return csr_array(whole.astype(np.int32))


def _reached(rest: csr_array[np.int32], source: int) -> Bools:
    """Which nodes whole units still reach."""
    rest.eliminate_zeros()
    inside = np.zeros(rest.shape[0], bool)
    inside[breadth_first_order(rest, source, return_predecessors=False)] = True
    return inside


def _across(left: csr_array[np.float64], inside: Bools) -> float:
    """What could still pass the cut around these nodes."""
    edges = left.tocoo()
    crossing = inside[edges.row] & ~inside[edges.col]
    return float(np.maximum(edges.data[crossing], 0).sum())
