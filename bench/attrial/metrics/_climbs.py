"""The best and the worst order of a long input, within a stated number of rows.

Above ``LONG`` players beams would ask for rows by the square of the length. Here four climbs take
their place: up from no player and down from all, to small values and to great ones. A climb asks
what each single player changes, moves several at once by that, and asks again: often at first,
where curves move most, and ever more rarely. It then knows an order, and asks for the values along
it at the sizes that a metric reads. Sets of all climbs may be combined, as those of beams are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attrial.ask import Asking, keep
from attrial.masks import Bools, Ints, Masks, Values

LONG = 40  # players up to which beams search
ROWS = 4000  # of a search, half of them in steps; but each player takes at least six


@dataclass(frozen=True)
class Climb:
    """One way to an order: ``moved`` are the players that came (or left, unless ``up``) so far."""

    up: bool
    sign: float
    moved: tuple[int, ...] = ()

    def sets(self, n: int, counts: Ints) -> Masks:
        """The sets (k, n) that it stood on after so many players had moved."""
        place = np.full(n, n)
        place[list(self.moved)] = np.arange(len(self.moved))
        return np.asarray((place < counts[:, None]) == self.up)

    def next(self, n: int) -> tuple[Ints, Masks]:
        """Players that may move (k,), and the sets (k, n) once one of them has."""
        here = self.sets(n, np.array([len(self.moved)]))
        players = np.flatnonzero(here[0] != self.up)
        masks = np.repeat(here, len(players), axis=0)
        masks[np.arange(len(players)), players] = self.up
        return players, masks

    def on(self, players: Ints, values: Values, count: int) -> "Climb":
        """The climb with the players moved whose sets have the best values."""
        best = players[np.argsort(self.sign * values, kind="stable")[: count - len(self.moved)]]
        return Climb(self.up, self.sign, (*self.moved, *best.tolist()))


def climbed(n: int, sizes: Bools) -> Asking[tuple[Masks, Values]]:
    """Sets (k, n) with their values (k,): those met, and whole orders at these sizes (n + 1,)."""
    climbs = [Climb(up, sign) for up in (False, True) for sign in (1.0, -1.0)]
    masks: list[Masks] = []
    values: list[Values] = []
    for count in stops(n):
        asked = [climb.next(n) for climb in climbs]
        masks += [sets for _, sets in asked]
        told = yield from _told([sets for _, sets in asked])
        values += told
        climbs = [
            climb.on(players, own, count)
            for climb, (players, _), own in zip(climbs, asked, told, strict=True)
        ]
    orders = [c.sets(n, np.flatnonzero(sizes if c.up else sizes[::-1])) for c in climbs]
    found = yield from _told(orders)
    every, first = np.unique(np.concatenate([*masks, *orders]), axis=0, return_index=True)
    return every, np.concatenate([*values, *found])[first]


def stops(n: int) -> Sequence[int]:
    """How many players have moved after each step: 1, 2, 3, then in growing leaps up to all n."""
    steps = max(1, ROWS // (4 * n) - 1)
    before = np.unique(np.geomspace(1, n, steps + 1)[:-1].astype(int))[: steps - 1]
    return [*before.tolist(), n]


def _told(parts: Sequence[Masks]) -> Asking[list[Values]]:
    """The values of several parts' rows, each distinct set asked about once."""
    rows, back = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
    values = yield from keep(rows)
    return np.split(values[back.reshape(-1)], np.cumsum([len(part) for part in parts])[:-1])
