"""Methods on layers' own matrices: by hand on hand-set transformers, and composed by layers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest

from attrial import testing
from attrial.ask import Attend, Attention, Layers, Slope, Slopes
from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example, plain
from attrial.games import ONLY
from attrial.masks import Floats, Masks
from attrial.target import Target
from attrial.value import Subject

CLOSE = 1e-9
# A state of the toys is a word and a place, both one-hot: its length is sqrt 2, its absolute sum 2.
# Of first_token, every position gets one word of length 1 from position 1; of majority, a quarter
# of each word. Position 0 is read.
ROOT2, KEPT = sqrt(2), sqrt(2 + 1 / 16)
MEAN = sqrt(3 / 8)  # length of the mean of words A, C, C, B
FIRST: dict[str, list[float]] = {
    "attention_norm(layer=0)": [0, 1, 0, 0],
    "attention_norm": [0.5, 0.5, 0, 0],
    "attention_norm(form='norm_residual')": [ROOT2 / (1 + ROOT2), 1 / (1 + ROOT2), 0, 0],
    "alti": [2 / 3, 1 / 3, 0, 0],
    "value_zeroing": [0, 1, 0, 0],
    "attention_rollout(residual='norms')": [ROOT2 / (1 + ROOT2), 1 / (1 + ROOT2), 0, 0],
}
MAJORITY: dict[str, list[float]] = {
    "attention_norm(layer='last')": [1 / 4] * 4,
    "attention_norm": [5 / 8, 1 / 8, 1 / 8, 1 / 8],
    "attention_norm(residual=0.0)": [1 / 4] * 4,
    "attention_norm(form='norm_residual')": [KEPT / (KEPT + 3 / 4), *[1 / 4 / (KEPT + 3 / 4)] * 3],
    "alti": [9 / 12, 1 / 12, 1 / 12, 1 / 12],  # 3 - 3/4, and 1/4 each
    "attention_rollout(residual='norms')": [
        (ROOT2 + MEAN / 4) / (ROOT2 + MEAN),
        *[MEAN / 4 / (ROOT2 + MEAN)] * 3,
    ],
}


@pytest.mark.parametrize("method", FIRST)
def test_t1_first_token(method: str) -> None:
    got = testing.attribute(method, testing.toy("first_token"))
    np.testing.assert_allclose(got, FIRST[method], atol=CLOSE)


@pytest.mark.parametrize("method", MAJORITY)
def test_t2_majority(method: str) -> None:
    got = testing.attribute(method, testing.toy("majority"))
    np.testing.assert_allclose(got, MAJORITY[method], atol=CLOSE)


def test_t2_turning_by_a_word_s_absence() -> None:
    """The output is [word | place | mean of A, C, C, B]; a zeroed value takes 1/4 of its word."""

    def distance(mean: list[float]) -> float:
        product = 2 + float(np.dot(mean, [1 / 4, 1 / 4, 1 / 2]))
        return 1 - product / sqrt((2 + float(np.dot(mean, mean))) * (2 + 3 / 8))

    a, b, c = ([0, 1 / 4, 1 / 2], [1 / 4, 0, 1 / 2], [1 / 4, 1 / 4, 1 / 4])
    turned = np.array([distance(mean) for mean in (a, c, c, b)])
    got = testing.attribute("value_zeroing", testing.toy("majority"))
    np.testing.assert_allclose(got, turned / turned.sum(), atol=CLOSE)


def test_t3_only_the_key_is_left_without_a_residual() -> None:
    """Layer 2 reads position 2, whose layer 1 looks at position 1: the value B itself is missed."""
    got = testing.attribute("value_zeroing", testing.toy("induction"))
    np.testing.assert_allclose(got, [0, 1, 0, 0, 0], atol=CLOSE)


def test_t3_halves_in_absolute_sums() -> None:
    """Layer 1 adds a word (1) to word and place (2); layer 2 the word B (1) to all of that (3)."""
    toy = testing.toy("induction")
    first = np.diag([2 / 3] * 5) + np.diag([1 / 3] * 4, -1)
    first[0, 0] = 1  # it sees itself alone
    second = np.array([0, 0, 1 / 4, 0, 3 / 4])
    np.testing.assert_allclose(testing.attribute("alti", toy), second @ first, atol=CLOSE)


@dataclass(frozen=True)
class Handed:
    """Matrices (L, n, n) of every kind that are what they are, and attention weights."""

    example: Example
    matrices: dict[str, Floats]
    weights: Floats
    target: Target = ONLY
    answers: frozenset[str] = frozenset({"layers", "attend"})

    def layers(self, asks: Sequence[tuple[Subject, Layers]]) -> list[Attention]:
        return [Attention(self.matrices[ask.kind]) for _, ask in asks]

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        return [Attention(self.weights) for _ in asks]

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        raise NotApplicable("nothing can be removed here")

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        raise NotApplicable("there are no embeddings here")


def handed(seed: int = 0, n: int = 4, depth: int = 3) -> Handed:
    rng = np.random.default_rng(seed)

    def stochastic() -> Floats:
        cells = rng.random((depth, n, n)) ** 3
        return np.asarray(cells / cells.sum(-1, keepdims=True))

    kinds = {k: stochastic() for k in ("norm", "norm_residual", "alti", "value_zeroing")}
    kinds["mixing"] = np.stack([np.diag(rng.random(n)) for _ in range(depth)])
    return Handed(plain(n), kinds, stochastic())


def rolled(layers: Sequence[Floats], shares: Sequence[Floats | float]) -> Floats:
    """The first row of the product, a path at a time from the top."""
    row = np.zeros(len(layers[0]))
    row[0] = 1
    for layer, share in zip(reversed(layers), reversed(shares), strict=True):
        below = np.zeros_like(row)
        for i, weight in enumerate(row):
            r = np.broadcast_to(share, row.shape)[i]
            below += weight * (1 - r) * layer[i]
            below[i] += weight * r
        row = below
    return row


@pytest.mark.parametrize(
    ("call", "kind", "share"),
    [
        ("attention_norm", "norm", 0.5),
        ("attention_norm(residual=0.2)", "norm", 0.2),
        ("attention_norm(form='norm_residual')", "norm_residual", 0.0),
        ("attention_norm(form='norm_residual', residual=0.1)", "norm_residual", 0.1),
        ("alti", "alti", 0.0),
        ("value_zeroing", "value_zeroing", 0.0),
    ],
)
def test_layers_are_multiplied(call: str, kind: str, share: float) -> None:
    game = handed()
    expected = rolled(list(game.matrices[kind]), [share] * 3)
    np.testing.assert_allclose(testing.attribute(call, game), expected, atol=CLOSE)
    other = rolled(list(game.matrices[kind][::-1]), [share] * 3)
    assert np.abs(other - expected).max() > 0.01  # the order of layers shows


def test_rollout_takes_each_position_s_own_residual() -> None:
    game = handed(1)
    shares = [np.diag(m) for m in game.matrices["mixing"]]
    got = testing.attribute("attention_rollout(residual='norms')", game)
    np.testing.assert_allclose(got, rolled(list(game.weights), shares), atol=CLOSE)


@pytest.mark.parametrize("name", ["attention_norm", "alti", "value_zeroing"])
def test_one_layer_or_a_fold_can_be_read(name: str) -> None:
    game = handed(2)
    found = game.matrices["norm" if name == "attention_norm" else name]
    expected = {"'first'": found[0], "2": found[2], "'mean'": found.mean(0), "'max'": found.max(0)}
    for layer, matrix in expected.items():
        got = testing.attribute(f"{name}(layer={layer})", game)
        np.testing.assert_allclose(got, matrix[0], atol=CLOSE)
    got = testing.attribute(f"{name}(start=2)", game)
    share = 0.5 if name == "attention_norm" else 0.0
    np.testing.assert_allclose(got, rolled([found[2]], [share]), atol=CLOSE)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("attention_norm(form='l2')", "form='l2'"),
        ("attention_norm(layer=3)", "layer=3"),
        ("alti(layer='top')", "layer='top'"),
        ("value_zeroing(start=3)", "start=3"),
        ("attention_rollout(residual='ratio')", "residual='ratio'"),
    ],
)
def test_arguments_out_of_range_are_named(call: str, said: str) -> None:
    with pytest.raises(AttrialError, match=said):
        testing.attribute(call, handed())


@pytest.mark.parametrize("name", ["attention_norm", "alti", "value_zeroing"])
def test_a_model_without_layers_can_t_answer(name: str) -> None:
    with pytest.raises(NotApplicable, match="layers"):
        testing.attribute(name, testing.game(3, lambda masks: masks.sum(1)))


def test_an_unknown_kind_is_answered_with_near_ones() -> None:
    toy = testing.toy("majority")
    ask = [(Subject(toy.example, "zero", toy.target), Layers("altie"))]
    with pytest.raises(AttrialError, match="did you mean alti"):
        toy.layers(ask)  # type: ignore[attr-defined]
