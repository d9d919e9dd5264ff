"""What every metric must keep, run over the whole registry; exceptions are exact lists."""

import itertools
from collections.abc import Sequence
from functools import partial
from statistics import fmean

import numpy as np
import numpy.typing as npt
import pytest

from attrial import plugin_call, registry, testing
from attrial.ask import Asking
from attrial.errors import Undefined
from attrial.games import Game
from attrial.masks import Masks, Scores, all_subsets
from attrial.value import R, Subject, Value, answer
from tests import slow_metrics

METRICS = [n for n, p in registry.plugins("metrics").items() if p.module.startswith("attrial.")]
COMPLEXITY = {"gini", "entropy", "effective_size"}  # say nothing of right or wrong


def constant(metric: str, name: str) -> object:
    return plugin_call.metric(metric).bound.constant(name, None)


RANKED = [m for m in METRICS if constant(m, "RANKED")]
VALUED = [m for m in METRICS if not constant(m, "RANKED")]
EVIDENCE = [m for m in METRICS if constant(m, "FAMILY") == "evidence"]
TRUTH = [False, True, False, True, False]

# Defined by more than the players: neighbours, or what is drawn at each position.
DEPENDS_ON_PLACES = {
    "iou_f1": "runs of neighbours",
    "random_set_win_rate": "random sets are drawn by position",
    "soft_comprehensiveness": "elements are drawn by position",
    "soft_sufficiency": "elements are drawn by position",
    "pi_soft_comprehensiveness": "elements are drawn by position",
    "pi_soft_sufficiency": "elements are drawn by position",
}
# Where a constant attribution has not the value of a random order, and why.
CONSTANT_IS_NOT_RANDOM = {
    "average_precision": "ties share a threshold: a constant gets p/n, a random order more",
    "tau_loo": "a constant has no rank correlation",
}
# Sums of single effects are the same along every order.
SAME_IN_EVERY_ORDER_OF_AN_ADDITIVE_GAME = {"monotonicity"}
# Extremes that can't be known without trying all sets or runs.
WITHOUT_EXTREMES = {"iou_f1", "monotonicity", "random_set_win_rate", "tau_loo"}


def additive() -> Game:
    """Decided for at 2.5; without the first player decided against, at -0.5."""
    return testing.game(5, lambda m: m @ np.array([3.0, 1.5, -1.0, 2.0, 1.0]) - 4)


def interacting() -> Game:
    return slow_metrics.deciding(5, 8)


GAMES = {"additive": additive, "interacting": interacting}


def play(game: Game, metric: str, asker: Asking[R]) -> R | None:
    reads = plugin_call.metric(metric).reads
    subject = Subject(game.example, "game", game.target.through(reads))
    return answer(Value(game), [(subject, asker)])[0].result


def known(game: Game) -> Game:
    return slow_metrics.with_truth(game, TRUTH)


def at_random(metric: str, game: Game) -> float:
    got = play(game, metric, plugin_call.metric(metric).expected(known(game).example, 0))
    assert got is not None
    return got


def score(metric: str, game: Game, scores: npt.ArrayLike) -> float:
    return testing.score(metric, game, scores, truth=TRUTH)


def tried(metric: str, game: Game, scores: npt.ArrayLike) -> float | None:
    try:
        return score(metric, game, scores)
    except Undefined:
        return None


def close(a: float | None, b: float | None) -> bool:
    return a == b if a is None or b is None else abs(a - b) < 1e-9


def all_orders(metric: str, game: Game) -> list[float]:
    return [score(metric, game, order) for order in itertools.permutations(range(5))]


def better(metric: str, a: float, b: float) -> bool:
    return a > b + 1e-9 if plugin_call.metric(metric).facts.higher_is_better else a < b - 1e-9


@pytest.mark.parametrize("metric", METRICS)
def test_says_whether_it_is_rank_based(metric: str) -> None:
    assert constant(metric, "RANKED") in (True, False)
    assert isinstance(
        registry.declared(registry.plugin("metrics", metric)).constants["RANKED"], bool
    )


@pytest.mark.parametrize("metric", METRICS)
def test_exp_scale_and_shift_change_nothing_exactly_where_it_is_rank_based(metric: str) -> None:
    s, moved = np.array([0.5, -1.0, 2.0, 0.5, 1.25]), list[bool]()
    for game in (additive(), interacting()):
        for same in (np.exp(s), 3 * s + 1, s / 7, s - 4):
            moved.append(not close(tried(metric, game, same), tried(metric, game, s)))
    assert any(moved) == (metric in VALUED)


