"""The class whose words are more frequent wins; the winner's words are the evidence.

An odd number of class words (3 to 11, at least one word of the text is filler) is split between
colours (class 0) and fruits (class 1). Words of the losing class speak against the answer, so they
are no evidence for it.
"""

import numpy as np

from attrial.task import Item
from attrial_tasks._words import FILLER, compose, pick

KINDS = (
    ("amber", "azure", "crimson", "green", "purple", "white"),
    ("apple", "banana", "cherry", "grape", "lemon", "peach"),
)
VOCABULARY = (*KINDS[0], *KINDS[1], *FILLER)
MOST = 11  # class words


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed."""
    return compose(_draw, count=count, seed=seed)


def _draw(rng: np.random.Generator, n: int, label: int) -> tuple[list[str], list[str]]:
    total = 1 + 2 * int(rng.integers(1, (min(n - 1, MOST) - 1) // 2 + 1))
    losing = int(rng.integers(0, total // 2 + 1))
    return pick(rng, KINDS[label], total - losing), pick(rng, KINDS[1 - label], losing)
