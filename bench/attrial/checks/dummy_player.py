"""Dummy player: who provably changes nothing gets nothing."""

import numpy as np

from attrial.check_bench import Bench, Cell, Explained, NotApplicable, Outcome
from attrial.games import Playable, smooth, toy
from attrial.masks import Floats, Scores

RULE = "same"
NULL = 1e-6
DIRECTION = "lower"
UNIT = "share of the largest score"
VERSION = 1
CUBE = np.array([1.5, -1.0, 0.0, 2.0])  # weights; the player of weight 0 is the dummy


def dummy_player(bench: Bench, *, seed: int) -> Outcome:
    """Explain games in which one player changes the value of no set of the others.

    Hand-set transformers (an induction head, sharp and soft, whose third word is never used) and a
    cubic function. Signed scores must give the dummy 0; magnitudes must give nobody less. The value
    is its score as a share of the largest, for magnitudes above the least. The task's model plays
    no part here.

    Args:
        bench: The method, the model and the examples.
        seed: Of the method.
    """
    played = {3: [toy("induction"), toy("induction", beta=5.0)], 2: [_cubic()]}
    signed = bench.declares("SIGN", "signed") == "signed"
    cells = [
        _share(_explained(bench, game, seed), dummy, signed)
        for dummy, games in played.items()
        for game in games
        if _answered(bench, game)
    ]
    if not cells:
        raise NotApplicable("no game with a known dummy answers this method's questions")
    return Outcome([cells])


def _answered(bench: Bench, game: Playable) -> bool:
    return set(bench.method.asks) <= game.answers


def _explained(bench: Bench, game: Playable, seed: int) -> Explained:
    found = bench.explain(
        game,
        seed=seed,
        examples=[game.example],
        classes=[game.target.index],
        function=game.target.function,
    )
    return found[0]


def _share(explained: Explained, dummy: int, signed: bool) -> Cell:
    if isinstance(explained, str):
        return explained
    sizes: Scores = np.abs(explained) - (0.0 if signed else np.abs(explained).min())
    largest = float(sizes.max())
    if not largest:
        return "all scores are the same" if not signed else "all scores are 0"
    return float(sizes[dummy] / largest)


def _cubic() -> Playable:
    """(w . x)^3 of four players with interactions of all orders."""
    weights = CUBE[:, None]

    def value(x: Floats) -> Floats:
        return np.asarray((x * weights).sum((1, 2)) ** 3)

    def gradient(x: Floats) -> Floats:
        return np.asarray(3 * (x * weights).sum((1, 2))[:, None, None] ** 2 * weights)

    return smooth(value, gradient, np.ones((4, 1)), np.zeros((4, 1)))
