"""What every attribution method must keep, as checks that plugin authors run too.

A check takes a method as it would be asked for (a name, a call or a path) and raises
``AssertionError`` where the contract is broken.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attrial import plugin_call
from attrial.example import Example
from attrial.games import Playable, Smooth, smooth, toy
from attrial.masks import Floats, Scores
from attrial.plays import attribute
from attrial.value import Subject, Value, answer

Check = Callable[[str], None]
WEIGHTS = (0.5, -1.0, 2.0, 0.0, 1.0)


def linear(weights: Floats) -> Smooth:
    """A sum of weights, as a differentiable game: attribution has one answer, the weights."""
    vectors = weights[:, None]

    def value(x: Floats) -> Floats:
        return np.asarray(x.sum((1, 2)))

    return smooth(value, np.ones_like, vectors, np.zeros_like(vectors))


def _game(method: str, weights: Floats) -> Playable:
    """A linear game if that answers the method's questions, a hand-set transformer otherwise."""
    enough = set(plugin_call.method(method).asks) <= linear(weights).answers
    return linear(weights) if enough else toy("majority")


def _declares(method: str, name: str) -> bool:
    return bool(plugin_call.method(method).bound.constant(name, False))


def one_finite_score_a_player(method: str) -> None:
    """Scores come back in the players' order, one each, all finite, as float64."""
    played = _game(method, np.array(WEIGHTS))
    scores = attribute(method, played, seed=0)
    assert scores.shape == (played.example.n,), f"shape {scores.shape}"
    assert scores.dtype == np.float64 and np.isfinite(scores).all()


def same_seed_same_scores(method: str) -> None:
    """A run can be repeated, bit for bit."""
    played = _game(method, np.array(WEIGHTS))
    first, again = (attribute(method, played, seed=3) for _ in range(2))
    assert first.tobytes() == again.tobytes()


def seeds_matter_only_where_declared(method: str) -> None:
    """A method that declares itself deterministic gives the same scores under any seed."""
    if _declares(method, "STOCHASTIC"):
        return
    played = _game(method, np.array(WEIGHTS))
    first, other = (attribute(method, played, seed=seed) for seed in (0, 1))
    assert first.tobytes() == other.tobytes()


def leaves_the_global_generator_alone(method: str) -> None:
    """NumPy's global state is the user's."""
    before = np.random.get_state()  # noqa: NPY002  # the very state that must not change
    attribute(method, _game(method, np.array(WEIGHTS)), seed=0)
    after = np.random.get_state()  # noqa: NPY002
    assert str(before) == str(after)


def does_not_look_at_the_answer(method: str) -> None:
    """Known evidence and gold labels are for metrics alone."""
    played = _game(method, np.array(WEIGHTS))
    x = played.example
    told = replace(x, truth=np.arange(x.n) == 0, label=1)
    assert _scores(method, played, x).tobytes() == _scores(method, played, told).tobytes()


def _scores(method: str, played: Playable, x: Example) -> Scores:
    asker = plugin_call.method(method)(x, 0)
    (got,) = answer(Value(played), [(Subject(x, "game", played.target), asker)])
    assert got.result is not None, got.undefined
    return got.result


def one_player_is_no_special_case(method: str) -> None:
    """An input of one player gets one finite score."""
    if _game(method, np.array(WEIGHTS)).example.n != len(WEIGHTS):
        return  # hand-set transformers have their own length
    assert attribute(method, linear(np.array([2.0])), seed=0).shape == (1,)


def additive_methods_find_the_weights(method: str) -> None:
    """On a sum, a method that declares itself additive gives each player its weight."""
    played = _game(method, np.array(WEIGHTS))
    if _declares(method, "ADDITIVE") and isinstance(played, Smooth):
        np.testing.assert_allclose(attribute(method, played, seed=0), WEIGHTS, atol=1e-6)


def declared_signs_hold(method: str) -> None:
    """Only a method that declares signed scores gives negative ones."""
    declared = plugin_call.method(method).bound.constant("SIGN", "signed")
    assert declared in ("signed", "magnitude", "nonnegative"), declared
    scores = attribute(method, _game(method, np.array(WEIGHTS)), seed=0)
    assert declared == "signed" or (scores >= 0).all()


CHECKS: tuple[Check, ...] = (
    one_finite_score_a_player,
    same_seed_same_scores,
    seeds_matter_only_where_declared,
    leaves_the_global_generator_alone,
    does_not_look_at_the_answer,
    one_player_is_no_special_case,
    additive_methods_find_the_weights,
    declared_signs_hold,
)
