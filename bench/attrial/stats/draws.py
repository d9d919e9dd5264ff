"""Random rows of examples and of signs: seeded, in blocks that bound memory, small ones kept."""

from functools import lru_cache

import numpy as np

from attrial.masks import Floats, Ints

BLOCK = 2**21  # numbers drawn at a time, whatever n is


def examples(n: int, resamples: int, seed: int) -> list[Ints]:
    """Rows of drawn example numbers, (resamples, n) cut into blocks."""
    if n * resamples <= BLOCK:
        return [_remembered_examples(n, resamples, seed)]
    rng = np.random.default_rng(seed)
    return [rng.integers(n, size=(size, n)) for size in blocks(n, resamples)]


def signs(n: int, resamples: int, seed: int) -> list[Floats]:
    """Rows of +1 and -1, (resamples, n) cut into blocks."""
    if n * resamples <= BLOCK:
        return [_remembered_signs(n, resamples, seed)]
    rng = np.random.default_rng(seed)
    return [_signs(rng, size, n) for size in blocks(n, resamples)]


def blocks(width: int, rows: int) -> list[int]:
    """How many rows of so many numbers at a time: sizes that sum to ``rows``."""
    size = max(1, BLOCK // max(1, width))
    return [min(size, rows - start) for start in range(0, rows, size)]


@lru_cache(maxsize=4)
def _remembered_examples(n: int, resamples: int, seed: int) -> Ints:
    return np.random.default_rng(seed).integers(n, size=(resamples, n))


@lru_cache(maxsize=8)
def _remembered_signs(n: int, resamples: int, seed: int) -> Floats:
    return _signs(np.random.default_rng(seed), resamples, n)


def _signs(rng: np.random.Generator, rows: int, n: int) -> Floats:
    return np.asarray(1.0 - 2.0 * rng.integers(2, size=(rows, n)), np.float64)
