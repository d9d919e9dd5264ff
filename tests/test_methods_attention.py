"""Methods that read attention, on functions of attention with known answers and on the toys."""

import numpy as np
import pytest

from attrial import testing
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Floats, Masks, Scores
from tests.attention_game import AttentionGame, Given, attention_game, given

CLOSE = 1e-9


def one_row(row: list[float], slopes: list[float]) -> Given:
    """One head whose first query has this row and these gradients."""
    weights, gradients = np.zeros((2, 1, 1, len(row), len(row)))
    weights[0, 0, 0], gradients[0, 0, 0] = row, slopes
    return given(weights, gradients)


def test_b1_products_keep_their_sign_and_chefer_s_rule_does_not() -> None:
    game = one_row([0.2, 0.5, 0.3], [2, -1, 3])
    signed = testing.attribute("attention_x_gradient", game)
    np.testing.assert_allclose(signed, [0.4, -0.5, 0.9], atol=CLOSE)
    assert signed.sum() == pytest.approx(0.8, abs=CLOSE)
    np.testing.assert_allclose(testing.attribute("chefer", game), [1.4, 0, 0.9], atol=CLOSE)


def test_b3_where_attention_does_not_matter_these_methods_say_it_does() -> None:
    c, row = 1.7, np.array([0.2, 0.5, 0.3])
    game = one_row(row.tolist(), [c] * 3)
    np.testing.assert_allclose(testing.attribute("attention_x_gradient", game), c * row, atol=CLOSE)
    np.testing.assert_allclose(testing.attribute("chefer", game), c * row + [1, 0, 0], atol=CLOSE)

    def masked(masks: Masks) -> Floats:  # attention to the kept ones, scaled to sum 1 again
        left = masks * row
        return np.asarray((left * c).sum(1) / np.where(masks.any(1), left.sum(1), 1))

    occluded = testing.attribute("occlusion", testing.game(3, masked))
    np.testing.assert_allclose(occluded, 0, atol=CLOSE)


MAJORITY: dict[str, list[float]] = {
    "attention": [0.25, 0.25, 0.25, 0.25],
    "attention_rollout": [0.625, 0.125, 0.125, 0.125],
    "attention_rollout(residual=[0.2])": [0.4, 0.2, 0.2, 0.2],
    "attention_rollout(null='uniform')": [1, 1, 1, 1],
    "attention_flow": [0.625, 0.125, 0.125, 0.125],
    "attention_x_gradient": [0, 0.25, 0.25, 0],
    "attention_grad_cam": [1 / 32, 1 / 32, 1 / 32, 1 / 32],  # two of 16 gradients are 1
    "attention_attribution": [0, 0.25, 0.25, 0],
    "chefer": [1, 0.25, 0.25, 0],
}


@pytest.mark.parametrize("method", MAJORITY)
def test_t2_majority(method: str) -> None:
    got = testing.attribute(method, testing.toy("majority"))
    np.testing.assert_allclose(got, MAJORITY[method], atol=CLOSE)


FIRST: dict[str, list[float]] = {
    "attention_flow": [0.5, 0.5, 0, 0],
    "attention_rollout(null='uniform')": [0.8, 4, 0, 0],
    "attention_x_gradient": [0, 1, 0, 0],
    "attention_attribution": [0, 1, 0, 0],
    "chefer": [1, 1, 0, 0],
}


@pytest.mark.parametrize("method", FIRST)
def test_t1_first_token(method: str) -> None:
    got = testing.attribute(method, testing.toy("first_token"))
    np.testing.assert_allclose(got, FIRST[method], atol=CLOSE)


INDUCTION: dict[str, list[float]] = {
    "chefer": [0, 0, 1, 0, 1],
    "attention_x_gradient": [0, 0, 1, 0, 0],
    "attention_attribution": [0, 0, 1, 0, 0],
    # Each of the four is reached by one path, and every layer halves what goes through it once:
    # no edge on it is narrower than 1/2, where rollout multiplies the halves.
    "attention_flow(normalise=False)": [0, 0.5, 0.5, 0.5, 0.5],
}


@pytest.mark.parametrize("method", INDUCTION)
def test_t3_induction(method: str) -> None:
    got = testing.attribute(method, testing.toy("induction"))
    np.testing.assert_allclose(got, INDUCTION[method], atol=CLOSE)


def test_a5_a_causal_null_undoes_the_pull_of_the_first_token() -> None:
    causal = np.tri(3) / np.arange(1, 4)[:, None]
    weights = np.broadcast_to(causal, (2, 2, 3, 3))
    game = given(weights, np.zeros_like(weights), read=2)
    plainly = testing.attribute("attention_rollout(residual=0.0)", game)
    np.testing.assert_allclose(plainly, [11 / 18, 5 / 18, 1 / 9], atol=CLOSE)
    null = testing.attribute("attention_rollout(residual=0.0, null='uniform')", game)
    np.testing.assert_allclose(null, 1, atol=CLOSE)
    early = given(weights, np.zeros_like(weights), read=1)
    unseen = testing.attribute("attention_rollout(null='uniform')", early)
    np.testing.assert_allclose(unseen, [1, 1, 0], atol=CLOSE)  # the last is never seen: 0, no nan


