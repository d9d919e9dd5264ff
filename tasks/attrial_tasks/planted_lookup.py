"""A query word selects one of several entries, whose value is the class; both are the evidence.

The text is a small table. An entry is one word that is a key and a value at once: ``sushi`` is the
entry of the key ``food`` with the value Japan, ``paris`` that of ``capital`` with France. The query
is a key's own name. Each text holds two or three entries, all of different keys and different
values, and one query for one of them; the class is the value that it selects.

Why this evidence is right by construction: query and entry together settle the class. Without the
query, every entry is as likely to be asked for, and all their values differ. Without the entry, at
least two values are left, equally likely. Key and value are one word, so that no third word helps.
"""

import numpy as np

from attrial.task import Item
from attrial_tasks._words import FILLER, compose

TABLE = {  # key -> the entry of each value: France, Italy, Japan, Spain
    "capital": ("paris", "rome", "tokyo", "madrid"),
    "currency": ("franc", "lira", "yen", "peseta"),
    "drink": ("cognac", "grappa", "sake", "sherry"),
    "fighter": ("musketeer", "gladiator", "samurai", "matador"),
    "food": ("crepe", "pizza", "sushi", "paella"),
    "language": ("french", "italian", "japanese", "spanish"),
    "painter": ("monet", "titian", "hokusai", "goya"),
    "poet": ("hugo", "dante", "basho", "lorca"),
}
VALUES = 4
VOCABULARY = (*TABLE, *(entry for entries in TABLE.values() for entry in entries), *FILLER)


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed."""
    return compose(_draw, count=count, seed=seed, classes=VALUES)


def _draw(rng: np.random.Generator, n: int, label: int) -> tuple[list[str], list[str]]:
    entries = int(rng.integers(2, 4))
    keys = [str(key) for key in rng.permutation(list(TABLE))[:entries]]
    other = [int(value) for value in rng.permutation(VALUES) if value != label]
    words = [TABLE[key][value] for key, value in zip(keys, [label, *other], strict=False)]
    return [keys[0], words[0]], words[1:]
