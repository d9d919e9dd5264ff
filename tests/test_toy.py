"""Hand-set transformers: every known answer, by plain code and through the registered methods."""

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from attrial import testing
from attrial.ask import Attend, Attention, Relevance, Slope
from attrial.errors import AttrialError, NotApplicable
from attrial.masks import Floats, Masks, Scores, Values
from attrial.models.toy import Toy, toy
from attrial.value import Subject

CLOSE = 1e-9
PRINTED = 0.5e-4  # half a unit of the fourth decimal
THREE = 0.5e-3
TOYS = ("first_token", "majority", "induction")


def subject(it: Toy) -> Subject:
    return Subject(it.example, "zero", it.target)


def value(it: Toy, masks: npt.ArrayLike) -> Values:
    (outputs,) = it.keep([(subject(it), np.asarray(masks, bool))])
    return it.target.read(outputs)


def leave_one_out(it: Toy) -> Scores:
    n = it.example.n
    return np.asarray(value(it, np.ones((1, n)))[0] - value(it, ~np.eye(n, dtype=bool)))


def shapley(it: Toy) -> Scores:
    n = it.example.n
    scores = np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            weight = math.factorial(size) * math.factorial(n - 1 - size) / math.factorial(n)
            for kept in combinations(others, size):
                row = np.isin(np.arange(n), kept)
                without, with_i = value(it, [row, row | (np.arange(n) == i)])
                scores[i] += weight * (with_i - without)
    return scores


def products(it: Toy, shares: Floats, *, baseline: str = "zero") -> Floats:
    """Gradient times difference, summed over the embedding, at equal shares of all: (k, n)."""
    points = np.repeat(np.asarray(shares)[:, None], it.example.n, axis=1)
    (reply,) = it.slope([(subject(it), Slope(points, baseline))])
    return np.asarray((reply.gradient * reply.difference).sum(axis=2))


def gradient_x_input(it: Toy) -> Scores:
    return np.asarray(products(it, np.ones(1))[0])


def integrated(it: Toy) -> Scores:
    middles = (np.arange(4000) + 0.5) / 4000
    return np.asarray(products(it, middles).mean(axis=0))


def attention(it: Toy, ask: Attend) -> Attention:
    (reply,) = it.attend([(subject(it), ask)])
    return reply


def weights(it: Toy) -> Floats:
    return attention(it, Attend(fuse="mean")).weights


def rollout(it: Toy, residual: float) -> Scores:
    """The row that is read, of the sum over all paths."""
    n, total = it.example.n, np.eye(it.example.n)
    for layer in weights(it):
        total = (residual * np.eye(n) + (1 - residual) * layer) @ total
    return np.asarray(total[it.example.read])


def chefer(it: Toy) -> Scores:
    reply = attention(it, Attend(gradient=True))
    assert reply.gradient is not None
    total = np.eye(it.example.n)
    for layer, gradient in zip(reply.weights, reply.gradient, strict=True):
        total = total + np.maximum(layer * gradient, 0).mean(axis=0) @ total
    return np.asarray(total[it.example.read])


Measure = Callable[[Toy], Scores]
SCORES: tuple[Measure, ...] = (leave_one_out, shapley, integrated, gradient_x_input)


@pytest.mark.parametrize("measure", SCORES)
def test_first_token(measure: Measure) -> None:
    it = toy("first_token")
    np.testing.assert_allclose(measure(it), [0, 1, 0, 0], atol=CLOSE)


def test_first_token_attention() -> None:
    it = toy("first_token")
    np.testing.assert_allclose(weights(it)[-1, 0], [0, 1, 0, 0], atol=CLOSE)
    np.testing.assert_allclose(rollout(it, 0.5), [0.5, 0.5, 0, 0], atol=CLOSE)


@pytest.mark.parametrize("measure", SCORES)
def test_majority(measure: Measure) -> None:
    it = toy("majority")
    np.testing.assert_allclose(value(it, np.ones((1, 4))), [0.5], atol=CLOSE)
    np.testing.assert_allclose(measure(it), [0, 0.25, 0.25, 0], atol=CLOSE)


