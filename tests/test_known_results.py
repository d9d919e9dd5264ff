"""Published findings again on small games: what AOPC shifts by, what a trapezoid rewards."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.metrics import auc, precision_recall_curve

from attrial import testing
from attrial.games import Game
from attrial.masks import Floats, Masks
from tests import slow

Readout = Callable[[Floats], Floats]
GAMES, PLAYERS = 12, 5


def logits(seed: int) -> Callable[[Masks], Floats]:
    """A score with an interaction, well above 0 while every player is there."""
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=PLAYERS)
    pair = rng.permutation(PLAYERS)[:2]
    return lambda masks: np.asarray(masks @ weights + masks[:, pair].all(axis=1) - 1.0)


def sigmoid(z: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-z)))


def model(seed: int, readout: Readout) -> Game:
    value = logits(seed)
    return testing.game(PLAYERS, lambda masks: readout(value(masks)))


def leave_one_out(seed: int) -> Floats:
    """Scores by the logit: the same for all readouts."""
    everyone = np.ones((1, PLAYERS), bool)
    return logits(seed)(everyone) - logits(seed)(~np.eye(PLAYERS, dtype=bool))


def means(readout: Readout, scores: Callable[[int], Floats]) -> tuple[float, float]:
    """AOPC, raw and normalised, over the games."""
    found = [
        [
            testing.score("aopc", model(seed, readout), scores(seed), normalised=normalised)
            for normalised in (False, True)
        ]
        for seed in range(GAMES)
    ]
    raw, normal = np.mean(found, axis=0)
    return float(raw), float(normal)


def shuffled(seed: int) -> Floats:
    return np.random.default_rng(seed).permutation(float(PLAYERS) * np.arange(PLAYERS))


@pytest.mark.parametrize("temperature", [4.0, 8.0])
def test_a_less_sure_model_has_less_aopc_and_the_same_naopc(temperature: float) -> None:
    """The same logits over a temperature: the order of players stays."""
    sure = means(sigmoid, leave_one_out)
    unsure = means(lambda z: sigmoid(z / temperature), leave_one_out)
    assert sure[0] > 1.5 * unsure[0]
    assert sure[1] == pytest.approx(unsure[1], abs=0.05)


def test_raw_aopc_prefers_chance_on_one_model_to_a_method_on_another() -> None:
    """Between models the raw number says more about the model than about the explanation."""
    method = means(lambda z: sigmoid(z / 8), leave_one_out)
    chance = means(sigmoid, shuffled)
    assert chance[0] > method[0]
    assert method[1] > chance[1] + 0.2


@pytest.mark.parametrize("seed", range(3))
def test_a_change_of_unit_leaves_naopc_exactly(seed: int) -> None:
    """v and g(v) = a v + b: raw values scale by a, normalised ones don't move."""
    plain, other = model(seed, sigmoid), model(seed, lambda z: 0.1 * sigmoid(z) + 0.7)
    scores = shuffled(seed)
    raw = [testing.score("aopc", game, scores) for game in (plain, other)]
    assert raw[1] == pytest.approx(0.1 * raw[0], abs=1e-12)
    normal = [testing.score("aopc", game, scores, normalised=True) for game in (plain, other)]
    assert normal[0] == pytest.approx(normal[1], abs=1e-9)


def test_naopc_lies_between_all_orders() -> None:
    """By hand: the value, the least and the greatest of all 120 orders."""
    game = model(0, sigmoid)
    value = slow.value_of(game)
    orders = list(itertools.permutations(range(PLAYERS)))
    everyone = [slow.aopc(value, order) for order in orders]
    for order in orders[::17]:
        scores = np.array([-float(order.index(i)) for i in range(PLAYERS)])
        by_hand = (slow.aopc(value, order) - min(everyone)) / (max(everyone) - min(everyone))
        got = testing.score("aopc", game, scores, normalised=True)
        assert got == pytest.approx(by_hand, abs=1e-9)


def untouched() -> Game:
    return testing.game(5, lambda masks: np.zeros(len(masks)))


def test_a_trapezoid_rewards_a_constant() -> None:
    """One of five is evidence: AUPRC by trapezoids gives constant scores .6, AP the share, .2."""
    truth, constant = np.array([0, 1, 0, 0, 0], bool), np.zeros(5)
    precision, recall, _ = precision_recall_curve(truth, constant)
    assert auc(recall, precision) == pytest.approx(0.6)
    by_hand = (1.0 + 0.2) / 2 * 1.0  # from precision 1 at recall 0 straight to .2 at recall 1
    assert by_hand == pytest.approx(auc(recall, precision))
    ours = testing.score("average_precision", untouched(), constant, truth=truth)
    assert ours == pytest.approx(0.2, abs=1e-12)


def test_a_trapezoid_ranks_a_constant_above_a_near_miss() -> None:
    """The evidence in second place finds more than a constant, and the trapezoid says less."""
    truth, near = np.array([0, 1, 0, 0, 0], bool), np.array([5.0, 4, 3, 2, 1])
    precision, recall, _ = precision_recall_curve(truth, near)
    assert auc(recall, precision) < 0.6
    ours = testing.score("average_precision", untouched(), near, truth=truth)
    assert ours == pytest.approx(0.5)  # and .2 for a constant