@pytest.mark.parametrize("kind", GAMES)
@pytest.mark.parametrize("metric", RANKED)
def test_best_above_random_above_worst(metric: str, kind: str) -> None:
    game = GAMES[kind]()
    found = all_orders(metric, game)
    best, worst = max(found), min(found)
    if not plugin_call.metric(metric).facts.higher_is_better:
        best, worst = worst, best
    if kind == "additive" and metric in SAME_IN_EVERY_ORDER_OF_AN_ADDITIVE_GAME:
        assert best == worst
        return
    random = at_random(metric, game)
    assert better(metric, best, random) and better(metric, random, worst)
    if metric not in WITHOUT_EXTREMES:
        given = play(game, metric, plugin_call.metric(metric).extremes(known(game).example, 0))
        assert given is not None
        assert [score(metric, game, s) for s in given] == pytest.approx([best, worst], abs=1e-9)


def test_those_without_extremes_are_these() -> None:
    lacking = {m for m in RANKED if not plugin_call.metric(m).has_extremes}
    assert lacking == WITHOUT_EXTREMES
    for metric in lacking:
        with pytest.raises(Undefined, match="no best and worst order"):
            testing.score(metric, interacting(), range(5), truth=TRUTH, normalised=True)


def fitted(game: Game) -> Scores:
    """The additive game that is nearest, by least squares over all sets."""
    masks = all_subsets(5)
    design = np.column_stack([masks, np.ones(len(masks))])
    return np.asarray(np.linalg.lstsq(design, np.asarray(game.value(masks)))[0][:5])


@pytest.mark.parametrize("kind", GAMES)
@pytest.mark.parametrize("metric", [m for m in VALUED if m not in COMPLEXITY])
def test_right_above_random_above_wrong(metric: str, kind: str) -> None:
    """Where values count, not only their order: what fits the game, its opposite, its inverse."""
    game = GAMES[kind]()
    fit = fitted(game)
    right = np.array(TRUTH, float) if metric in EVIDENCE else fit
    wrong = 1 - right if metric in EVIDENCE else -fit
    if metric == "monotonicity_correlation":  # reads sizes alone
        wrong = 1 / fit
    random = at_random(metric, game)
    assert better(metric, score(metric, game, right), random)
    assert better(metric, random, score(metric, game, wrong))


def in_other_order(game: Game, back: npt.NDArray[np.int64], masks: Masks) -> npt.ArrayLike:
    return game.value(masks[:, back])


def test_names_of_players_do_not_matter() -> None:
    game, s = interacting(), np.array([0.5, 2.0, -1.0, 0.5, 1.25])
    differ: set[str] = set()
    for names in ([1, 2, 3, 4, 0], [4, 0, 3, 1, 2], [1, 0, 2, 3, 4]):
        back = np.argsort(names)
        renamed = testing.game(5, partial(in_other_order, game, back))
        truth = [TRUTH[i] for i in names]
        for metric in METRICS:
            got = testing.score(metric, renamed, s[names], truth=truth)
            if got != pytest.approx(score(metric, game, s), abs=1e-9):
                differ.add(metric)
    assert differ == set(DEPENDS_ON_PLACES)


@pytest.mark.parametrize("metric", sorted(set(DEPENDS_ON_PLACES) - {"iou_f1"}))
def test_what_is_drawn_depends_on_places_by_chance_alone(metric: str) -> None:
    game, s, names = interacting(), np.array([0.5, -1.0, 2.0, 0.5, 1.25]), [4, 0, 3, 1, 2]
    renamed = testing.game(5, lambda m: game.value(m[:, np.argsort(names)]))
    many = f"{metric}({'samples' if metric == 'random_set_win_rate' else 'draws'}=1000)"
    got = testing.score(many, renamed, s[names])
    assert got == pytest.approx(testing.score(many, game, s), abs=5 * 0.5 * (2 / 1000) ** 0.5)