def test_rollout_of_the_majority_is_blind_to_the_class() -> None:
    it = toy("majority")
    np.testing.assert_allclose(weights(it)[-1], np.full((4, 4), 0.25), atol=CLOSE)
    np.testing.assert_allclose(rollout(it, 0.5), [0.625, 0.125, 0.125, 0.125], atol=CLOSE)


def by_the_book(masks: Masks) -> Values:
    """What induction computes: [B] (1/5 + 4/5 [both A])."""
    return np.asarray(masks[:, 2] * (1 / 5 + 4 / 5 * (masks[:, 1] & masks[:, 4])))


def test_induction_is_the_game_by_the_book() -> None:
    masks = (np.arange(32)[:, None] >> np.arange(5) & 1).astype(bool)
    it = toy("induction")
    np.testing.assert_allclose(value(it, masks), by_the_book(masks), atol=CLOSE)
    # At a lower inverse temperature attention isn't one-hot, and the game is another.
    assert np.abs(value(toy("induction", beta=5.0), masks) - by_the_book(masks)).max() > 0.01


INDUCTION: tuple[tuple[str, float, Measure, list[float], float], ...] = (
    ("leave one out", 50, leave_one_out, [0, 0.8, 1, 0, 0.8], CLOSE),
    ("shapley", 50, shapley, [0, 4 / 15, 7 / 15, 0, 4 / 15], CLOSE),
    ("shapley", 5, shapley, [0, 0.257, 0.457, 0, 0.257], THREE),
    ("integrated", 50, integrated, [0, 0.0751, 0.8497, 0, 0.0751], PRINTED),
    ("gradient x input", 50, gradient_x_input, [0, 0, 1, 0, 0], CLOSE),
    ("gradient x input", 5, gradient_x_input, [0, 0.138, 0.971, 0, 0.137], THREE),
    ("raw", 50, lambda it: weights(it)[-1, 4], [0, 0, 1, 0, 0], CLOSE),
    ("rollout", 50, lambda it: rollout(it, 0.5), [0, 0.25, 0.25, 0.25, 0.25], CLOSE),
    ("rollout without residual", 50, lambda it: rollout(it, 0.0), [0, 1, 0, 0, 0], CLOSE),
    ("chefer", 50, chefer, [0, 0, 1, 0, 1], CLOSE),
)


@pytest.mark.parametrize(("name", "beta", "measure", "expected", "tolerance"), INDUCTION)
def test_induction(
    name: str, beta: float, measure: Measure, expected: list[float], tolerance: float
) -> None:
    np.testing.assert_allclose(
        measure(toy("induction", beta=beta)), expected, rtol=0, atol=tolerance, err_msg=name
    )


def test_integrated_gradients_of_induction_by_their_integral() -> None:
    """Along a, the query and the key meet with score 50 a^2: value a w(50 a^2), w(s) = e^s/(e^s+4).

    So token B gets the integral of w, and each A that of a * w' * 50 a.
    """
    a = (np.arange(200_000) + 0.5) / 200_000
    w = 1 / (1 + 4 * np.exp(-50 * a**2))
    b, each = w.mean(), (50 * a**2 * w * (1 - w)).mean()
    it = integrated(toy("induction"))
    np.testing.assert_allclose(it, [0, each, b, 0, each], atol=1e-7)
    np.testing.assert_allclose(it.sum(), 1.0, atol=1e-6)
    assert it[3] == 0.0


