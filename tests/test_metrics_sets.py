"""Set-based metrics: exact on additive games, derived twice on others, undefined in between."""

import itertools
from statistics import correlation, fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from attrial import plugin_call, testing
from attrial.errors import AttrialError, Undefined
from attrial.games import Game
from attrial.target import Target
from attrial.value import Answer, Subject, Value, answer
from tests import slow

GAME = slow.interacting(5, 4)
SCORES = [0.7, -1.2, 2.0, 0.1, 0.4]
WEIGHTS = [1.5, -2.0, 0.5, 0.25, 3.0, -0.75]
CORRELATIONS = ("faithfulness_correlation", "sensitivity_n", "linear_datamodelling", "tau_loo")


def of_size(n: int, k: int) -> list[frozenset[int]]:
    return [frozenset(c) for c in itertools.combinations(range(n), k)]


def said_and_done(game: Game, scores: list[float], size: int) -> tuple[list[float], list[float]]:
    """Sums of scores, and drops, of every set of a size."""
    value, everyone = slow.value_of(game), frozenset(range(len(scores)))
    gone = of_size(len(scores), size)
    said = [sum(scores[i] for i in s) for s in gone]
    return said, [value(everyone) - value(everyone - s) for s in gone]


def played(metric: str, game: Game, scores: list[float], seed: int = 0) -> Answer[float]:
    asker = plugin_call.metric(metric).value(game.example, np.array(scores), seed)
    return answer(Value(game), [(Subject(game.example, "game", Target(0, "logit")), asker)])[0]


def random_expectation(metric: str, game: Game) -> float:
    asker = plugin_call.metric(metric).expected(game.example, 0)
    subject = Subject(game.example, "game", Target(0, "logit"))
    got = answer(Value(game), [(subject, asker)])[0].result
    assert got is not None
    return got


def test_faithfulness_correlation_over_all_sets() -> None:
    for share, size in ((0.2, 1), (0.4, 2), (0.5, 3), (0.8, 4)):
        got = testing.score(f"faithfulness_correlation(share={share})", GAME, SCORES)
        assert got == pytest.approx(correlation(*said_and_done(GAME, SCORES, size)), abs=1e-9)


def test_sensitivity_n_over_all_sets() -> None:
    each = [correlation(*said_and_done(GAME, SCORES, size)) for size in range(1, 5)]
    for size, expected in enumerate(each, 1):
        got = testing.score(f"sensitivity_n(size={size})", GAME, SCORES)
        assert got == pytest.approx(expected, abs=1e-9)
    assert testing.score("sensitivity_n", GAME, SCORES) == pytest.approx(fmean(each), abs=1e-9)


def test_infidelity_over_all_sets() -> None:
    said, done = zip(*(said_and_done(GAME, SCORES, k) for k in range(6)), strict=True)
    a, d = np.concatenate(said), np.concatenate(done)
    plain = fmean((x - y) ** 2 for x, y in zip(a.tolist(), d.tolist(), strict=True))
    assert testing.score("infidelity", GAME, SCORES) == pytest.approx(plain, abs=1e-12)
    fits = [fmean(((f * a - d) ** 2).tolist()) for f in np.linspace(-1, 1, 20001)]
    got = testing.score("infidelity(scaled=True)", GAME, SCORES)
    assert got == pytest.approx(min(fits), abs=1e-7) and got <= min(fits) + 1e-12
    for factor in (100.0, -0.3):  # what made infidelity useless for comparison elsewhere
        scaled = [factor * s for s in SCORES]
        assert testing.score("infidelity(scaled=True)", GAME, scaled) == pytest.approx(got)
        assert testing.score("infidelity", GAME, scaled) != pytest.approx(plain)
    zero = fmean((d**2).tolist())
    assert testing.score("infidelity(scaled=True)", GAME, [0.0] * 5) == pytest.approx(zero)


