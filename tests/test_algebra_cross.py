"""Relevance through encoder and decoder against sums over paths and rules spelled out."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial import algebra
from attrial.errors import AttrialError
from attrial.masks import Floats

S, T = 3, 2  # positions of encoder and decoder
Pair = tuple[Floats, Floats]


def pair(rng: np.random.Generator, *shape: int) -> Pair:
    weights = rng.random(shape)
    return weights / weights.sum(-1, keepdims=True), rng.normal(size=shape)


def parts(seed: int, *, depth: int = 2, heads: int = 2) -> tuple[Pair, Pair, Pair]:
    rng = np.random.default_rng(seed)
    shapes = ((depth, heads, S, S), (depth, heads, T, T), (depth, heads, T, S))
    first, second, third = (pair(rng, *shape) for shape in shapes)
    return first, second, third


def averaged(attention: Floats, gradient: Floats) -> Floats:
    """mean_h relu(A * G) a cell at a time."""
    depth, heads, t, s = attention.shape
    out = np.zeros((depth, t, s))
    for layer, h, i, j in product(range(depth), range(heads), range(t), range(s)):
        out[layer, i, j] += max(0.0, attention[layer, h, i, j] * gradient[layer, h, i, j]) / heads
    return out


def by_paths(encoder: Floats, decoder: Floats, cross: Floats) -> Floats:
    """(T, T + S): every way down from a decoder's output, one step at a time.

    At each step one stays or goes along one weight; the encoder's steps lie below the decoder's.
    """
    nodes = range(T + S)

    def step(matrix: Floats, rows: int, columns: int) -> dict[tuple[int, int], float]:
        """Weights between nodes 0..T-1 (decoder) and T.. (encoder) that start at these offsets."""
        cells = {(n, n): 1.0 for n in nodes}
        for i, j in product(range(matrix.shape[0]), range(matrix.shape[1])):
            at = (rows + i, columns + j)
            cells[at] = cells.get(at, 0.0) + matrix[i, j]
        return cells

    steps = [step(layer, T, T) for layer in encoder]
    for own, looks in zip(decoder, cross, strict=True):
        steps += [step(own, 0, 0), step(looks, 0, T)]
    total = np.zeros((T, T + S))
    for start in range(T):
        reached = {start: 1.0}
        for cells in reversed(steps):
            below: dict[int, float] = {}
            for (i, j), weight in cells.items():
                below[j] = below.get(j, 0.0) + reached.get(i, 0.0) * weight
            reached = below
        for node, amount in reached.items():
            total[start, node] = amount
    return total


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_linear_rule_is_the_sum_over_all_paths(seed: int, depth: int) -> None:
    pairs = parts(seed, depth=depth)
    d, x = algebra.chefer_encoder_decoder(*pairs)
    assert d.shape == (T, T) and x.shape == (T, S)
    expected = by_paths(*(averaged(*p) for p in pairs))
    np.testing.assert_allclose(np.c_[d, x], expected, atol=1e-12)
    assert (d >= np.eye(T) - 1e-12).all() and (x >= 0).all()


def published(encoder: Floats, decoder: Floats, cross: Floats) -> tuple[Floats, Floats]:
    """Rules 6, 7 and 10 a cell at a time."""

    def scaled(relevance: Floats) -> Floats:
        n = len(relevance)
        out = np.eye(n)
        for i in range(n):
            total = sum(relevance[i, j] - (i == j) for j in range(n))
            for j in range(n):
                out[i, j] += (relevance[i, j] - (i == j)) / total if total > 0 else 0.0
        return out

    q = np.eye(S)
    for layer in encoder:
        q = q + np.array([[sum(layer[i, k] * q[k, j] for k in range(S)) for j in range(S)]
                          for i in range(S)])  # fmt: skip
    ss, sq = np.eye(T), np.zeros((T, S))
    for own, looks in zip(decoder, cross, strict=True):
        ss, sq = ss + own @ ss, sq + own @ sq
        left, right = scaled(ss), scaled(q)
        for i, j in product(range(T), range(S)):
            for k, m in product(range(T), range(S)):
                sq[i, j] += left[k, i] * looks[k, m] * right[m, j]
    return ss, sq


@given(st.integers(0, 10**6))
def test_the_published_rule_is_rule_ten(seed: int) -> None:
    pairs = parts(seed)
    got = algebra.chefer_encoder_decoder(*pairs, rule="published")
    expected = published(*(averaged(*p) for p in pairs))
    np.testing.assert_allclose(np.c_[got], np.c_[expected], atol=1e-12)
    assert np.isfinite(got[1]).all()


def test_the_transpose_shows() -> None:
    """The decoder's output 1 looks at its input 0, and input 0 at the encoder's 2."""
    own, cross, alone = np.zeros((1, 1, T, T)), np.zeros((1, 1, T, S)), np.zeros((1, 1, S, S))
    own[0, 0, 1, 0], cross[0, 0, 0, 2] = 1, 1
    ones = [np.ones_like(a) for a in (alone, own, cross)]
    pairs = list(zip((alone, own, cross), ones, strict=True))
    _, linear = algebra.chefer_encoder_decoder(*pairs)
    _, rule_ten = algebra.chefer_encoder_decoder(*pairs, rule="published")
    np.testing.assert_array_equal(linear, [[0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(rule_ten, [[0, 0, 1], [0, 0, 0]])
    cross[0, 0] = [[0, 0, 0], [0, 1, 0]]  # now output 1 looks at the encoder's 1
    _, linear = algebra.chefer_encoder_decoder(*pairs)
    _, rule_ten = algebra.chefer_encoder_decoder(*pairs, rule="published")
    np.testing.assert_array_equal(linear, [[0, 0, 0], [0, 1, 0]])
    # Output 0 never sees the encoder's 1 on any path, yet rule 10 says that it does.
    np.testing.assert_array_equal(rule_ten, [[0, 1, 0], [0, 1, 0]])


def test_without_gradients_nothing_but_the_identity_is_left_and_no_nan() -> None:
    pairs = [(a, -np.ones_like(a)) for a, _ in parts(0)]
    for rule in ("strict", "published"):
        d, x = algebra.chefer_encoder_decoder(*pairs, rule=rule)
        np.testing.assert_array_equal(d, np.eye(T))
        np.testing.assert_array_equal(x, np.zeros((T, S)))


def test_wrong_arguments_are_named() -> None:
    encoder, decoder, cross = parts(0)
    with pytest.raises(AttrialError, match="did you mean strict"):
        algebra.chefer_encoder_decoder(encoder, decoder, cross, rule="strictly")
    with pytest.raises(AttrialError, match="don't fit"):
        algebra.chefer_encoder_decoder(decoder, decoder, cross)
