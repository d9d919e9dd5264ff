"""Two people go somewhere and one gives something: to the other one. Evidence: giver and receiver.

``when anna and karl went to the market , anna gave a lamp to`` goes on with ``karl``, not ``anna``.
The receiver's only mention and the giver's second one are evidence: without either nothing tells.
"""

import numpy as np

from attrial.task import Item
from attrial_tasks._words import pick

NAMES = tuple("anna karl maria peter lena oskar ida viktor nora emil clara felix".split())
PLACES = tuple("market garden bridge school tower river kitchen village harbour station".split())
THINGS = tuple("lamp ticket letter basket key coin bottle picture jacket apple".split())
OPENING = ("when", "after", "while")
VOCABULARY = (
    *NAMES, *PLACES, *THINGS, *OPENING,
    "and", "went", "to", "the", ",", "gave", "a", "showed", "brought",
)  # fmt: skip
GAVE = ("gave", "showed", "brought")


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed; the receiver is named first in every second one."""
    return [_item(index, np.random.default_rng([seed, index])) for index in range(count)]


def _item(index: int, rng: np.random.Generator) -> Item:
    giver, receiver = (NAMES[i] for i in rng.choice(len(NAMES), 2, replace=False))
    first, second = (giver, receiver) if index % 2 else (receiver, giver)
    (opening,), (place,), (gave,), (thing,) = (
        pick(rng, words) for words in (OPENING, PLACES, GAVE, THINGS)
    )
    words = [
        *(opening, first, "and", second, "went", "to", "the", place, ","),
        *(giver, gave, "a", thing, "to"),
    ]
    starts = np.cumsum([0] + [len(word) + 1 for word in words])
    told = (words.index(receiver), 9)
    evidence = tuple((0, int(starts[i]), int(starts[i]) + len(words[i])) for i in told)
    return Item(
        str(index), (" ".join(words),), None, evidence, options=(f" {receiver}", f" {giver}")
    )
