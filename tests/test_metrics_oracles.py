"""Known answers of metrics in one place, each through the registered metric; and new arguments."""

import itertools
from statistics import fmean

import numpy as np
import pytest

from attrial import plugin_call, testing
from attrial.errors import AttrialError, Undefined
from attrial.games import Game
from attrial.value import Subject, Value, answer
from tests import slow, slow_metrics

STEPS = slow.additive([4, 3, 2, 1])
EITHER = testing.game(3, lambda m: (m[:, 0] | m[:, 1]) + 0.3 * m[:, 2])
FLAT = testing.game(4, lambda m: np.full(len(m), 0.7))


def expected(metric: str, game: Game, truth: list[bool]) -> float:
    known = slow_metrics.with_truth(game, truth)
    asker = plugin_call.metric(metric).expected(known.example, 0)
    (got,) = answer(Value(known), [(Subject(known.example, "game", known.target), asker)])
    assert got.result is not None
    return got.result


@pytest.mark.parametrize(
    ("scores", "aopc", "naopc"),
    [([4, 3, 2, 1], 7.5, 1), ([1, 2, 3, 4], 5, 0), ([3, 4, 2, 1], 7.25, 0.9), ([0] * 4, 6.25, 0.5)],
)
def test_aopc_between_its_orders(scores: list[float], aopc: float, naopc: float) -> None:
    assert testing.score("aopc", STEPS, scores) == pytest.approx(aopc, abs=1e-12)
    assert testing.score("naopc", STEPS, scores) == pytest.approx(naopc, abs=1e-12)
    assert testing.score("naopc", STEPS, scores, normalised=True) == pytest.approx(naopc, abs=1e-12)


def test_the_best_order_is_not_the_greedy_one() -> None:
    for scores, place in (([3, 2, 1], 1), ([3, 1, 2], 0), ([2, 1, 3], 3 / 7)):
        assert testing.score("naopc", EITHER, scores) == pytest.approx(place, abs=1e-12)


def test_drops_that_are_all_negative_have_a_best_order_too() -> None:
    """The fault elsewhere: the greatest drop begins at 0, so that no order reaches it."""
    game = slow.additive([-1, -2, -3, -4])
    assert testing.score("naopc", game, [4, 3, 2, 1]) == 1
    assert testing.score("naopc", game, [1, 2, 3, 4]) == 0


def test_models_of_unlike_confidence_differ_in_aopc_and_not_in_naopc() -> None:
    for factor in (1.0, 0.1, 7.0):
        game = slow.additive((factor * np.array([4, 3, 2, 1])).tolist())
        assert testing.score("aopc", game, [3, 4, 2, 1]) == pytest.approx(7.25 * factor)
        assert testing.score("naopc", game, [3, 4, 2, 1]) == pytest.approx(0.9, abs=1e-9)


def test_an_indifferent_model_has_no_naopc_rather_than_0_or_1() -> None:
    assert testing.score("aopc", FLAT, [1, 2, 3, 4]) == 0
    with pytest.raises(Undefined, match="best and worst order coincide"):
        testing.score("naopc", FLAT, [1, 2, 3, 4])


def test_beyond_the_exact_sizes_naopc_finds_what_is_known() -> None:
    c = np.random.default_rng(0).normal(size=14)
    game = slow.additive(c.tolist())
    found = [testing.score("naopc", game, s) for s in (c, -c, np.zeros(14))]
    assert found == pytest.approx([1, 0, 0.5], abs=1e-9)


def test_random_rankings_of_two_in_six() -> None:
    two = [True, True, False, False, False, False]
    game = slow.additive([0.0] * 6)
    found = {m: expected(m, game, two) for m in ("average_precision", "roc_auc", "precision_at_k")}
    assert found["average_precision"] == pytest.approx(0.526667, abs=5e-7)
    assert found["roc_auc"] == 0.5
    assert found["precision_at_k"] == pytest.approx(1 / 3, abs=1e-12)