@pytest.mark.parametrize("unit", [0.001, 0.1, 1.0, 10.0])
def test_random_scores_in_no_unit_are_better_than_chance_by_infidelity(unit: float) -> None:
    game = slow.additive([1.0, 2, 3, 4, 0.5, 1])
    drawn = unit * np.random.default_rng(0).random((200, 6))
    found = np.array([testing.score("infidelity", game, row) for row in drawn])
    chance = random_expectation("infidelity", game)
    assert chance == random_expectation("infidelity(scaled=True)", game)
    assert found.mean() > chance
    assert testing.score("infidelity", game, [1.0, 2, 3, 4, 0.5, 1]) < chance  # as it can be beaten


def test_linear_datamodelling_over_all_sets() -> None:
    value = slow.value_of(GAME)
    kept = [s for k in range(6) for s in of_size(5, k)]
    said = [round(sum(SCORES[i] for i in s), 9) for s in kept]
    expected = stats.spearmanr(said, [value(s) for s in kept]).statistic
    got = testing.score("linear_datamodelling", GAME, SCORES)
    assert got == pytest.approx(expected, abs=1e-9)


def test_single_players() -> None:
    done = said_and_done(GAME, SCORES, 1)[1]
    pairs = list(itertools.combinations(range(5), 2))
    agree = [np.sign((SCORES[i] - SCORES[j]) * (done[i] - done[j])) for i, j in pairs]
    assert testing.score("tau_loo", GAME, SCORES) == pytest.approx(fmean(agree), abs=1e-12)
    sizes = [abs(s) for s in SCORES], [abs(d) for d in done]
    expected = stats.spearmanr(*sizes).statistic
    got = testing.score("monotonicity_correlation", GAME, SCORES)
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", [WEIGHTS, np.random.default_rng(0).normal(size=14).tolist()])
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_a_linear_model_has_a_right_answer(weights: list[float], factor: float) -> None:
    """Six players: all sets. Fourteen: random ones."""
    game, scores = slow.additive(weights), [factor * w for w in weights]
    for metric in CORRELATIONS:
        assert testing.score(metric, game, scores) == pytest.approx(1, abs=1e-9), metric
        assert testing.score(metric, game, [-s for s in scores]) == pytest.approx(-1, abs=1e-9)
    for size in range(1, len(weights)):
        got = testing.score(f"sensitivity_n(size={size})", game, scores)
        assert got == pytest.approx(1, abs=1e-9)
    with pytest.raises(Undefined, match="only one set of this size"):
        testing.score(f"sensitivity_n(size={len(weights)})", game, scores)
    assert testing.score("infidelity(scaled=True)", game, scores) == pytest.approx(0, abs=1e-12)
    plain = testing.score("infidelity", game, scores)
    assert plain == pytest.approx(0, abs=1e-12) if factor == 1 else plain > 0.1


def test_ranks_are_average_ranks() -> None:
    """Dense ranks would give +.8 and .9."""
    game = slow.additive([4, 1, 1, 1])
    got = testing.score("monotonicity_correlation", game, [1, 1, 1, 2])
    assert got == pytest.approx(-1 / 3, abs=1e-12)
    game = slow.additive([1, 2, 2, 3])
    got = testing.score("monotonicity_correlation", game, [1, 1, 2, 3])
    assert got == pytest.approx(0.833333, abs=5e-7)
    assert testing.score("tau_loo", game, [1, 1, 2, 3]) == pytest.approx(0.8, abs=1e-12)


def test_leaving_one_out_says_nothing_of_evidence_that_occurs_twice() -> None:
    either = testing.game(3, lambda m: m.any(1).astype(float))
    with pytest.raises(Undefined, match="the model's answers are constant"):
        testing.score("tau_loo", either, [1, 1 / 2, 1 / 3])


@pytest.mark.parametrize("metric", [*CORRELATIONS, "monotonicity_correlation"])
def test_what_is_constant_has_no_correlation(metric: str) -> None:
    for flat, why in ((slow.additive([0] * 4), "answers"), (slow.additive([1, 2, 3, 4]), "scores")):
        scores = np.array([1, 2, 4, 8]) if why == "answers" else np.full(4, 0.0)
        with pytest.raises(Undefined, match=f"{why} are constant"):
            testing.score(metric, flat, scores)
    if metric != "linear_datamodelling":  # its sets differ in size
        assert random_expectation(metric, GAME) == 0
    with pytest.raises(Undefined):
        testing.score(metric, testing.game(0, lambda m: np.zeros(len(m))), [])