@pytest.mark.parametrize("kind", GAMES)
@pytest.mark.parametrize("metric", RANKED)
def test_random_is_the_mean_over_all_orders_and_constant_scores_get_it(
    metric: str, kind: str
) -> None:
    game = GAMES[kind]()
    random = at_random(metric, game)
    assert random == pytest.approx(fmean(all_orders(metric, game)), abs=1e-9)
    if metric not in CONSTANT_IS_NOT_RANDOM:
        for level in (0.0, -2.0, 7.0):
            assert score(metric, game, np.full(5, level)) == pytest.approx(random, abs=1e-9)


def test_the_two_whose_constant_is_not_random() -> None:
    """Both oracles hold: 0.2 for a constant with one of five, .4567 for a random order."""
    one = [True, False, False, False, False]
    got = testing.score("average_precision", additive(), np.zeros(5), truth=one)
    assert got == pytest.approx(0.2, abs=1e-12)
    x = slow_metrics.with_truth(additive(), one).example
    random = play(
        additive(), "average_precision", plugin_call.metric("average_precision").expected(x, 0)
    )
    assert random == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5, abs=1e-12)
    with pytest.raises(Undefined, match="the scores are constant"):
        score("tau_loo", additive(), np.zeros(5))
    assert set(CONSTANT_IS_NOT_RANDOM) == {"average_precision", "tau_loo"}


# What a model that ignores its input gets, at 0.7; None: there is no value.
LEVEL = {"deletion_auc", "insertion_auc", "morf", "lerf"}
NO_DROP = {
    *("abc", "aopc", "aopc_eraser_code", "aopc_eraser_paper", "aopc_samek", "comprehensiveness"),
    *("sufficiency", "log_odds", "f_fidelity_plus", "f_fidelity_minus", "decision_flip_top"),
}
NEVER_MOVES = {"accuracy_auc": 1.0, "monotonicity": 1.0, "random_set_win_rate": 0.5}
NO_VALUE = {
    *("decision_flip_fraction", "naopc", "faithfulness_correlation", "linear_datamodelling"),
    *("monotonicity_correlation", "sensitivity_n", "tau_loo", "soft_comprehensiveness"),
    *("soft_sufficiency", "pi_soft_comprehensiveness", "pi_soft_sufficiency"),
}
CLAIMS = {"infidelity"}  # scores claim effects; what claims none is right
FLAT: dict[str, float | None] = {
    **dict.fromkeys(LEVEL, 0.7),
    **dict.fromkeys(NO_DROP, 0.0),
    **NEVER_MOVES,
    **dict.fromkeys(NO_VALUE),
}


def flat(n: int) -> Game:
    return testing.game(n, lambda m: np.full(len(m), 0.7))


def attempted(metric: str, scores: Sequence[float], *, normalised: bool) -> float | None:
    try:
        return testing.score(metric, flat(len(scores)), scores, normalised=normalised)
    except Undefined:
        return None


@pytest.mark.parametrize("metric", sorted(FLAT))
@pytest.mark.parametrize("n", [3, 14])
def test_a_model_that_ignores_its_input(metric: str, n: int) -> None:
    for scores in (np.arange(n), -np.arange(n), np.arange(n) % 3):
        got = attempted(metric, scores.tolist(), normalised=False)
        assert got == (None if FLAT[metric] is None else pytest.approx(FLAT[metric], abs=1e-12))
        assert attempted(metric, scores.tolist(), normalised=True) is None


def test_all_that_ask_a_model_were_tried_on_that_model() -> None:
    asks_nothing = COMPLEXITY | set(EVIDENCE)
    assert set(FLAT) | CLAIMS == set(METRICS) - asks_nothing
    assert testing.score("infidelity", flat(4), [0.0] * 4) == 0
    assert testing.score("infidelity", flat(4), [1.0] * 4) > 0

    def refuse(masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        raise AssertionError("the model was asked")

    for metric in asks_nothing:
        score(metric, testing.game(5, refuse), [1, 2, 3, 4, 5])


@pytest.mark.parametrize("metric", METRICS)
def test_curves_of_that_model_are_flat(metric: str) -> None:
    asker = plugin_call.metric(metric).value(known(flat(5)).example, np.arange(5.0), 0)
    subject = Subject(flat(5).example, "game", flat(5).target)
    notes = answer(Value(flat(5)), [(subject, asker)])[0].notes
    curves = {k: v for k, v in notes.items() if isinstance(v, list)}
    assert all(np.ptp(curve) == 0 for curve in curves.values())
    named = {"deletion_auc", "insertion_auc", "lerf", "morf", "accuracy_auc"}
    assert bool(curves) == (metric in named)
