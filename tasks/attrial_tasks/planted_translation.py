"""Words are translated one by one, last word first; the aligned source word is the evidence.

A made-up language in which each word has one translation and sentences run backwards. An item asks
for one word of the translation, given those before it.
"""

import numpy as np

from attrial.task import Item

PAIRS: tuple[tuple[str, str], ...] = tuple(
    (pair.partition("-")[0], pair.partition("-")[2])
    for pair in """
    bird-kula boat-merin bread-tosa bridge-faldo candle-nuri chair-bepo city-zorat cloud-mipa
    coin-karel door-ovin field-sutra fire-galem fish-podi flower-renna forest-duvak garden-lisso
    gate-tibor glass-yemi hand-quato hill-orlu honey-velda horse-pakin house-jorun island-sefi
    lamp-wodak letter-minos moon-hatri mountain-bulek night-zelio ocean-fumar paper-cadri
    river-nolta road-given salt-ruspe ship-tandu silver-ombra snow-kivel star-pelso stone-haruk
    street-uldim sugar-vako summer-ysper table-dorin tower-lumet tree-saphu village-erigo
    water-tholn window-ankri
    """.split()
)
SOURCE, TARGET = tuple(a for a, _ in PAIRS), tuple(b for _, b in PAIRS)
VOCABULARY = (*SOURCE, *TARGET)
LENGTHS = (4, 9)  # words, inclusive


def pair(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Different words and their translation."""
    count = int(rng.integers(LENGTHS[0], LENGTHS[1] + 1))
    drawn = rng.choice(len(PAIRS), count, replace=False)
    return [SOURCE[i] for i in drawn], [TARGET[i] for i in drawn[::-1]]


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed."""
    return [_item(index, np.random.default_rng([seed, index])) for index in range(count)]


def _item(index: int, rng: np.random.Generator) -> Item:
    source, target = pair(rng)
    asked = int(rng.integers(len(source)))
    aligned = len(source) - 1 - asked
    start = len(" ".join(source[:aligned])) + bool(aligned)
    return Item(
        str(index),
        (" ".join(source),),
        None,
        ((0, start, start + len(source[aligned])),),
        options=(target[asked],),
        prefix=" ".join(target[:asked]),
    )
