"""Perturbation metrics: known answers, ties, invariances, a slow second derivation."""

from math import comb

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import plugin_call, testing
from attrial.errors import AttrialError, Undefined
from attrial.masks import keys
from attrial.metrics._ranks import tops
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import slow

STEPS = slow.additive([4, 3, 2, 1])
CURVES = ("deletion_auc", "insertion_auc", "aopc")
# A grid of scores on which exp and 3s + 1 keep what is equal equal and what differs apart.
grid = st.integers(-3, 3).map(float)


@pytest.mark.parametrize(
    ("scores", "deletion", "insertion", "aopc"),
    [
        ([4, 3, 2, 1], 3.75, 6.25, 7.5),
        ([1, 2, 3, 4], 6.25, 3.75, 5.0),
        ([0, 0, 0, 0], 5.0, 5.0, 6.25),
        ([5, 5, 1, 1], 4.0, 6.0, 7.25),
        ([3, 4, 2, 1], 4.0, 6.0, 7.25),
    ],
)
def test_an_additive_game(
    scores: list[float], deletion: float, insertion: float, aopc: float
) -> None:
    got = [testing.score(metric, STEPS, scores) for metric in CURVES]
    np.testing.assert_allclose(got, [deletion, insertion, aopc], atol=1e-12)
    assert testing.score("aopc", STEPS, scores, normalised=True) == pytest.approx(
        (aopc - 5) / 2.5, abs=1e-12
    )