def test_constant_scores_with_one_of_five() -> None:
    one, game = [False, False, True, False, False], slow.additive([0.0] * 5)
    found = {
        m: testing.score(m, game, np.full(5, 3.0), truth=one)
        for m in ("average_precision", "roc_auc", "token_f1", "mrr")
    }
    assert found["average_precision"] == pytest.approx(0.2, abs=1e-12)  # a trapezoid: 0.6
    assert found["roc_auc"] == 0.5
    assert found["token_f1"] == pytest.approx(0.2, abs=1e-12)
    assert found["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5, abs=1e-12)


def test_the_code_of_eraser_is_six_fifths_of_its_paper() -> None:
    game, scores = slow.interacting(9, 3), np.random.default_rng(3).normal(size=9)
    code, paper = (testing.score(f"aopc_eraser_{w}", game, scores) for w in ("code", "paper"))
    assert code == pytest.approx(1.2 * paper, abs=1e-12) and abs(code) > 1e-3


@pytest.mark.parametrize("method", ["lrp_conservative", "lrp_attention", "input_x_gradient"])
def test_relevance_finds_the_one_token_that_counts(method: str) -> None:
    """A hand-set transformer that reads its second token alone."""
    toy = testing.toy("first_token")
    scores = testing.attribute(method, toy)
    truth = [False, True, False, False]
    assert testing.score("precision_at_k(k=1)", toy, scores, truth=truth) == 1
    assert testing.score("precision_at_k(k=1)", toy, np.zeros(4), truth=truth) == 1 / 4


MANY = slow.interacting(7, 5)
S7 = [0.3, 2.0, -1.0, 0.5, 1.5, 0.1, 0.9]


@pytest.mark.parametrize("sign", ["plus", "minus"])
@pytest.mark.parametrize(("share", "part"), [(0.5, 0.5), (0.5, 1.0), (0.3, 0.9)])
def test_random_parts_of_the_set_and_of_the_rest(sign: str, share: float, part: float) -> None:
    case = slow_metrics.Case(MANY, S7, [])
    order = sorted(range(7), key=lambda i: -S7[i])
    k = int(np.ceil(share * 7))
    members = order[:k] if sign == "plus" else order[k:]
    size = int(np.ceil(part * len(members) - 1e-9))
    parts = itertools.combinations(members, size)
    call = f"f_fidelity_{sign}(share={share}, part={part}, most=1.0)"
    got = testing.score(call, MANY, S7)
    assert got == pytest.approx(fmean(case.drop(frozenset(p)) for p in parts), abs=1e-12)
    for scores, place in zip(_best_and_worst(call), (1, 0), strict=True):
        assert testing.score(call, MANY, scores, normalised=True) == pytest.approx(place, abs=1e-9)


def _best_and_worst(call: str) -> tuple[list[float], list[float]]:
    sets = [[float(i in c) for i in range(7)] for k in range(1, 7) for c in _sets(k)]
    found = sorted(sets, key=lambda s: testing.score(call, MANY, _apart(s)))
    ends = _apart(found[-1]), _apart(found[0])
    return ends if plugin_call.metric(call).facts.higher_is_better else ends[::-1]


def _sets(k: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(7), k))


def _apart(scores: list[float]) -> list[float]:
    """Without ties, so that the set is exactly the top."""
    return [s + 0.001 * i for i, s in enumerate(scores)]


def test_the_input_stays_nearly_whole() -> None:
    """At most a tenth leaves at a time; with few parts all are tried, else some are drawn."""
    rows: list[int] = []

    def value(masks: np.typing.NDArray[np.bool_]) -> np.typing.NDArray[np.float64]:
        rows.extend((~masks).sum(1).tolist())
        return masks @ np.ones(40)

    game = testing.game(40, value)
    assert testing.score("f_fidelity_plus", game, np.arange(40)) == 4
    assert testing.score("f_fidelity_minus", game, np.arange(40)) == 4
    assert set(rows) == {0, 4} and len(rows) <= 2 * 51
    with pytest.raises(Undefined, match="more than 12 players"):
        testing.score("f_fidelity_plus", game, np.arange(40), normalised=True)


def test_what_makes_no_sense_is_refused() -> None:
    truth = [True, False, False, False]
    for call, why in (
        ("f_fidelity_plus(samples=0)", "samples must be at least 1"),
        ("f_fidelity_minus(part=0.0)", "shares in"),
        ("token_f1(share=2.0)", "shares in"),
        ("iou_f1(overlap=0.0)", "overlap must be in"),
    ):
        with pytest.raises(AttrialError, match=why):
            testing.score(call, STEPS, [4, 3, 2, 1], truth=truth)
    with pytest.raises(Undefined, match="every player is in the explained set"):
        testing.score("f_fidelity_minus(share=1.0)", STEPS, [4, 3, 2, 1])
    for metric in ("accuracy_auc", "decision_flip_top", "decision_flip_fraction"):
        with pytest.raises(Undefined, match="not the one decided for"):
            testing.score(metric, slow.additive([-4, -3, -2, -1]), [4, 3, 2, 1])


def test_runs_of_a_rationale() -> None:
    """Gold 1-2 and 5: the top four 1, 2, 3, 6 overlap 2/3 of the first run, and not the second."""
    truth = [False, True, True, False, False, True, False, False, False, False]
    scores = [0, 9, 8, 7, 0, 0, 6, 0, 0, 0]
    game = slow.additive([0.0] * 10)
    for overlap, right in ((0.5, 1), (0.66, 1), (0.67, 0)):
        got = testing.score(f"iou_f1(share=0.4, overlap={overlap})", game, scores, truth=truth)
        assert got == pytest.approx(2 * right / (2 + 2))
    assert testing.score("iou_f1(share=None)", game, truth, truth=truth) == 1
    assert testing.score("token_f1(share=None)", game, truth, truth=truth) == 1
    assert testing.score("token_f1(share=0.4)", game, scores, truth=truth) == pytest.approx(4 / 7)
