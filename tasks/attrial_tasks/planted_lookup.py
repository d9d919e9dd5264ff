"""A query word selects one of several entries, whose value is the class; both are the evidence.

The text is a small table. An entry is one word that is a key and a value at once: ``trout`` is the
entry of the key ``fish`` with the value 0 (small), ``shark`` the one with the value 1 (large). The
query is the key's own name. Each text holds three to six entries of different keys and one query
for one of them.

Why this evidence is right by construction: key and value are one word, so that no third word
helps to find the value. The entries that were not asked for always hold both values, and the value
that was asked for is drawn independently of them, so that they never tell it by elimination; and
without the query, entries of both values remain.
"""

import numpy as np

from attrial.task import Item
from attrial_tasks._words import FILLER, compose, pick

TABLE = {  # key -> (words of value 0, words of value 1)
    "bird": (("finch", "wren"), ("condor", "ostrich")),
    "fish": (("minnow", "trout"), ("shark", "marlin")),
    "insect": (("gnat", "midge"), ("hornet", "mantis")),
    "mammal": (("mouse", "shrew"), ("elephant", "moose")),
    "plant": (("clover", "moss"), ("redwood", "sequoia")),
    "reptile": (("gecko", "skink"), ("crocodile", "python")),
    "ship": (("canoe", "dinghy"), ("ferry", "tanker")),
    "vehicle": (("bicycle", "scooter"), ("lorry", "tractor")),
}
ENTRIES = tuple(word for values in TABLE.values() for words in values for word in words)
VOCABULARY = (*TABLE, *ENTRIES, *FILLER)


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed."""
    return compose(_draw, count=count, seed=seed)


def _draw(rng: np.random.Generator, n: int, label: int) -> tuple[list[str], list[str]]:
    keys = [str(k) for k in rng.permutation(list(TABLE))[: rng.integers(3, min(6, n - 1) + 1)]]
    values = [0, 1, *rng.integers(2, size=len(keys) - 3)]  # of the entries not asked for
    others = [pick(rng, TABLE[k][v])[0] for k, v in zip(keys[1:], values, strict=True)]
    return [keys[0], *pick(rng, TABLE[keys[0]][label])], others
