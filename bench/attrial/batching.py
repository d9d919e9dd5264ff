"""A pure plan that cuts rows of many lengths into batches of fixed shapes: company never matters.

Kernels choose their order of summation by shape. A batch's shape depends here on the length of its
rows and on the token budget alone: a row computed by itself, in a crowd or last in line goes
through the same sums. A batch that is not full is filled up with copies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attrial.masks import Ints

STEP = 8  # the finest grid of widths


@dataclass(frozen=True, eq=False)
class Batch:
    """One forward of a fixed shape.

    Attributes:
        width: Positions of every row, at least one more than its length.
        rows: (R,) which rows of the plan's lengths it holds; the first ``fresh`` are new, the rest
            are copies that fill it up.
        fresh: How many of its rows have an answer of their own.
    """

    width: int
    rows: Ints
    fresh: int


def width(length: int) -> int:
    """Positions given to a row: the next step of a grid of eighths, never the length itself.

    A last position that nobody sees is always left: models drop a mask that hides nothing and then
    take another kernel, so that one padded neighbour would decide everybody's last bits.

    >>> [width(length) for length in (1, 7, 8, 30, 63, 64, 130, 511, 512)]
    [8, 8, 16, 32, 64, 72, 144, 512, 576]
    """
    step = max(STEP, 1 << max(0, length.bit_length() - 4))
    return (length // step + 1) * step


def longest(limit: int) -> int:
    """The greatest length whose width is within a limit.

    >>> longest(512), longest(100)
    (511, 95)
    """
    return next(n for n in range(limit - 1, -1, -1) if width(n) <= limit)


def height(width: int, tokens: int) -> int:
    """Rows of a batch: the greatest power of two within the token budget, at least one.

    Powers of two, because at odd heights the last rows of a matrix product split between threads
    take another path: at 7 rows, a row's value depended on its place in the batch.

    >>> height(16, 512), height(24, 512), height(1024, 512)
    (32, 16, 1)
    """
    return 1 << max(0, (tokens // width).bit_length() - 1)


def plan(lengths: Sequence[int] | Ints, *, tokens: int) -> list[Batch]:
    """Batches that hold every row once, short rows first, each of ``height(width, tokens)`` rows.

    >>> [(b.width, b.rows.tolist(), b.fresh) for b in plan([3, 9, 4, 5], tokens=16)]
    [(8, [0, 2], 2), (8, [3, 3], 1), (16, [1], 1)]
    """
    unique, inverse = np.unique(np.asarray(lengths, np.int64), return_inverse=True)
    widths = np.array([width(int(n)) for n in unique], np.int64)[inverse]
    return [
        batch
        for w in np.unique(widths).tolist()
        for batch in _filled(np.flatnonzero(widths == w), w, height(w, tokens))
    ]


def evenly(lengths: Sequence[int] | Ints, *, tokens: int) -> list[Batch]:
    """Batches of rows of one length each, unpadded: for models to which nothing can be hidden.

    >>> [(b.width, b.rows.tolist(), b.fresh) for b in evenly([3, 5, 3, 3], tokens=6)]
    [(3, [0, 2], 2), (3, [3, 3], 1), (5, [1], 1)]
    """
    known = np.asarray(lengths, np.int64)
    return [
        batch
        for w in np.unique(known).tolist()
        for batch in _filled(np.flatnonzero(known == w), w, height(w, tokens))
    ]


def _filled(rows: Ints, width: int, height: int) -> Iterator[Batch]:
    for start in range(0, len(rows), height):
        part = rows[start : start + height]
        copies = np.full(height - len(part), part[-1])
        yield Batch(width, np.concatenate([part, copies]), len(part))


def portions(sizes: Sequence[int], most: int) -> Iterator[list[tuple[int, slice]]]:
    """Portions of at most ``most`` rows of several asks, in order: what is held in memory at once.

    >>> [[(i, s.start, s.stop) for i, s in p] for p in portions([2, 5], 4)]
    [[(0, 0, 2), (1, 0, 2)], [(1, 2, 5)]]
    """
    portion: list[tuple[int, slice]] = []
    room = most
    for i, size in enumerate(sizes):
        start = 0
        while start < size:
            stop = min(size, start + room)
            portion.append((i, slice(start, stop)))
            room -= stop - start
            start = stop
            if not room:
                yield portion
                portion, room = [], most
    if portion:
        yield portion
