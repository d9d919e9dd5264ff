"""Best and worst orders of long inputs: within a bound, and hardly worse than what beams find."""

from collections.abc import Sequence

import numpy as np
import pytest

import attrial
from attrial import plugin_call, testing
from attrial.ask import Asking
from attrial.games import Game
from attrial.masks import Scores
from attrial.metrics import _climbs, _orders
from attrial.metrics._bins import BINS, weights
from attrial.metrics._orders import Level, chain, explored
from attrial.target import Target
from attrial.value import Answer, R, Subject, Value, answer
from tests import slow
from tests.test_orders import keyworded, least, mlp, pooled

LOGIT = Target(0, "logit")


def run(game: Game, asker: Asking[R]) -> Answer[R]:
    return answer(Value(game), [(Subject(game.example, "game", LOGIT), asker)])[0]


def found(game: Game, asker: Asking[Sequence[Level]]) -> Sequence[Level]:
    got = run(game, asker).result
    assert got is not None
    return got


def searched(metric: str, game: Game) -> Answer[tuple[Scores, Scores]]:
    return run(game, plugin_call.metric(metric).extremes(game.example, 0))


@pytest.mark.parametrize("n", [41, 60, 100, 250, 510])
def test_a_search_stays_within_its_rows(n: int) -> None:
    game = mlp(n, np.random.default_rng(n))
    whole, bins = searched("aopc", game), searched("comprehensiveness", game)
    assert n < bins.cost.rows < whole.cost.rows <= max(_climbs.ROWS, 6 * n + 2)
    assert whole.notes == bins.notes == {"bounded": 1.0}


@pytest.mark.parametrize("n", [12, 13, 40])
def test_short_inputs_are_searched_by_beams_as_ever(n: int) -> None:
    game = mlp(n, np.random.default_rng(n))
    got = searched("comprehensiveness", game)
    assert got.notes == {}
    assert got.cost.computed == sum(len(level.masks) for level in found(game, explored(n)))


@pytest.mark.parametrize("metric", slow.PERTURBATION)
@pytest.mark.parametrize("n", [41, 130])
def test_additive_games_have_a_known_order_that_is_found(metric: str, n: int) -> None:
    c = np.random.default_rng(n).normal(size=n)
    game = slow.additive(c.tolist())
    assert testing.score(metric, game, c, normalised=True) == pytest.approx(1, abs=1e-9)
    assert testing.score(metric, game, -c, normalised=True) == pytest.approx(0, abs=1e-9)


def test_climbs_find_nearly_what_beams_find() -> None:
    """Of the distance between the beams' worst and best chain a hundredth is lost at most."""
    n, lost = 45, []
    for make in (mlp, pooled, keyworded):
        game = make(n, np.random.default_rng(0))
        beams, climbs = (found(game, asker) for asker in (_orders._searched(n, 6), explored(n)))
        assert sum(len(b.masks) for b in beams) > 4 * sum(len(c.masks) for c in climbs)
        for counts in (np.ones(n + 1), weights(BINS, n), weights(BINS, n)[::-1]):
            low, high = (least(game, beams, counts, sign) for sign in (1, -1))
            lost.append((least(game, climbs, counts, 1) - low) / (high - low))
            lost.append((high - least(game, climbs, counts, -1)) / (high - low))
    assert np.mean(lost) < 0.01 and max(lost) < 0.1


def test_the_order_is_whole_where_only_some_sizes_are_read() -> None:
    game = mlp(60, np.random.default_rng(1))
    got = searched("comprehensiveness", game).result
    assert got is not None
    for scores in got:
        assert scores.shape == (60,) and np.isfinite(scores).all()
        assert len(np.unique(scores)) >= len(set(weights(BINS, 60).nonzero()[0]))
    levels = found(game, explored(60))
    sets = chain(levels, np.ones(61), 1)
    assert sets.sum(1).tolist() == list(range(61)) and (sets[1:] >= sets[:-1]).all()


def test_steps_are_single_at_first_and_few_on_very_long_inputs() -> None:
    assert list(_climbs.stops(50))[:4] == [1, 2, 3, 4] and _climbs.stops(50)[-1] == 50
    assert list(_climbs.stops(2000)) == [2000]
    assert all(np.diff(_climbs.stops(n)).min(initial=1) > 0 for n in range(41, 700))


def test_a_board_says_where_the_search_was_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_orders, "LONG", 6)
    board = attrial.run(
        tasks=["planted_keyword"], methods=["occlusion"], metrics=["comprehensiveness"], limit=6
    )
    warned = {e.record.spec.label: e.record.warnings for e in board.entries}
    assert warned["best_order"]["bounded search"] == warned["worst_order"]["bounded search"] > 0
    assert "bounded search" not in warned["occlusion"]
    assert any("searched within a bound on" in notice for notice in board.notices)
