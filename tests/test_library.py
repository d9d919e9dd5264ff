"""Libraries that call their own function, asking like everyone else: the worker-thread adapter."""

import random
import threading
from collections.abc import Callable

import numpy as np
import pytest

from attrial import testing
from attrial.ask import Asking, keep
from attrial.errors import Undefined
from attrial.example import plain
from attrial.games import Game
from attrial.library import Ask, join
from attrial.masks import Masks, Scores, all_but_each, everything
from attrial.plugin_call import method
from attrial.target import Target
from attrial.value import Answer, Subject, Value, answer

SHAP = ("shap_permutation", "shap_partition", "shap_kernel")
CALLS = (*SHAP, "shap_kernel(l1_reg=0)", "shap_partition(samples=50)")


def table(n: int, seed: int = 0) -> Game:
    """A game whose 2^n values are drawn."""
    drawn = np.random.default_rng([n, seed]).normal(size=2**n)
    return testing.game(n, lambda masks: drawn[masks @ (1 << np.arange(n))])


def ran(asking: Asking[Scores], n: int = 4) -> Answer[Scores]:
    game = testing.game(n, lambda masks: masks @ np.arange(1.0, n + 1))
    subject = Subject(game.example, "game", Target(0, "logit"))
    return answer(Value(game), [(subject, asking)])[0]


def ours() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "attrial library"]


def leave_one_out(ask: Ask) -> Scores:
    """What a library would do: one call of its function a row."""
    (full,) = ask(keep(everything(4)))
    return np.array([full - ask(keep(row[None]))[0] for row in all_but_each(4)])


def test_calls_become_questions_and_the_result_comes_back() -> None:
    got = ran(join(leave_one_out, seed=0))
    np.testing.assert_array_equal(got.result, [1.0, 2.0, 3.0, 4.0])
    assert got.cost.rows == 5 and not ours()


def test_a_library_that_asks_nothing_ends() -> None:
    assert ran(join(lambda ask: np.zeros(4), seed=0)).cost.rows == 0
    assert not ours()


@pytest.mark.parametrize("error", [ValueError("theirs"), KeyboardInterrupt(), SystemExit(3)])
def test_the_librarys_error_is_the_generators(error: BaseException) -> None:
    def work(ask: Ask) -> Scores:
        ask(keep(everything(4)))
        raise error

    with pytest.raises(type(error)) as caught:
        ran(join(work, seed=0))
    assert caught.value is error and not ours()


def test_undefined_stays_undefined() -> None:
    def work(ask: Ask) -> Scores:
        ask(keep(everything(4)))
        raise Undefined("no more than that")

    assert ran(join(work, seed=0)).undefined == "no more than that"


def test_an_error_of_the_question_ends_the_thread() -> None:
    asking = join(leave_one_out, seed=0)
    next(asking)
    assert len(ours()) == 1
    with pytest.raises(ArithmeticError, match="the model broke"):
        asking.throw(ArithmeticError("the model broke"))
    assert not ours()


def swallowing(ask: Ask) -> Scores:
    """A library that goes on whatever happens."""
    try:
        ask(keep(everything(4)))
    except BaseException:
        ask(keep(everything(4)))
    return np.zeros(4)


@pytest.mark.parametrize("work", [leave_one_out, swallowing])
@pytest.mark.parametrize("asked", [0, 1])
def test_closing_early_ends_the_thread(work: Callable[[Ask], Scores], asked: int) -> None:
    asking = join(work, seed=0)
    for _ in range(asked):
        next(asking)
    asking.close()
    assert not ours()


def test_dropping_it_ends_the_thread() -> None:
    asking = method("shap_kernel")(plain(6), 0)
    next(asking)
    assert len(ours()) == 1
    del asking
    assert not ours()


