"""Something lasts from one year to a later one of the same century. Evidence: the first year.

``The siege lasted from the year 1732 to the year`` goes on with a later year rather than an earlier
one: 1758 rather than 1714. After Hanna, Liu and Variengien 2023, "How does GPT-2 compute
greater-than?"; nouns and sentences are our own. Continuations are whole years, so that it doesn't
matter into which tokens a tokenizer cuts them.
"""

import numpy as np

from attrial.task import Item

NOUNS = tuple(
    """
    apprenticeship blockade campaign collaboration construction dispute drought dynasty embargo
    exhibition expedition famine friendship guild lease marriage monopoly occupation partnership
    pilgrimage project quarrel rebellion reform regency residence revolt siege strike study survey
    tour truce tutelage voyage
    """.split()
)
CENTURIES = tuple(range(11, 20))


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed."""
    return [_item(index, np.random.default_rng([seed, index])) for index in range(count)]


def _item(index: int, rng: np.random.Generator) -> Item:
    noun, century = (str(rng.choice(words)) for words in (NOUNS, CENTURIES))
    low, year, high = sorted(int(n) for n in rng.choice(np.arange(2, 99), 3, replace=False))
    start = f"The {noun} lasted from the year "
    text = f"{start}{century}{year:02d} to the year"
    options = (f" {century}{high:02d}", f" {century}{low:02d}")
    evidence = ((0, len(start), len(start) + 4),)
    return Item(str(index), (text,), None, evidence, options=options)
