"""Two cue words decide together: class 1 if their kinds differ; both are the evidence.

Each text holds exactly two cue words, each naming a tree or a tool. Class 0: of one kind; class 1:
of different kinds. Each word alone, and each kind alone, says nothing about the class.
"""

import numpy as np

from attrial.task import Item
from attrial_tasks._words import FILLER, compose, pick

KINDS = (("birch", "cedar", "maple", "willow"), ("chisel", "drill", "pliers", "wrench"))
VOCABULARY = (*KINDS[0], *KINDS[1], *FILLER)


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed."""
    return compose(_draw, count=count, seed=seed)


def _draw(rng: np.random.Generator, n: int, label: int) -> tuple[list[str], list[str]]:
    first = int(rng.integers(2))
    return pick(rng, KINDS[first]) + pick(rng, KINDS[first ^ label]), []
