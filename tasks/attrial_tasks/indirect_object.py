"""Two people are somewhere and one gives something: to the other one. Evidence: both names.

``When Carol and Peter were at the market, Peter handed a lamp to`` goes on with Carol, not Peter.
After Wang et al. 2023, "Interpretability in the wild"; names, places and sentences are our own.
Evidence is the receiver's only mention and the giver's second one: without either nothing tells.
"""

import numpy as np

from attrial.task import Item

NAMES = tuple(
    """
    Alice Amy Anna Ben Carol Claire Dan David Emma Eric Frank George Grace Helen Henry Jack James
    Jane John Kate Laura Lewis Lucy Mark Martin Mary Michael Nancy Oliver Paul Peter Rachel Robert
    Ruth Sam Sarah Simon Susan Thomas Tom
    """.split()
)
PLACES = tuple(
    "airport bakery beach cinema garden harbour library market museum office park school".split()
)
THINGS = tuple("basket bottle drink flower hammer key lamp letter map ring ticket watch".split())
OPENINGS = ("When {a} and {b} were at the {place},", "After {a} and {b} came to the {place},")
DEEDS = ("handed", "gave", "passed", "offered")


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed; the receiver is named first in every second one."""
    return [_item(index, np.random.default_rng([seed, index])) for index in range(count)]


def _item(index: int, rng: np.random.Generator) -> Item:
    giver, receiver = (str(name) for name in rng.choice(NAMES, 2, replace=False))
    first, second = (receiver, giver) if index % 2 == 0 else (giver, receiver)
    opening, place, deed, thing = (
        str(rng.choice(words)) for words in (OPENINGS, PLACES, DEEDS, THINGS)
    )
    before = opening.format(a=first, b=second, place=place) + " "
    at = before.index(receiver)
    evidence = ((0, at, at + len(receiver)), (0, len(before), len(before) + len(giver)))
    text = f"{before}{giver} {deed} a {thing} to"
    return Item(str(index), (text,), None, evidence, options=(f" {receiver}", f" {giver}"))