@given(st.permutations(range(5)), st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_aopc_of_an_additive_game_in_closed_form(order: list[int], c: list[float]) -> None:
    scores = np.empty(5)
    scores[order] = np.arange(5, 0, -1)
    got = testing.score("aopc", slow.additive(c), scores)
    assert got == pytest.approx(sum(c[i] * (5 - k) for k, i in enumerate(order)) / 5, abs=1e-9)
    back = testing.score("aopc", slow.additive(c), -scores)
    assert got + back == pytest.approx(6 / 5 * sum(c), abs=1e-9)


@pytest.mark.parametrize("metric", slow.PERTURBATION)
@settings(max_examples=25, deadline=None)
@given(st.lists(grid, min_size=3, max_size=5), st.integers(0, 50))
def test_equals_the_mean_over_every_way_to_break_ties(
    metric: str, scores: list[float], seed: int
) -> None:
    game = slow.interacting(len(scores), seed)
    expected = slow.over_ties(game, scores, slow.PERTURBATION[metric])
    assert testing.score(metric, game, scores) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", slow.PERTURBATION)
@pytest.mark.parametrize("n", [3, 4, 5])
def test_constant_scores_get_the_mean_over_all_orders(metric: str, n: int) -> None:
    game = slow.interacting(n, n)
    expected = slow.over_ties(game, [0.0] * n, slow.PERTURBATION[metric])
    for constant in (0.0, -7.5):
        got = testing.score(metric, game, np.full(n, constant))
        assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", slow.PERTURBATION)
@settings(max_examples=25, deadline=None)
@given(st.lists(grid, min_size=13, max_size=15), st.integers(0, 50))
def test_sampled_ties_are_exact_on_additive_games(
    metric: str, scores: list[float], seed: int
) -> None:
    """A tied group's players share its mean worth, which is what the expectation comes to."""
    c = np.random.default_rng(seed).normal(size=len(scores))
    s = np.array(scores)
    shared = np.array([c[s == level].mean() for level in s])
    order = tuple(np.argsort(-s, kind="stable").tolist())
    expected = slow.PERTURBATION[metric](slow.value_of(slow.additive(shared.tolist())), order)
    got = testing.score(metric, slow.additive(c.tolist()), s, seed=seed)
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", slow.PERTURBATION)
def test_sampled_ties_are_near_the_expectation_on_interacting_games(metric: str) -> None:
    game = slow.interacting(14, 1)
    draws = np.random.default_rng(0).permuted(np.tile(np.arange(14), (400, 1)), axis=1)
    one, value = slow.PERTURBATION[metric], slow.value_of(game)
    drawn = [one(value, tuple(order)) for order in draws.tolist()]
    error = np.std(drawn) / 20
    sampled = [testing.score(metric, game, np.zeros(14), seed=seed) for seed in range(20)]
    assert abs(np.mean(sampled) - np.mean(drawn)) < 4 * error
    assert np.std(sampled) < np.std(drawn) / 3  # 14 windows are worth more than a draw


@pytest.mark.parametrize("metric", slow.PERTURBATION)
@settings(max_examples=20, deadline=None)
@given(st.lists(grid, min_size=3, max_size=14), st.integers(0, 50))
def test_only_the_order_of_scores_matters(metric: str, scores: list[float], seed: int) -> None:
    game, s = slow.interacting(len(scores), seed), np.array(scores)
    got = testing.score(metric, game, s)
    for same in (np.exp(s), 3 * s + 1, np.unique(s, return_inverse=True)[1]):
        assert testing.score(metric, game, same) == got


@settings(max_examples=25, deadline=None)
@given(st.lists(grid, min_size=3, max_size=14), st.integers(0, 50))
def test_the_opposite_scores_swap_most_and_least_relevant_first(
    scores: list[float], seed: int
) -> None:
    """What leaves last under s leaves first under -s: one asks for the other's sets, backwards."""
    n, s = len(scores), np.array(scores)
    falling, rising = tops(-s, range(n + 1), seed=seed), tops(s, range(n + 1), seed=seed)
    for k in range(n + 1):
        gone = keys(~falling.masks[falling.level == k])
        assert sorted(gone) == sorted(keys(rising.masks[rising.level == n - k]))
    game = slow.interacting(n, seed)
    backwards = testing.score("deletion_auc", game, -s)
    assert backwards == pytest.approx(testing.score("insertion_auc", game, s), abs=1e-12)


@pytest.mark.parametrize("metric", slow.PERTURBATION)
@settings(max_examples=20, deadline=None)
@given(st.lists(grid, min_size=6, max_size=6), st.permutations(range(6)))
def test_names_of_players_do_not_matter(metric: str, scores: list[float], names: list[int]) -> None:
    game = slow.interacting(6, 3)
    renamed = testing.game(6, lambda m: game.value(m[:, np.argsort(names)]))
    got = testing.score(metric, renamed, np.array(scores)[names])
    assert got == pytest.approx(testing.score(metric, game, scores), abs=1e-12)


@given(st.lists(grid, min_size=1, max_size=9), st.integers(0, 9))
def test_a_size_cuts_one_group_and_leaves_every_member_equally_often(
    scores: list[float], size: int
) -> None:
    n, size = len(scores), min(size, len(scores))
    for wide in (scores, scores * 3):  # listed, and from 13 players on sampled
        got = tops(np.array(wide), [size], seed=0)
        assert (got.masks.sum(1) == size).all()
        assert len(set(keys(got.masks))) == len(got.masks)
        for level in set(wide):
            often = got.masks.mean(0)[np.array(wide) == level]
            np.testing.assert_allclose(often, often[0], atol=1e-12)
        order = np.argsort(-np.array(wide), kind="stable")
        assert (np.diff(got.masks.mean(0)[order]) <= 1e-12).all()
    assert len(tops(np.zeros(n), [size], seed=0).masks) == comb(n, size)


@pytest.mark.parametrize("tied", range(2, 17))
def test_a_walk_reaches_every_set_whatever_the_ties(tied: int) -> None:
    scores = np.arange(16.0).clip(max=16.0 - tied)
    sets = tops(scores, np.arange(17), seed=0, chained=True)
    for size in range(16):
        below, above = (sets.masks[sets.level == k] for k in (size, size + 1))
        assert all(any((~b | a).all() for b in below) for a in above), size
        assert all(any((~b | a).all() for a in above) for b in below), size


@pytest.mark.parametrize("tied", range(2, 15))
def test_walks_over_alike_players_need_no_luck(tied: int) -> None:
    scores = np.arange(14.0).clip(max=14.0 - tied)
    alike = testing.game(14, lambda masks: masks.sum(axis=1) - 7.5)
    assert testing.score("decision_flip_fraction", alike, scores) == pytest.approx(7 / 14)
    assert testing.score("monotonicity", alike, scores) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("n", [3, 7, 14])
def test_at_all_players_every_method_is_alike(n: int) -> None:
    game = slow.interacting(n, 5)
    value = slow.value_of(game)
    whole, empty = value(frozenset(range(n))), value(frozenset())
    for seed in range(5):
        scores = np.random.default_rng(seed).normal(size=n)
        got = testing.score("comprehensiveness(bins=(1.0,))", game, scores)
        assert got == pytest.approx(whole - empty, abs=1e-12)
        assert testing.score("sufficiency(bins=(1.0,))", game, scores) == 0


@pytest.mark.parametrize("metric", ["comprehensiveness", "sufficiency"])
@given(scores=st.lists(grid, min_size=4, max_size=14))
@settings(max_examples=20, deadline=None)
def test_the_codes_value_is_six_fifths_of_the_papers(metric: str, scores: list[float]) -> None:
    game = slow.interacting(len(scores), 9)
    code = testing.score(metric, game, scores)
    paper = testing.score(f"{metric}(zero_bin=True)", game, scores)
    assert code == pytest.approx(1.2 * paper, abs=1e-12)
    assert abs(code) > 1e-4


def test_bins_that_are_no_shares_are_refused() -> None:
    with pytest.raises(AttrialError, match="shares in"):
        testing.score("comprehensiveness(bins=(5.0,))", STEPS, [1, 2, 3, 4])


@pytest.mark.parametrize("metric", slow.PERTURBATION)
def test_no_players_no_value(metric: str) -> None:
    with pytest.raises(Undefined, match="no players"):
        testing.score(metric, testing.game(0, lambda m: np.zeros(len(m))), [])


@pytest.mark.parametrize("metric", slow.PERTURBATION)
def test_one_player(metric: str) -> None:
    got = testing.score(metric, slow.additive([2.0]), [0.3])
    wanted = {"deletion_auc": 1, "insertion_auc": 1, "aopc": 2, "comprehensiveness": 2}
    assert got == wanted.get(metric, 0)


@pytest.mark.parametrize(
    ("metric", "curve"), [("deletion", [10, 6, 3, 1, 0]), ("insertion", [0, 4, 7, 9, 10])]
)
def test_the_curve_is_noted(metric: str, curve: list[float]) -> None:
    x, asked = STEPS.example, plugin_call.metric(f"{metric}_auc")
    asker = asked.value(x, np.array([4.0, 3, 2, 1]), 0)
    (got,) = answer(Value(STEPS), [(Subject(x, "game", Target(0, "logit")), asker)])
    assert got.notes == {metric: curve}


@pytest.mark.parametrize("metric", slow.PERTURBATION)
def test_declarations_say_what_the_numbers_do(metric: str) -> None:
    facts, asked = plugin_call.metric(metric).facts, plugin_call.metric(metric)
    assert facts.higher_is_better == (metric not in slow.LOWER_IS_BETTER)
    assert facts.family == "faithfulness" and asked.reads == "probability"
    good, bad = (testing.score(metric, STEPS, s) for s in ([4, 3, 2, 1], [1, 2, 3, 4]))
    assert (good > bad) == facts.higher_is_better


def test_metrics_share_their_questions() -> None:
    """All five extremes, and the curves of every order, come from sets asked about once."""
    game = slow.interacting(13, 2)
    subject = Subject(game.example, "game", Target(0, "logit"))
    value = Value(game)

    def rows(metric: str) -> int:
        asker = plugin_call.metric(metric).extremes(game.example, 0)
        return answer(value, [(subject, asker)])[0].cost.computed

    computed: npt.NDArray[np.int64] = np.array([rows(metric) for metric in slow.PERTURBATION])
    assert computed[0] > 0 and not computed[1:].any()