@pytest.mark.parametrize("name", TOYS)
@pytest.mark.parametrize("function", ["logit", "log_odds", "probability"])
def test_slopes_are_finite_differences(name: str, function: str) -> None:
    it = toy(name, beta=2.0)
    n, step = it.example.n, 1e-6
    asked = Subject(it.example, "zero", it.target.through(function))
    points = (
        np.random.default_rng(0).random((1, n))
        + step * np.concatenate([[np.zeros(n)], np.eye(n)])[:, None]
    )
    (reply,) = it.slope([(asked, Slope(points.reshape(-1, n), "mean"))])
    expected = (reply.values[1:] - reply.values[0]) / step
    got = (reply.gradient * reply.difference).sum(axis=2)[0]
    np.testing.assert_allclose(got, expected, atol=1e-4)
    assert np.abs(got).max() > 0.01


@pytest.mark.parametrize("name", TOYS)
def test_attention_gradients_are_finite_differences(name: str) -> None:
    """The gradient's part along the weights is what scaling them does; at one layer exactly."""
    it, step = toy(name, beta=2.0), 1e-6
    reply = attention(it, Attend(gradient=True))
    assert reply.gradient is not None
    assert reply.weights.shape == reply.gradient.shape == (len(it.heads), 1, *2 * (it.example.n,))
    np.testing.assert_allclose(reply.weights.sum(axis=-1), 1.0, atol=CLOSE)
    half = attention(it, Attend(scale=0.5))
    np.testing.assert_allclose(half.weights[0], reply.weights[0] / 2, atol=CLOSE)
    if len(it.heads) == 1:
        along = (reply.gradient * reply.weights).sum()
        np.testing.assert_allclose(along, value(it, np.ones((1, it.example.n)))[0], atol=step)


@pytest.mark.parametrize("layer", [0, 1])
def test_one_layer_alone_is_scaled(layer: int) -> None:
    it = toy("induction", beta=2.0)
    whole, half = (attention(it, Attend(scale=s, layer=layer)).weights for s in (1.0, 0.5))
    np.testing.assert_allclose(half[layer], whole[layer] / 2, atol=CLOSE)
    if layer == 1:
        np.testing.assert_allclose(half[0], whole[0], atol=CLOSE)
    else:  # the upper layer finds less of what it looks for, but is whole
        np.testing.assert_allclose(half[1].sum(axis=-1), 1.0, atol=CLOSE)
        assert np.abs(half[1] - whole[1]).max() > 0.01


def test_sampled_baselines_are_words_and_seeded() -> None:
    it = toy("induction", beta=5.0)
    draws = np.array([0, 1, 0])
    ask = [Slope(np.zeros((3, 5)), "sampled", seed=seed, draws=draws) for seed in (0, 0, 1)]
    a, b, c = (it.slope([(subject(it), q)])[0].difference for q in ask)
    assert np.array_equal(a, b) and not np.array_equal(a, c)
    assert np.array_equal(a[0], a[2]) and not np.array_equal(a[0], a[1])
    start = np.eye(5)[it.example.ids] - a
    assert set(np.unique(start)) == {0.0, 1.0} and (start.sum(axis=2) == 1).all()


def test_noise_is_seeded() -> None:
    it = toy("induction", beta=5.0)
    ask = [Slope(np.ones((2, 5)), noise=0.3, seed=seed) for seed in (0, 0, 1)]
    a, b, c = (it.slope([(subject(it), q)])[0].gradient for q in ask)
    assert np.array_equal(a, b) and not np.array_equal(a, c) and not np.array_equal(a[0], a[1])


def test_what_a_toy_can_t_do() -> None:
    it = toy("majority")
    with pytest.raises(NotApplicable, match="no mask token"):
        it.slope([(subject(it), Slope(np.ones((1, 4)), "mask"))])
    with pytest.raises(AttrialError, match="did you mean induction"):
        toy("inducton")


