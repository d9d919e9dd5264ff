"""What is known of soft metrics: closed forms, and that an inflated attribution must not win."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial import plugin_call, testing
from attrial.errors import AttrialError, Undefined
from attrial.games import Game
from attrial.masks import Floats
from attrial.metrics._soft import matched
from attrial.value import Answer, Subject, Value, answer
from tests import slow

SHARES = np.array([1.0, 0.5, 0.25, 0.0])
WEIGHTS = [4.0, 3.0, 2.0, 1.0]
SOFT = ("soft_comprehensiveness", "soft_sufficiency")
MATCHED = ("pi_soft_comprehensiveness", "pi_soft_sufficiency")
DRAWS = 4000


def played(call: str, game: Game, scores: Floats, seed: int = 0) -> Answer[float]:
    subject = Subject(game.example, "game", game.target)
    asker = plugin_call.metric(call).value(game.example, scores, seed)
    return answer(Value(game), [(subject, asker)])[0]


def score(call: str, scores: Floats) -> float:
    return testing.score(call, slow.additive(WEIGHTS), scores)


@pytest.mark.parametrize("metric", SOFT)
@pytest.mark.parametrize("t", [1.0, 0.5, 0.1])
def test_the_expected_drop_of_an_additive_game(metric: str, t: float) -> None:
    """E = sum of share x weight = 6 of 10, and t times that for t times the shares."""
    call = f"{metric}(stretch=False, draws={DRAWS})"
    got = played(call, slow.additive(WEIGHTS), t * SHARES)
    variance = sum(t * a * (1 - t * a) * w * w for a, w in zip(SHARES, WEIGHTS, strict=True))
    error = (variance / DRAWS) ** 0.5 / 10
    assert got.notes == {"standard_error": pytest.approx(error, rel=0.1)}
    assert got.result == pytest.approx(t * 6.0 / 10, abs=4 * error)
    assert error < 0.005


@pytest.mark.parametrize("metric", SOFT)
def test_vectors_lose_elements_one_by_one(metric: str) -> None:
    """On token vectors too; each element of a player has a draw of its own."""
    rng = np.random.default_rng(0)
    point, direction = rng.uniform(1, 2, (4, 16)), rng.uniform(1, 2, 16)
    weights = point @ direction
    game = testing.smooth(
        lambda x: (x @ direction).sum(1),
        lambda x: np.broadcast_to(direction, x.shape),
        point,
        np.zeros_like(point),
    )
    got = testing.score(f"{metric}(stretch=False, draws=1000)", game, SHARES)
    assert got == pytest.approx(SHARES @ weights / weights.sum(), abs=0.01)


@pytest.mark.parametrize("metric", SOFT)
def test_an_inflated_attribution_wins_and_at_matched_retention_it_does_not(metric: str) -> None:
    """The inflated ones are wrong about the order of players, or no better about it."""
    right = np.array([0.8, 0.5, 0.25, 0.0])
    wrong = right[[1, 0, 3, 2]]
    for inflated in (np.clip(2 * wrong, 0, 1), np.clip(wrong + 0.4, 0, 1)):
        for name, wins in ((metric, True), (f"pi_{metric}", False)):
            call = f"{name}(stretch=False, draws=1000)"
            assert (score(call, inflated) > score(call, right)) == wins, name


@pytest.mark.parametrize("metric", MATCHED)
def test_a_shift_changes_nothing_at_matched_retention(metric: str) -> None:
    call = f"{metric}(stretch=False)"
    low = np.array([0.5, 0.25, 0.125, 0.0])
    assert score(call, low + 0.4) == pytest.approx(score(call, low), abs=1e-9)
    assert score(call.replace("pi_", ""), low + 0.4) > score(call.replace("pi_", ""), low) + 0.1


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.4, 0.9, 1.0]), min_size=1, max_size=9),
    st.floats(0.01, 0.99),
)
def test_any_mean_can_be_met(shares: list[float], mean: float) -> None:
    given_, got = np.array(shares), matched(np.array(shares), mean)
    assert got.mean() == pytest.approx(mean, abs=1e-9)
    assert (got >= 0).all() and (got <= 1).all()
    order = np.argsort(given_, kind="stable")
    assert (np.diff(got[order]) >= 0).all()


@pytest.mark.parametrize("metric", [*SOFT, *MATCHED])
def test_zeros_that_are_worth_the_whole_leave_no_value(metric: str) -> None:
    for weights in ([0.0, 0.0, 0.0], [-1.0, 0.5, 0.0]):
        with pytest.raises(Undefined, match="S0 = 1"):
            testing.score(metric, slow.additive(weights), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("metric", [*SOFT, *MATCHED])
def test_what_makes_no_sense(metric: str) -> None:
    game = slow.additive(WEIGHTS)
    with pytest.raises(Undefined, match="the scores are constant"):
        testing.score(metric, game, [2.0] * 4)
    with pytest.raises(Undefined, match="no players"):
        testing.score(metric, slow.additive([]), [])
    with pytest.raises(AttrialError, match="draws must be at least 1"):
        testing.score(f"{metric}(draws=0)", game, SHARES)
    for means in ("()", "(0.5, 1.0)"):
        if metric in MATCHED:
            with pytest.raises(AttrialError, match="means are shares"):
                testing.score(f"{metric}(means={means})", game, SHARES)


@pytest.mark.parametrize("metric", [*SOFT, *MATCHED])
def test_the_same_seed_draws_the_same(metric: str) -> None:
    game = slow.additive(WEIGHTS)
    first, again, other = (played(metric, game, SHARES, seed).result for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("metric", [*SOFT, *MATCHED])
def test_a_random_attribution_keeps_half_of_an_additive_game(metric: str) -> None:
    game, call = slow.additive(WEIGHTS), plugin_call.metric(f"{metric}(draws={DRAWS})")
    subject = Subject(game.example, "game", game.target)
    (got,) = answer(Value(game), [(subject, call.expected(game.example, 0))])
    assert got.result == pytest.approx(0.5, abs=0.02)