def test_discarding_spares_special_tokens() -> None:
    weights = np.array([[[[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.05, 0.6, 0.35]]]])
    ids, owner = np.arange(3), np.array([-1, 0, 1])
    special = Example("x", ("a", "b"), ids, np.zeros(3, int), owner)
    got = testing.attribute(
        "attention_rollout(discard=0.34)", Given(special, weights, np.zeros_like(weights))
    )
    # Of the lowest .05, .1, .2 in 3 of 9 cells, the first column's stay: the row read loses .2.
    np.testing.assert_allclose(got, [0, 0.35 / 0.9], atol=CLOSE)


def differences(game: AttentionGame, weights: Floats) -> Floats:
    """Gradients by central differences, a cell at a time."""
    out = np.zeros_like(weights)
    for place in np.ndindex(weights.shape):
        step = np.zeros_like(weights)
        step[place] = 1e-6
        out[place] = (game.value(weights + step) - game.value(weights - step)) / 2e-6
    return out


@pytest.mark.parametrize("seed", range(3))
def test_gradient_methods_against_finite_differences(seed: int) -> None:
    game = attention_game(seed)
    slopes, heads = differences(game, game.weights), len(game.heads)
    product = slopes * game.weights
    for number in (0, 1):
        expected = sum(product[number, h, 0] for h in range(heads)) / heads
        got = testing.attribute(f"attention_x_gradient(layer={number})", game)
        np.testing.assert_allclose(got, expected, atol=1e-8)
        cam = sum(slopes[number, h].mean() * game.weights[number, h] for h in range(heads))
        got = testing.attribute(f"attention_grad_cam(layer={number})", game)
        np.testing.assert_allclose(got, np.maximum(cam[0], 0), atol=1e-8)
    first, second = (np.where(p > 0, p, 0).sum(0) / heads for p in product)
    expected = (np.eye(4) + first + second + second @ first)[0]
    np.testing.assert_allclose(testing.attribute("chefer", game), expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", [0, 1])
def test_attention_attribution_is_the_integral_and_complete(seed: int, number: int) -> None:
    game = attention_game(seed)
    total = np.zeros_like(game.weights[0])
    for step in range(300):
        scaled = game.weights.copy()
        scaled[number] *= (step + 0.5) / 300
        total += game.gradient(scaled)[number] / 300
    cells = (total * game.weights[number]).sum(0)
    rows = testing.attribute(f"attention_attribution(layer={number}, row='mean')", game)
    np.testing.assert_allclose(rows, cells.mean(0), atol=1e-5)
    got = testing.attribute(f"attention_attribution(layer={number})", game)
    np.testing.assert_allclose(got, cells[0], atol=1e-5)
    silent = game.weights.copy()
    silent[number] = 0
    change = game.value(game.weights) - game.value(silent)
    assert rows.sum() * 4 == pytest.approx(change, abs=1e-6)
    assert abs(change) > 0.01


def reads(weights: Floats) -> dict[str, Scores]:
    """What each choice of layer, fusion and row says, spelled out."""
    mean = [layer.sum(0) / len(layer) for layer in weights]
    return {
        "layer='first'": mean[0][0],
        "layer=1": mean[1][0],
        "layer='mean'": (mean[0][0] + mean[1][0]) / 2,
        "layer='max'": np.maximum(mean[0][0], mean[1][0]),
        "fusion='max'": np.array([max(weights[1, :, 0, j]) for j in range(4)]),
        "fusion='min'": np.array([min(weights[1, :, 0, j]) for j in range(4)]),
        "row='last'": mean[1][3],
        "row='mean'": mean[1].sum(0) / 4,
        "row='max'": np.array([max(mean[1][:, j]) for j in range(4)]),
        "head=2": weights[1, 2, 0],
    }


def test_what_is_read_of_the_attention() -> None:
    game = attention_game(7)
    for argument, expected in reads(game.weights).items():
        got = testing.attribute(f"attention({argument})", game)
        np.testing.assert_allclose(got, expected, atol=CLOSE, err_msg=argument)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("attention(layer=2)", "layer=2"),
        ("attention(head=3)", "head=3"),
        ("attention(row='cls')", "no row 'cls'"),
        ("attention(fusion='sum')", "no head fusion 'sum'"),
        ("attention_grad_cam(layer='mean')", "layer='mean'"),
        ("attention_attribution(steps=0)", "steps=0"),
        ("attention_rollout(null='causal')", "null='causal'"),
        ("attention_rollout(residual=[0.5])", "one a layer"),
        ("attention_rollout(discard=1.0)", "discard ratio 1.0"),
        ("chefer(start=2)", "start=2"),
    ],
)
def test_arguments_out_of_range_are_named(call: str, said: str) -> None:
    with pytest.raises(AttrialError, match=said.replace("(", r"\(").replace("[", r"\[")):
        testing.attribute(call, attention_game(0))
