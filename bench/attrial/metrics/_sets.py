"""Sets of players: which lie within which, random ones, and the drops when they leave."""

import math

import numpy as np
import numpy.typing as npt

from attrial.ask import Asking, keep
from attrial.errors import Undefined
from attrial.masks import Floats, Masks, Values, all_subsets, everything
from attrial.metrics._ranks import choices


def nested(below: Masks, above: Masks) -> Masks:
    """(i, j) whether set i lies within set j: no player of i is outside j."""
    outside = np.zeros((len(below), len(above)), np.uint64)
    for inner, outer in zip(_words(below).T, _words(above).T, strict=True):
        outside |= inner[:, None] & ~outer[None]
    return np.asarray(outside == 0)


def _words(masks: Masks) -> npt.NDArray[np.uint64]:
    """Sets as bits of 64-bit words: (k, n) -> (k, ceil(n / 64))."""
    padded = np.pad(masks, ((0, 0), (0, -masks.shape[1] % 64)))
    return np.packbits(padded, axis=1).view(np.uint64)


def of_size(n: int, size: int, *, samples: int, seed: int) -> Masks:
    """Random sets (k, n) of one size; each of them once, where there are no more than samples."""
    if math.comb(n, size) <= samples:
        return choices(n, size, all_of_them=True)
    return drawn_of_size(n, size, samples=samples, seed=seed)


def drawn_of_size(n: int, size: int, *, samples: int, seed: int) -> Masks:
    """Random sets (samples, n) of one size, drawn independently."""
    places = np.tile(np.arange(n), (samples, 1))
    return np.asarray(np.random.default_rng(seed).permuted(places, axis=1) < size)


def of_any_size(n: int, *, samples: int, seed: int) -> Masks:
    """Uniformly random sets (k, n); each of them once, where there are no more than samples."""
    if 2**n <= samples:
        return all_subsets(n)
    return np.asarray(np.random.default_rng(seed).random((samples, n)) < 0.5)


def drops(gone: Masks) -> Asking[Values]:
    """v(all) - v(all but the set), for each set (k, n) of players that leave."""
    n = gone.shape[1]
    values = yield from keep(np.concatenate([everything(n), ~gone]))
    return np.asarray(values[0] - values[1:])


def worth(sets: Masks, scores: Floats) -> Floats:
    """Sum of the scores (n,) in each set: (k, n) -> (k,)."""
    return np.asarray(sets @ scores, np.float64)


def settled(sums: Floats) -> Floats:
    """To 12 places of the greatest, so that sums that are equal on paper tie in a ranking."""
    greatest = float(np.abs(sums).max(initial=0)) or 1.0
    return np.asarray(np.round(sums / greatest, 12))


def must_have_players(n: int, least: int = 1) -> None:
    """Refuse examples that are too short to say anything.

    Raises:
        Undefined: If there are fewer than ``least`` players.
    """
    if n < least:
        raise Undefined("no players" if n == 0 else f"fewer than {least} players")
