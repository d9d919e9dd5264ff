"""One keyword among filler decides the class; it is the evidence.

Each text holds exactly one of eight keywords: four name birds (class 0), four name metals
(class 1). Everything else is filler, drawn alike for both classes.
"""

import numpy as np

from attrial.task import Item
from attrial_tasks._words import FILLER, compose, pick

KEYWORDS = (("heron", "robin", "sparrow", "swallow"), ("copper", "iron", "silver", "zinc"))
VOCABULARY = (*KEYWORDS[0], *KEYWORDS[1], *FILLER)


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed."""
    return compose(_draw, count=count, seed=seed)


def _draw(rng: np.random.Generator, n: int, label: int) -> tuple[list[str], list[str]]:
    return pick(rng, KEYWORDS[label]), []
