"""What happens along an order, as an expectation over the ways to break its ties."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from attrial.masks import Bools, Floats, Ints, Masks
from attrial.metrics._orders import Level
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


def first_crossing(levels: Sequence[Level]) -> Masks:
    """The largest sets with a value below 0, or no set: (k, n) for levels by size 0..n."""
    for level in reversed(levels):
        if (level.values < 0).any():
            return level.masks[level.values < 0]
    return levels[0].masks[:0]


def longest_stay(levels: Sequence[Level]) -> Masks:
    """Nested sets from all players downwards (k, n), as long as the values are not below 0."""
    held, froms = [levels[-1].masks], list[Ints]()
    for level in reversed(levels[:-1]):
        inside = nested(level.masks, held[-1]) & (level.values >= 0)[:, None]
        stays = inside.any(1)
        if not stays.any():
            break
        held.append(level.masks[stays])
        froms.append(inside[stays].argmax(1))
    at, path = 0, list[Masks]()
    for masks, back in zip(reversed(held[1:]), reversed(froms), strict=True):
        path.append(masks[at])
        at = int(back[at])
    return np.stack([*path, held[0][at]])
