"""What happens along an order, as an expectation over the ways to break its ties."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from attrial.masks import Bools, Floats, Ints
from attrial.metrics._ranks import Tops
from attrial.metrics._sets import nested

Condition = Callable[[Ints, Ints], Bools]  # rows (a,) before, rows (b,) after -> (a, b)


def steps(sets: Tops) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Each step to the next size: rows before (a,), rows after (b,), and shares (a, b).

    The shares of a row after are over the rows before that it may have come from, equally likely.
    """
    rows = [np.flatnonzero(sets.level == level) for level in range(int(sets.level.max()) + 1)]
    for before, after in pairwise(rows):
        inside = nested(sets.masks[before], sets.masks[after])
        yield before, after, inside / inside.sum(0)


def survival(sets: Tops, condition: Condition) -> Floats:
    """Probability, at each size from the second on, that every step so far met the condition."""
    alive = np.ones(1)
    chances: list[float] = []
    for before, after, shares in steps(sets):
        alive = (alive[:, None] * shares * condition(before, after)).sum(0)
        chances.append(float(alive.mean()))
    return np.array(chances)


def frequency(sets: Tops, condition: Condition) -> float:
    """Expected share of the steps that meet the condition."""
    met = [(shares * condition(a, b)).sum(0).mean() for a, b, shares in steps(sets)]
    return float(np.mean(met))
