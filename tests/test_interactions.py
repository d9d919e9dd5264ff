"""What pairs of players add together: closed forms, a slow second derivation, how it is shown."""

from itertools import combinations, permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from attrial import plugin_call, report, testing
from attrial.classifiers import classifier_of
from attrial.explanation import Explanation
from attrial.games import Game
from attrial.interactions import noted, read, top_pair
from attrial.masks import Floats, Masks, Scores
from attrial.target import Target
from attrial.task import items, load_task
from attrial.value import Answer, Subject, Value, answer

EXACT = 1e-9
DRAWN = "shapley_interactions(exact_up_to=0, samples={rows})"


def matrix(got: Answer[Scores]) -> Floats:
    assert got.result is not None
    found = read(got.notes, len(got.result))
    assert found is not None
    return found


def table(n: int, seed: int = 0) -> Game:
    drawn = np.random.default_rng([n, seed]).normal(size=2**n)
    return testing.game(n, lambda masks: drawn[masks @ (1 << np.arange(n))])


def pairwise(n: int, seed: int = 0) -> tuple[Game, Floats, Floats]:
    """A game of single worths and worths of pairs: (game, (n,), (n, n) symmetric)."""
    rng = np.random.default_rng(seed)
    own, pairs = rng.normal(size=n), np.triu(rng.normal(size=(n, n)), 1)

    def value(masks: Masks) -> Floats:
        z = masks.astype(float)
        return np.asarray(z @ own + np.einsum("ki,ij,kj->k", z, pairs, z))

    return testing.game(n, value), own, pairs + pairs.T


def by_definition(game: Game) -> Floats:
    """The index of pairs over all orders of the players, the pair joining as one; no weights."""
    n = game.example.n

    def v(kept: frozenset[int]) -> float:
        return float(np.asarray(game.value(np.isin(range(n), list(kept))[None]))[0])

    found = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        others = [k for k in range(n) if k not in (i, j)]
        for order in permutations([*others, -1]):  # -1 is the pair
            before = frozenset(order[: order.index(-1)])
            rise = v(before | {i, j}) - v(before | {i}) - v(before | {j}) + v(before)
            found[i, j] += rise / factorial(n - 1)
    return found + found.T


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_it_is_the_mean_over_orders_in_which_a_pair_joins_as_one(n: int) -> None:
    game = table(n)
    got = testing.attempt("shapley_interactions", game)
    found = matrix(got)
    np.testing.assert_allclose(
        found - np.diag(np.diag(found)), by_definition(game), rtol=0, atol=EXACT
    )
    assert got.notes["pairs_asked"] == 1.0


@pytest.mark.parametrize("call", ["shapley_interactions", DRAWN.format(rows=120)])
def test_pairs_that_are_worth_something_together(call: str) -> None:
    """Where only pairs interact, every set tells the same: drawn sets are exact."""
    game, own, pairs = pairwise(7)
    got = testing.attempt(call, game)
    found = matrix(got)
    np.testing.assert_allclose(np.diag(found), own, atol=EXACT)
    np.testing.assert_allclose(found - np.diag(own), pairs, atol=EXACT)


@pytest.mark.parametrize("call", ["shapley_interactions", DRAWN.format(rows=40)])
@given(seed=st.integers(0, 50), n=st.integers(1, 6))
def test_matrix_and_scores_agree_and_are_efficient(call: str, seed: int, n: int) -> None:
    game = table(n, seed)
    got = testing.attempt(call, game)
    found, scores = matrix(got), np.asarray(got.result)
    assert np.array_equal(found, found.T)
    main = np.diag(found)
    np.testing.assert_allclose(scores, main + (found.sum(1) - main) / 2, atol=EXACT)
    none, every = np.asarray(game.value(np.array([[False] * n, [True] * n])))
    assert scores.sum() == pytest.approx(every - none, abs=EXACT)


def test_scores_are_shapley_values() -> None:
    for n in (2, 6, 9):
        ours, theirs = (testing.attribute(m, table(n)) for m in ("shapley_interactions", "shapley"))
        np.testing.assert_allclose(ours, theirs, atol=EXACT)