REGISTERED: tuple[tuple[str, float, list[float], float], ...] = (
    ("occlusion", 50, [0, 0.8, 1, 0, 0.8], CLOSE),
    ("shapley", 50, [0, 4 / 15, 7 / 15, 0, 4 / 15], CLOSE),
    ("shapley", 5, [0, 0.257, 0.457, 0, 0.257], THREE),
    ("integrated_gradients(baseline='zero')", 50, [0, 0.0751, 0.8497, 0, 0.0751], PRINTED),
    ("input_x_gradient", 50, [0, 0, 1, 0, 0], CLOSE),
    ("input_x_gradient", 5, [0, 0.138, 0.971, 0, 0.137], THREE),
    ("attention", 50, [0, 0, 1, 0, 0], CLOSE),
    ("attention_rollout(residual=0.5)", 50, [0, 0.25, 0.25, 0.25, 0.25], CLOSE),
    ("attention_rollout(residual=0.0)", 50, [0, 1, 0, 0, 0], CLOSE),
)


@pytest.mark.parametrize(("method", "beta", "expected", "tolerance"), REGISTERED)
def test_registered_methods_on_induction(
    method: str, beta: float, expected: list[float], tolerance: float
) -> None:
    scores = testing.attribute(method, testing.toy("induction", beta=beta))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["first_token", "majority"])
@pytest.mark.parametrize(
    "method", ["occlusion", "shapley", "integrated_gradients", "input_x_gradient"]
)
def test_registered_methods_on_the_linear_toys(method: str, name: str) -> None:
    expected = [0.0, 1.0, 0.0, 0.0] if name == "first_token" else [0.0, 0.25, 0.25, 0.0]
    np.testing.assert_allclose(testing.attribute(method, testing.toy(name)), expected, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("first_token", [0.0, 1.0, 0.0, 0.0]),
        ("majority", [0.0, 0.25, 0.25, 0.0]),
        ("induction", [0.0, 0.0, 1.0, 0.0, 0.0]),
    ],
)
def test_conservative_relevance_sees_values_alone(name: str, expected: list[float]) -> None:
    got = testing.attempt("lrp_conservative", testing.toy(name))
    assert got.result is not None
    np.testing.assert_allclose(got.result, expected, atol=CLOSE)
    np.testing.assert_allclose(got.notes["conserved"], 1.0, atol=CLOSE)


def relevance_by_hand(beta: float) -> Scores:
    """AttnLRP on induction, step by step.

    Half of the logit goes to values, half to weights; scores get z (R - s sum R); half of that goes
    to the query and half to the keys; half of the keys' goes to the tokens that they were copied
    from and half to positions.
    """
    n, is_a, is_b = 5, np.array([0, 1, 0, 0, 1.0]), np.array([0, 0, 1.0, 0, 0])
    first = np.zeros((n, n))
    for i in range(n):
        row = np.exp(beta * (np.arange(i + 1) == i - 1))
        first[i, : i + 1] = row / row.sum()
    keys = first @ is_a  # how much A each position found before it
    z = beta * keys
    s = np.exp(z) / np.exp(z).sum()
    weights = s * is_b / 2
    scores = z * (weights - s * weights.sum())
    taken = np.divide(scores / 4, keys, out=np.zeros(n), where=keys > 0)
    copied = taken[:, None] * first * is_a
    return np.asarray(s * is_b / 2 + copied.sum(axis=0) + (np.arange(n) == 4) * scores.sum() / 2)


@pytest.mark.parametrize("beta", [1.0, 5.0, 50.0])
def test_attention_relevance_by_hand(beta: float) -> None:
    got = testing.attempt("lrp_attention", testing.toy("induction", beta=beta))
    assert got.result is not None
    np.testing.assert_allclose(got.result, relevance_by_hand(beta), atol=CLOSE)
    conserved = got.notes["conserved"]
    assert isinstance(conserved, float) and abs(conserved - 1) > 0.1
    if beta < 50:
        assert min(abs(got.result[1]), abs(got.result[4])) > 0.01  # the key and the query
    else:
        np.testing.assert_allclose(got.result, [0, 0, 0.5, 0, 0], atol=CLOSE)


def test_relevance_has_two_rules() -> None:
    it = toy("majority")
    with pytest.raises(AttrialError, match="did you mean attention"):
        it.relevance([(subject(it), Relevance("atention"))])
