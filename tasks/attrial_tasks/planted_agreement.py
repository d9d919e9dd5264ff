"""A verb agrees with its subject over nouns that try to attract it; the subject is the evidence.

Each prompt opens with the subject; phrases with other nouns follow, and the verb comes next: ``the
key near the cabinets in the garden`` goes on with ``is``, not ``are``. The numbers of all nouns are
drawn by themselves, so that only the subject tells.
"""

import numpy as np

from attrial.task import Item
from attrial_tasks._words import pick

NOUNS = tuple(
    """
    key cabinet picture teacher farmer garden letter window lamp doctor pilot singer writer boat
    table bridge ticket kitchen market river tower guard driver lawyer painter chair bottle basket
    jacket village
    """.split()
)
NEAR = ("near", "behind", "above", "below", "beside", "under", "with", "without")
OPENING = ("today", "now", "still", "maybe", "indeed", "often")
LIKE = ("old", "small", "green", "quiet", "tall", "dark", "wide", "plain")
VERBS = ("is", "are")
VOCABULARY = (*NOUNS, *(f"{noun}s" for noun in NOUNS), *NEAR, *OPENING, *LIKE, *VERBS, "the")


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed; singular and plural subjects in turn."""
    return [_item(index, np.random.default_rng([seed, index])) for index in range(count)]


def _item(index: int, rng: np.random.Generator) -> Item:
    number = index % 2
    opening = pick(rng, OPENING, int(rng.integers(2)))
    subject = _noun(rng, number)
    words = [*opening, "the", *pick(rng, LIKE, int(rng.integers(2))), subject]
    start = len(" ".join(words)) - len(subject)
    for _ in range(rng.integers(1, 4)):
        attractor = _noun(rng, int(rng.integers(2)))
        words += [*pick(rng, NEAR), "the", *pick(rng, LIKE, int(rng.integers(2))), attractor]
    evidence = ((0, start, start + len(subject)),)
    options = (f" {VERBS[number]}", f" {VERBS[1 - number]}")
    return Item(str(index), (" ".join(words),), None, evidence, options=options)


def _noun(rng: np.random.Generator, number: int) -> str:
    return pick(rng, NOUNS)[0] + "s" * number
