"""Every metric a second time: plain loops over orders and sets, no code shared with the first."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log, prod
from statistics import correlation, fmean

import numpy as np
from scipy import stats

from attrial import testing
from attrial.games import Game
from attrial.masks import Floats, Masks
from tests import slow

Ranked = Callable[[slow.Order, Sequence[bool]], float]


@dataclass(frozen=True)
class Case:
    """One attribution of one game, with known evidence."""

    game: Game
    scores: list[float]
    truth: list[bool]

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def value(self) -> slow.Value:
        return slow.value_of(self.game)

    @property
    def whole(self) -> float:
        return self.value(frozenset(range(self.n)))

    def drop(self, gone: frozenset[int]) -> float:
        return self.whole - self.value(frozenset(range(self.n)) - gone)

    def sets(self, *sizes: int) -> list[frozenset[int]]:
        players = range(self.n)
        return [frozenset(c) for k in sizes for c in itertools.combinations(players, k)]

    def said(self, players: frozenset[int]) -> float:
        return round(sum(self.scores[i] for i in sorted(players)), 9)


Slow = Callable[[Case], float]


def with_truth(game: Game, truth: Sequence[bool]) -> Game:
    """The same game, with known evidence."""
    return replace(game, example=replace(game.example, truth=np.array(truth)))


def deciding(n: int, seed: int) -> Game:
    """An interacting game whose value is a margin: positive for all players, negative for none."""
    inner = slow.interacting(n, seed)
    whole, empty = np.asarray(inner.value(np.array([[True] * n, [False] * n])))
    middle, sign = (whole + empty) / 2, np.sign(whole - empty)

    def value(masks: Masks) -> Floats:
        return np.asarray(sign * (np.asarray(inner.value(masks)) - middle))

    return testing.game(n, value)


def along(one: slow.OneOrder) -> Slow:
    """A metric of one order, averaged over every way to break the ties."""
    return lambda case: slow.over_ties(case.game, case.scores, one)


def ranked(one: Ranked) -> Slow:
    """The same, of an order and the evidence."""
    return lambda case: fmean(one(order, case.truth) for order in slow.orders(case.scores))


def lerf(value: slow.Value, order: slow.Order) -> float:
    return slow.trapezoids(slow.removed(value, order[::-1]))


def abc(value: slow.Value, order: slow.Order) -> float:
    return lerf(value, order) - slow.deletion_auc(value, order)


def samek(value: slow.Value, order: slow.Order) -> float:
    curve = slow.removed(value, order)
    return sum(curve[0] - v for v in curve) / len(curve)


def paper(value: slow.Value, order: slow.Order) -> float:
    return slow.comprehensiveness(value, order) * 5 / 6


def log_odds(value: slow.Value, order: slow.Order) -> float:
    k = -(-len(order) // 5)
    return value(frozenset(order[k:])) - value(frozenset(order))


def never_falls(value: slow.Value, order: slow.Order) -> float:
    curve = slow.added(value, order[::-1])
    return float(all(b >= a for a, b in itertools.pairwise(curve)))


def steps_up(value: slow.Value, order: slow.Order) -> float:
    curve = slow.added(value, order[::-1])
    return sum(b >= a for a, b in itertools.pairwise(curve)) / len(order)


def flip(value: slow.Value, order: slow.Order) -> float:
    return next(k for k, v in enumerate(slow.removed(value, order)) if v < 0) / len(order)


def flips_at_once(value: slow.Value, order: slow.Order) -> float:
    return float(value(frozenset(order[1:])) < 0)


def still_decided(value: slow.Value, order: slow.Order) -> float:
    return slow.trapezoids([float(v >= 0) for v in slow.removed(value, order)])


def naopc(case: Case) -> float:
    """Between the least and the greatest AOPC of all n! orders."""
    found = [slow.aopc(case.value, order) for order in slow.orders([0.0] * case.n)]
    own = along(slow.aopc)(case)
    return (own - min(found)) / (max(found) - min(found))


def precision(order: slow.Order, truth: Sequence[bool], k: int) -> float:
    return sum(truth[i] for i in order[:k]) / k


def at_evidence(order: slow.Order, truth: Sequence[bool]) -> float:
    return precision(order, truth, sum(truth))


def reciprocal_rank(order: slow.Order, truth: Sequence[bool]) -> float:
    return next(1 / rank for rank, i in enumerate(order, 1) if truth[i])


def above(case: Case) -> float:
    """Pair by pair."""
    pairs = itertools.product(zip(case.scores, case.truth, strict=True), repeat=2)
    return fmean((a > b) + 0.5 * (a == b) for (a, t), (b, u) in pairs if t and not u)


def average_precision(case: Case) -> float:
    """Tied players share one threshold: (recall - recall before) x precision, summed."""
    total, before = 0.0, 0.0
    for level in sorted(set(case.scores), reverse=True):
        taken = [t for s, t in zip(case.scores, case.truth, strict=True) if s >= level]
        recall = sum(taken) / sum(case.truth)
        total += (recall - before) * sum(taken) / len(taken)
        before = recall
    return total


def fifth(n: int) -> int:
    return -(-n // 5)


def token_f1(order: slow.Order, truth: Sequence[bool]) -> float:
    top, gold = set(order[: fifth(len(order))]), {i for i, t in enumerate(truth) if t}
    p, r = len(top & gold) / len(top), len(top & gold) / len(gold)
    return 2 * p * r / (p + r) if p + r else 0.0


def runs(players: set[int]) -> list[set[int]]:
    found: list[set[int]] = []
    for i in sorted(players):
        if found and i - 1 in found[-1]:
            found[-1].add(i)
        else:
            found.append({i})
    return found


def iou_f1(order: slow.Order, truth: Sequence[bool]) -> float:
    mine = runs(set(order[: fifth(len(order))]))
    gold = runs({i for i, t in enumerate(truth) if t})
    right = sum(max(len(a & b) / len(a | b) for b in gold) >= 0.5 for a in mine)
    p, r = right / len(mine), right / len(gold)
    return 2 * p * r / (p + r) if right else 0.0


def relevance_mass(case: Case) -> float:
    positive = [max(s, 0) for s in case.scores]
    return sum(s for s, t in zip(positive, case.truth, strict=True) if t) / sum(positive)


def spread(case: Case) -> list[float]:
    total = sum(abs(s) for s in case.scores)
    return [abs(s) / total for s in case.scores]


def gini(case: Case) -> float:
    p = spread(case)
    return sum(abs(a - b) for a in p for b in p) / (2 * case.n)


def entropy(case: Case) -> float:
    return -sum(p * log(p) for p in spread(case) if p)


def effective_size(case: Case) -> float:
    return 1 / sum(p * p for p in spread(case))


def agreement(case: Case, size: int) -> float:
    gone = case.sets(size)
    return correlation([case.said(s) for s in gone], [case.drop(s) for s in gone])


def infidelity(case: Case) -> float:
    return fmean((case.said(s) - case.drop(s)) ** 2 for s in case.sets(*range(case.n + 1)))


def datamodelling(case: Case) -> float:
    kept = case.sets(*range(case.n + 1))
    return float(
        stats.spearmanr([case.said(s) for s in kept], [case.value(s) for s in kept]).statistic
    )


def tau(case: Case) -> float:
    singles = case.sets(1)
    return float(
        stats.kendalltau([case.said(s) for s in singles], [case.drop(s) for s in singles]).statistic
    )


def sizes_agree(case: Case) -> float:
    singles = case.sets(1)
    said, done = [abs(case.said(s)) for s in singles], [abs(case.drop(s)) for s in singles]
    return float(stats.spearmanr(said, done).statistic)


def win_rate(case: Case) -> float:
    """Over all sets of the size, of which the metric draws some."""
    k = fifth(case.n)
    others = [case.drop(s) for s in case.sets(k)]

    def wins(order: slow.Order, truth: Sequence[bool]) -> float:
        own = case.drop(frozenset(order[:k]))
        return fmean((own > o) + 0.5 * (own == o) for o in others)

    return ranked(wins)(case)


def partial(case: Case, *, of_rest: bool) -> float:
    """One player leaves at a time: a tenth of so few is one."""

    def one(order: slow.Order, truth: Sequence[bool]) -> float:
        k = fifth(case.n)
        return fmean(case.drop(frozenset({i})) for i in (order[k:] if of_rest else order[:k]))

    return ranked(one)(case)


def stretched(case: Case) -> list[float]:
    low, high = min(case.scores), max(case.scores)
    return [(s - low) / (high - low) for s in case.scores]


def shifted(shares: list[float], mean: float) -> list[float]:
    """By halving the interval in which the shift must lie."""
    low, high = -1.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if fmean(min(max(a + middle, 0), 1) for a in shares) < mean:
            low = middle
        else:
            high = middle
    return [min(max(a + low, 0), 1) for a in shares]


def expectation(case: Case, kept: list[float], of: Callable[[float, float], float]) -> float:
    """Over all sets that may stay, each with its probability; ``of`` a drop and 1 - S0."""
    scale, total = case.whole - case.value(frozenset()), 0.0
    for stays in case.sets(*range(case.n + 1)):
        chance = prod(a if i in stays else 1 - a for i, a in enumerate(kept))
        total += chance * of(max(0.0, case.whole - case.value(stays)), scale)
    return total


def soft_nc(case: Case, shares: list[float]) -> float:
    return expectation(case, [1 - a for a in shares], lambda drop, scale: drop / scale)


def soft_ns(case: Case, shares: list[float]) -> float:
    return expectation(case, shares, lambda drop, scale: max(0.0, scale - drop) / scale)


def matched(case: Case, soft: Callable[[Case, list[float]], float]) -> float:
    means = (0.1, 0.3, 0.5, 0.7, 0.9)
    return fmean(soft(case, shifted(stretched(case), mean)) for mean in means)


SLOW: dict[str, Slow] = {
    "abc": along(abc),
    "accuracy_auc": along(still_decided),
    "aopc": along(slow.aopc),
    "aopc_eraser_code": along(slow.comprehensiveness),
    "aopc_eraser_paper": along(paper),
    "aopc_samek": along(samek),
    "average_precision": average_precision,
    "comprehensiveness": along(slow.comprehensiveness),
    "decision_flip_fraction": along(flip),
    "decision_flip_top": along(flips_at_once),
    "deletion_auc": along(slow.deletion_auc),
    "effective_size": effective_size,
    "entropy": entropy,
    "f_fidelity_minus": lambda case: partial(case, of_rest=True),
    "f_fidelity_plus": lambda case: partial(case, of_rest=False),
    "faithfulness_correlation": lambda case: agreement(case, fifth(case.n)),
    "gini": gini,
    "infidelity": infidelity,
    "insertion_auc": along(slow.insertion_auc),
    "iou_f1": ranked(iou_f1),
    "lerf": along(lerf),
    "linear_datamodelling": datamodelling,
    "log_odds": along(log_odds),
    "monotonicity": along(never_falls),
    "monotonicity_correlation": sizes_agree,
    "morf": along(slow.deletion_auc),
    "mrr": ranked(reciprocal_rank),
    "naopc": naopc,
    "pi_soft_comprehensiveness": lambda case: matched(case, soft_nc),
    "pi_soft_sufficiency": lambda case: matched(case, soft_ns),
    "pointing_game": ranked(lambda order, truth: precision(order, truth, 1)),
    "precision_at_k": ranked(at_evidence),
    "random_set_win_rate": win_rate,
    "relevance_mass": relevance_mass,
    "relevance_rank": ranked(at_evidence),
    "roc_auc": above,
    "sensitivity_n": lambda case: fmean(agreement(case, k) for k in range(1, case.n)),
    "soft_comprehensiveness": lambda case: soft_nc(case, stretched(case)),
    "soft_sufficiency": lambda case: soft_ns(case, stretched(case)),
    "sufficiency": along(slow.sufficiency),
    "tau_loo": tau,
    "token_f1": ranked(token_f1),
}