def test_global_generators_are_everybodys_own() -> None:
    """The library's draws don't depend on what others draw, and others' not on the library."""

    def drawn(between: Callable[[], object]) -> list[float]:
        found: list[float] = []

        def work(ask: Ask) -> Scores:
            for _ in range(3):
                found.append(np.random.random() + random.random())  # noqa: NPY002
                ask(keep(everything(4)))
            return np.zeros(4)

        asking = join(work, seed=2**45 + 1)
        question = next(asking)
        while True:
            between()
            try:
                question = asking.send(np.ones(1))
            except StopIteration:
                return found
            assert question is not None

    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    expected = [np.random.random() for _ in range(3)]  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    here: list[float] = []
    first = drawn(lambda: here.append(np.random.random()))  # noqa: NPY002
    assert here == expected
    assert first == drawn(lambda: np.random.seed(1))  # noqa: NPY002
    assert len(set(first)) == 3


def test_two_libraries_side_by_side_draw_as_each_alone() -> None:
    game = table(9)
    subject = Subject(game.example, "game", game.target)
    calls = ("shap_permutation(samples=60)", "shap_kernel(samples=60)")
    alone = [testing.attribute(call, game, seed=3) for call in calls]
    together = answer(Value(game), [(subject, method(c)(game.example, 3)) for c in calls])
    for one, both in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, both.result)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("n", [1, 2, 5, 11])
def test_shap_is_efficient(call: str, n: int) -> None:
    game = table(n)
    scores = testing.attribute(call, game)
    (none, every) = np.asarray(game.value(np.array([[False] * n, [True] * n])))
    assert scores.sum() == pytest.approx(every - none, abs=1e-9)


@pytest.mark.parametrize("call", ["shap_permutation", "shap_kernel"])
def test_shap_is_exact_where_pairs_interact(call: str) -> None:
    rng = np.random.default_rng(0)
    own, pairs = rng.normal(size=7), np.triu(rng.normal(size=(7, 7)), 1)

    def value(masks: Masks) -> Scores:
        z = masks.astype(float)
        return np.asarray(z @ own + np.einsum("ki,ij,kj->k", z, pairs, z))

    scores = testing.attribute(call, testing.game(7, value))
    np.testing.assert_allclose(scores, own + (pairs + pairs.T).sum(1) / 2, atol=1e-9)


def test_shap_kernel_gives_ten_players_a_score_unless_told_otherwise() -> None:
    game = table(13)
    assert (testing.attribute("shap_kernel", game) != 0).sum() == 10
    assert (testing.attribute("shap_kernel(l1_reg=0)", game) != 0).all()


def test_too_few_rows_for_one_order_are_undefined() -> None:
    got = testing.attempt("shap_permutation(samples=20)", table(10))
    assert got.undefined == "20 rows are less than one order of 10 players takes"


def owen(game: Game, tree: object, outside: frozenset[int] = frozenset()) -> dict[int, float]:
    """Owen values of a nested tree of players by its definition: both orders at every fork."""

    def leaves(node: object) -> frozenset[int]:
        if isinstance(node, int):
            return frozenset({node})
        assert isinstance(node, tuple)
        return leaves(node[0]) | leaves(node[1])

    def v(kept: frozenset[int]) -> float:
        return float(np.asarray(game.value(np.isin(range(game.example.n), list(kept))[None]))[0])

    if isinstance(tree, int):
        return {tree: v(outside | {tree}) - v(outside)}
    assert isinstance(tree, tuple)
    found: dict[int, float] = {}
    for half, other in (tree, tree[::-1]):
        with_other = owen(game, half, outside | leaves(other))
        without = owen(game, half, outside)
        found |= {i: (with_other[i] + without[i]) / 2 for i in without}
    return found


def test_shap_partition_is_owens_value_of_halves() -> None:
    game = table(7)
    expected = owen(game, (((0, 1), (2, 3)), ((4, 5), 6)))
    scores = testing.attribute("shap_partition", game)
    np.testing.assert_allclose(scores, [expected[i] for i in range(7)], atol=1e-9)
    other = owen(game, (0, (1, (2, (3, (4, (5, 6)))))))
    assert np.abs(scores - [other[i] for i in range(7)]).max() > 0.01