def test_drawn_sets_come_near_the_exact_index() -> None:
    """Values of variance 1: each set tells a pair's rise with variance 4 about the index."""
    game = table(8)
    exact = matrix(testing.attempt("shapley_interactions", game))
    apart = np.triu_indices(8, 1)
    for rows in (2000, 32000):
        drawn = matrix(testing.attempt(DRAWN.format(rows=rows), slow_to_buy(game)))
        error = np.sqrt(((drawn[:8, :8] - exact)[apart] ** 2).mean())
        sets = rows / (1 + 16 + 120)
        assert error == pytest.approx(2 / np.sqrt(sets), rel=0.3)


def slow_to_buy(game: Game) -> Game:
    """The same game with eight players more that do nothing, so that no budget buys all sets."""
    return testing.game(16, lambda masks: game.value(masks[:, :8]))


def test_rows_are_kept_to_and_unreached_pairs_are_told() -> None:
    game = table(16)
    got = testing.attempt(DRAWN.format(rows=80), game)
    assert got.cost.rows == 80
    found = matrix(got)
    reached = int((np.triu(found, 1) != 0).sum())
    assert reached == 80 - 2 - 17  # one set, its 16 neighbours, and pairs for what is left
    assert got.notes["pairs_asked"] == reached / 120


def test_the_planted_pair_is_on_top() -> None:
    """A model that computes exclusive or: its two cue words are the strongest pair."""
    task = load_task("planted_xor")
    assert task.model is not None
    c = classifier_of(task.model)
    xs = [
        c.encode(i.id, i.texts, players=task.players, evidence=i.evidence, label=i.label)
        for i in items(task, limit=20)
    ]
    classes = c.predict(xs)
    method = plugin_call.method("shapley_interactions(samples=1000, exact_up_to=8)")
    asked = [
        (Subject(x, "mask", Target(k)), method(x, 0)) for x, k in zip(xs, classes, strict=True)
    ]
    hits = [
        {*top_pair(matrix(got))} == {*np.flatnonzero(x.truth).tolist()}
        for x, got in zip(xs, answer(Value(c), asked), strict=True)
        if x.truth is not None
    ]
    assert len(hits) == 20 and np.mean(hits) >= 0.9


def test_a_note_is_read_back() -> None:
    found = np.array([[1.0, -2.0], [-2.0, 0.5]])
    back = read(noted(found), 2)
    assert back is not None and np.array_equal(back, found)
    assert read({"steps": 3.0}, 2) is None


def explanation(players: tuple[str, ...], found: Floats) -> Explanation:
    return Explanation(
        players, found.sum(1), "good", 0.9, "shapley_interactions", "mask", "log_odds", noted(found)
    )


def test_a_pipe_shows_numbers_under_names() -> None:
    found = explanation(("not", "bad"), np.array([[-1.0, 2.5], [2.5, -0.5]]))
    lines = found.text().splitlines()
    assert lines[-3].split() == ["not", "bad"]
    assert lines[-2].split() == ["not", "-1.000", "+2.500"]
    assert lines[-1].split() == ["bad", "+2.500", "-0.500"]
    assert lines[-3].index("not") + 3 == lines[-2].index("-1.000") + 6


def test_a_page_shows_a_table_with_everything_escaped() -> None:
    page = explanation(("<b>", "bad"), np.array([[-1.0, 2.5], [2.5, -0.5]])).html()
    assert "<b>" not in page and page.count("<td") == 4 and page.count("&lt;b&gt;") == 3
    assert page.count("rgba(213,94,0,0.750)") == 2 + 1 + 1  # the pair, the highest word, the legend


def test_a_terminal_shows_the_strongest_of_many() -> None:
    n = 30
    strong = np.zeros((n, n))
    strong[3, 20] = strong[20, 3] = 9.0
    strong[0, 0] = 50.0  # a main effect is no interaction
    strong[np.ix_([5, 7, 9], [11, 12])] = 1.0
    strong = np.maximum(strong, strong.T)
    names = tuple(f"w{i}" for i in range(n))
    console = Console(width=200, record=True)
    console.print(report.terminal_matrix(names, strong))
    shown = console.export_text()
    assert "w3 " in shown and "w20" in shown and "+9.000" in shown
    assert "18 players of weaker interactions are left out" in shown
    assert "w29" not in shown


def test_other_methods_show_no_matrix() -> None:
    plain = Explanation(("a",), np.ones(1), "good", 0.9, "shapley", "mask", "log_odds", {})
    assert plain.interactions is None and "<table" not in plain.html()
    assert len(plain.text().splitlines()) == 2
