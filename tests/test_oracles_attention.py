"""Matrices whose composition is known in closed form, through registered methods, row by row."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from attrial import testing
from attrial.masks import Floats
from tests.attention_game import given

CLOSE = 1e-9
UNIFORM = np.full((3, 1, 4, 4), 1 / 4)
ORDERED = np.array([[[[1, 0], [1, 0]]], [[[0, 1], [0, 1]]]], float)
TWO = np.array([[[[0.6, 0.4], [0.3, 0.7]]], [[[0.5, 0.5], [0.2, 0.8]]]])
THREE = np.concatenate([TWO, [[[[0.9, 0.1], [0.5, 0.5]]]]])
HEADS = np.array([[[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.7, 0.3]]]])
APART = np.array([[[[1, 0], [0, 1]], [[0, 1], [1, 0]]]], float)
CAUSAL = np.broadcast_to(np.tri(3) / np.arange(1, 4)[:, None], (2, 1, 3, 3))
COLLAPSED = [[1, 0, 0], [3 / 4, 1 / 4, 0], [11 / 18, 5 / 18, 1 / 9]]
STILL = np.broadcast_to(np.eye(3), (2, 2, 3, 3))
ROLL, FLOW = "attention_rollout", "attention_flow"
RAW = "normalise=False"

CASES: tuple[tuple[str, str, Floats, object], ...] = (
    ("A1", ROLL, UNIFORM, np.eye(4) / 8 + 7 / 32),
    ("A1", f"{ROLL}(residual=0.0)", UNIFORM, np.full((4, 4), 1 / 4)),
    ("A1", f"{ROLL}(residual=0.2)", UNIFORM, 0.008 * np.eye(4) + (1 - 0.008) / 4),
    ("A2", ROLL, STILL, np.eye(3)),
    ("A2", f"{ROLL}(residual=0.0, fusion='min')", STILL, np.eye(3)),
    ("A2", f"{FLOW}({RAW})", STILL, np.eye(3)),
    ("A2", f"{FLOW}(residual=0.25, fusion='max')", STILL, np.eye(3)),
    ("A3", f"{ROLL}(residual=0.0)", ORDERED, [[1, 0], [1, 0]]),
    ("A3", ROLL, ORDERED, [[0.75, 0.25], [0.5, 0.5]]),
    ("A3, the wrong order", ROLL, ORDERED[::-1], [[0.5, 0.5], [0.25, 0.75]]),
    (
        "A5",
        f"{ROLL}(residual=0.0)",
        CAUSAL,
        [[1, 0, 0], [3 / 4, 1 / 4, 0], [11 / 18, 5 / 18, 1 / 9]],
    ),
    ("A6", f"{ROLL}(fusion='max')", HEADS, [[0.95 / 1.15, 0.2 / 1.15], [0.28, 0.72]]),
    ("A6", f"{ROLL}(fusion='min')", APART, np.eye(2)),
    ("A7", f"{FLOW}({RAW}, residual=0.0)", HEADS, HEADS[0].mean(0)),
    ("A7", f"{FLOW}({RAW})", HEADS, HEADS[0].mean(0) / 2 + np.eye(2) / 2),
    ("A8", f"{FLOW}(residual=0.0, {RAW})", TWO, [[0.8, 0.9], [0.5, 0.9]]),
    ("A8", f"{FLOW}(residual=0.0)", TWO, [[8 / 17, 9 / 17], [5 / 14, 9 / 14]]),
    ("A8", f"{ROLL}(residual=0.0)", TWO, [[0.45, 0.55], [0.36, 0.64]]),
    ("A8", f"{FLOW}({RAW})", TWO, [[0.9, 0.45], [0.25, 0.95]]),
    ("A8", FLOW, TWO, [[2 / 3, 1 / 3], [5 / 24, 19 / 24]]),
    ("A9", f"{FLOW}(residual=0.0, {RAW})", THREE, [[0.9, 1], [0.9, 1]]),
)


@pytest.mark.parametrize(("oracle", "call", "weights", "expected"), CASES)
def test_composition(oracle: str, call: str, weights: Floats, expected: object) -> None:
    rows = np.asarray(expected, float)
    for read, row in enumerate(rows):
        game = given(weights, np.zeros_like(weights), read=read)
        got = testing.attribute(call, game)
        np.testing.assert_allclose(got, row, atol=CLOSE, err_msg=f"{oracle}, row {read}")


def test_a8_two_layers_have_a_closed_form() -> None:
    rng = np.random.default_rng(0)
    weights = rng.random((2, 1, 5, 5)) ** 3
    weights /= weights.sum(-1, keepdims=True)
    low, high = weights[:, 0]
    for i in range(5):
        expected = [sum(min(high[i, k], low[k, j]) for k in range(5)) for j in range(5)]
        game = given(weights, np.zeros_like(weights), read=i)
        got = testing.attribute(f"{FLOW}(residual=0.0, {RAW})", game)
        np.testing.assert_allclose(got, expected, atol=CLOSE)


def test_b2_two_layers() -> None:
    """R = I + A1 + A2 + A2 A1, with A averaged already: gradients are ones."""
    low, high = TWO[:, 0]
    expected = np.eye(2) + low + high + high @ low
    for read in (0, 1):
        got = testing.attribute("chefer", given(TWO, np.ones_like(TWO), read=read))
        np.testing.assert_allclose(got, expected[read], atol=CLOSE)


def test_b3_a_permutation_that_changes_nothing_changes_what_these_methods_say() -> None:
    row = np.array([0.2, 0.5, 0.3])
    for order in ([0, 2, 1], [2, 1, 0]):
        weights = np.zeros((1, 1, 3, 3))
        weights[0, 0, 0] = row[order]
        value = 1.7 * weights[0, 0, 0].sum()
        assert value == pytest.approx(1.7, abs=CLOSE)
        got = testing.attribute("attention_x_gradient", given(weights, np.full_like(weights, 1.7)))
        np.testing.assert_allclose(got, 1.7 * row[order], atol=CLOSE)
        assert got.sum() == pytest.approx(value, abs=CLOSE)


def test_b3_an_adversary_reaches_the_bound_of_ln_2_and_changes_no_answer() -> None:
    """With equal values any attention gives c: two that share no key are as far apart as can be."""
    found = []
    for row in ([1.0, 0, 0], [0, 0, 1.0]):
        weights = np.zeros((1, 1, 3, 3))
        weights[0, 0, 0] = row
        assert 1.7 * weights[0, 0, 0].sum() == pytest.approx(1.7, abs=CLOSE)
        found.append(testing.attribute("attention", given(weights, np.full_like(weights, 1.7))))
    apart = float(jensenshannon(found[0], found[1]))
    assert apart**2 == pytest.approx(np.log(2), abs=CLOSE)
    assert np.log(2) == pytest.approx(0.693147, abs=5e-7)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("attention", [0, 1, 0, 0]),
        ("attention_rollout", [0.5, 0.5, 0, 0]),
        ("kernel_shap", [0, 1, 0, 0]),
        ("sequential_integrated_gradients(baseline='zero')", [0, 1, 0, 0]),
        ("lrp_conservative", [0, 1, 0, 0]),
    ],
)
def test_t1_first_token(call: str, expected: list[float]) -> None:
    got = testing.attribute(call, testing.toy("first_token"))
    np.testing.assert_allclose(got, expected, atol=1e-8)


def test_t3_integrated_gradients_are_complete_and_spare_the_null_token() -> None:
    got = testing.attribute("integrated_gradients(baseline='zero')", testing.toy("induction"))
    assert got.sum() == pytest.approx(1, abs=0.01)  # refined until the gap is below 1 %
    assert got[3] == 0.0
