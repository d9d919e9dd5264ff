"""Registered metrics against their second derivations; a metric without one fails here."""

import itertools

import numpy as np
import pytest

from attrial import registry, testing
from attrial.masks import Floats, Masks
from tests.slow_metrics import SLOW, Case, deciding

METRICS = [n for n, p in registry.plugins("metrics").items() if p.module.startswith("attrial.")]
# What is drawn is given draws enough, and five of its standard errors.
DRAWN = {
    "random_set_win_rate": ("random_set_win_rate(samples=2000)", 5 * 0.5 / 2000**0.5),
    "soft_comprehensiveness": ("soft_comprehensiveness(draws=2000)", 5 * 0.5 / 2000**0.5),
    "soft_sufficiency": ("soft_sufficiency(draws=2000)", 5 * 0.5 / 2000**0.5),
    "pi_soft_comprehensiveness": ("pi_soft_comprehensiveness(draws=400)", 5 * 0.5 / 2000**0.5),
    "pi_soft_sufficiency": ("pi_soft_sufficiency(draws=400)", 5 * 0.5 / 2000**0.5),
}
TIED = [0.5, -1.0, 2.0, 0.5, 0.5]
APART = [0.7, -1.2, 2.0, 0.1, 0.4, -0.3]


def test_every_metric_has_a_second_derivation() -> None:
    assert list(SLOW) == METRICS


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scores", [TIED, APART], ids=["tied", "apart"])
@pytest.mark.parametrize("seed", range(3))
def test_equals_its_second_derivation(metric: str, scores: list[float], seed: int) -> None:
    n = len(scores)
    truth = [i in (1, 2) if seed % 2 else i in (0, 3) for i in range(n)]
    case = Case(deciding(n, seed), scores, truth)
    call, tolerance = DRAWN.get(metric, (metric, 1e-9))
    got = testing.score(call, case.game, scores, truth=truth, seed=seed)
    assert got == pytest.approx(SLOW[metric](case), abs=tolerance)


def gated(masks: Masks) -> Floats:
    """The second player helps if the first is there, and hurts if not."""
    return np.asarray(
        np.where(masks[:, 0], 2.0 + masks[:, 1], -1.0 - masks[:, 1]) + 0.25 * masks[:, 2]
    )


@pytest.mark.parametrize("metric", METRICS)
def test_second_derivations_have_teeth(metric: str) -> None:
    """Not every attribution has the same value: three scores on three players, any way round."""
    game, found = testing.game(3, gated), set[float]()
    for scores in itertools.permutations([0.5, 1.0, 4.0]):
        for last in (scores[2], 9.0):
            case = Case(game, [scores[0], scores[1], last], [True, False, False])
            found.add(round(SLOW[metric](case), 6))
    assert len(found) > 1
