"""The searched orders on trained models: as good as the exact ones, and hardly ever beaten."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from attrial import plugin_call
from attrial.ask import Asking
from attrial.curves import COINCIDE
from attrial.example import Example
from attrial.masks import Floats
from attrial.metrics._bins import BINS, weights
from attrial.metrics._orders import Level, chain, explored
from attrial.models.text import TextClassifier
from attrial.target import Target
from attrial.task import items, load_task
from attrial.value import R, Subject, Value, answer
from tests import slow

TASKS = ("planted_keyword", "planted_majority", "planted_xor", "planted_lookup")
METHODS = ("occlusion", "shapley", "integrated_gradients")


class Player:
    """One example of a task, ready to answer."""

    def __init__(self, model: TextClassifier, x: Example) -> None:
        self.x, self.value = x, Value(model)
        (self.index,) = model.predict([x])

    def __call__(self, asker: Asking[R], function: str = "probability") -> R:
        subject = Subject(self.x, "mask", Target(self.index, function))
        (got,) = answer(self.value, [(subject, asker)])
        assert got.result is not None
        return got.result


def players(task_name: str, *, shortest: int, longest: int) -> Iterator[Player]:
    task = load_task(task_name)
    assert task.model is not None
    model = TextClassifier.load(task.model)
    for item in items(task):
        x = model.encode(item.id, item.texts, players=task.players)
        if shortest <= x.n <= longest:
            yield Player(model, x)


def total(levels: Sequence[Level], counts: Floats, sign: float) -> float:
    """The weighted mean value along the chain that was found."""
    sets = chain(levels, counts, sign)
    shares = counts[sets.sum(1)] / counts.sum()
    at = [np.flatnonzero((levels[s.sum()].masks == s).all(1))[0] for s in sets]
    values = [levels[s.sum()].values[i] for s, i in zip(sets, at, strict=True)]
    return float(shares @ np.array(values))


@pytest.mark.parametrize("task", TASKS)
def test_the_beam_finds_19_of_20_exact_orders(task: str) -> None:
    """To what outputs in float32 are exact to."""
    found: list[bool] = []
    for play in players(task, shortest=6, longest=12):
        n = play.x.n
        exact, searched = play(explored(n)), play(explored(n, exact=0))
        for counts in (np.ones(n + 1), weights(BINS, n), weights(BINS, n)[::-1]):
            gaps = [total(exact, counts, s) - total(searched, counts, s) for s in (1, -1)]
            found += [abs(gap) <= COINCIDE for gap in gaps]
    assert len(found) >= 6 * 12
    assert np.mean(found) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_methods_beat_the_beam_on_at_most_one_long_example_in_twenty(task: str) -> None:
    beaten: list[bool] = []
    for play in players(task, shortest=13, longest=24):
        given = [play(plugin_call.method(m)(play.x, 0), "log_odds") for m in METHODS]
        for name in slow.PERTURBATION:
            metric = plugin_call.metric(name)
            sign = -1 if name in slow.LOWER_IS_BETTER else 1
            best, _ = play(metric.extremes(play.x, 0))
            bound, *values = (sign * play(metric.value(play.x, s, 0)) for s in (best, *given))
            beaten.append(max(values) > bound + COINCIDE)
    assert len(beaten) >= 5 * 8
    assert np.mean(beaten) <= 0.05