BY_CHANCE = ("infidelity(scaled=True)", *CORRELATIONS)


@pytest.mark.parametrize("weights", [WEIGHTS, [1.0, 2, 3, 4, 0.5, 1]])
@pytest.mark.parametrize("metric", BY_CHANCE)
def test_a_random_attribution_gets_what_boards_say(metric: str, weights: list[float]) -> None:
    """Uniform scores, as the method ``random`` draws them, get the control's value on average."""
    game = slow.additive(weights)
    drawn = np.random.default_rng(0).random((400, len(weights)))
    found = np.array([testing.score(metric, game, row) for row in drawn])
    error = found.std() * (1 / 400 + 1 / 50) ** 0.5  # some controls are means of 50 draws
    assert abs(found.mean() - random_expectation(metric, game)) < 4 * error
    assert found.std() > 0.01


def test_scores_all_alike_are_no_better_than_chance_where_all_players_help() -> None:
    """Larger sets sum to more and reach more: chance is well above 0, by hand with equal scores."""
    game = slow.additive([1.0, 2, 3, 4, 0.5, 1])
    assert testing.score("linear_datamodelling", game, np.ones(6)) > 0.5
    assert random_expectation("linear_datamodelling", game) > 0.5


@pytest.mark.parametrize("metric", ["tau_loo", "monotonicity_correlation"])
def test_the_mean_over_all_orders_is_the_random_expectation(metric: str) -> None:
    found = [testing.score(metric, GAME, order) for order in itertools.permutations(range(5))]
    assert fmean(found) == pytest.approx(random_expectation(metric, GAME), abs=1e-12)


@pytest.mark.parametrize("metric", [*CORRELATIONS, "infidelity", "random_set_win_rate"])
def test_seeds_matter_only_where_sets_are_drawn(metric: str) -> None:
    big = slow.interacting(14, 0)
    scores = np.arange(14.0)
    again = [testing.score(metric, big, scores, seed=seed) for seed in (1, 1, 2)]
    assert again[0] == again[1]
    assert (again[0] == again[2]) == (metric == "tau_loo")
    if metric != "random_set_win_rate":
        small = [testing.score(metric, GAME, SCORES, seed=seed) for seed in (1, 2)]
        assert small[0] == small[1]


@given(st.integers(0, 30))
def test_win_rate_is_the_share_of_sets_beaten(seed: int) -> None:
    game = slow.interacting(6, seed)
    scores = np.random.default_rng(seed).normal(size=6)
    value, everyone = slow.value_of(game), frozenset(range(6))
    top = frozenset(np.argsort(-scores)[:2].tolist())
    drop = {s: value(everyone) - value(everyone - s) for s in of_size(6, 2)}
    true = fmean((drop[top] > d) + 0.5 * (drop[top] == d) for d in drop.values())
    got = testing.score("random_set_win_rate(samples=2000)", game, scores, seed=seed)
    assert got == pytest.approx(true, abs=4 * 0.5 / 2000**0.5)


def test_win_rate_with_its_p_value() -> None:
    weights = [float(i) for i in range(30)]
    best = played("random_set_win_rate", slow.additive(weights), weights)
    assert best.result == 1 and best.notes == {"p_value": pytest.approx(1 / 201)}
    worst = played("random_set_win_rate", slow.additive(weights), weights[::-1])
    assert worst.result == 0 and worst.notes == {"p_value": pytest.approx(1.0)}
    flat = played("random_set_win_rate", slow.additive([0.0] * 30), weights)
    assert flat.result == 0.5 and flat.notes == {"p_value": 1.0}
    random = played("random_set_win_rate", slow.additive(weights), [0.0] * 30)
    assert random.result == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("random_set_win_rate(samples=20)", "samples must be at least 200"),
        ("sensitivity_n(size=0)", "size must be at least 1"),
        ("faithfulness_correlation(share=0.0)", "shares in"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(metric: str, why: str) -> None:
    with pytest.raises(AttrialError, match=why):
        testing.score(metric, GAME, SCORES)
