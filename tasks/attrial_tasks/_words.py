"""Words, lengths and labels that all planted tasks share, and texts made of them from a seed.

Items follow a fixed rhythm, so that every prefix of a task is balanced: every second one is short
(exact controls can be computed for it), and the classes come in turn. An item depends on the
seed and on its own number only. The shipped models were trained on seeds from ``TRAINING`` on; all
seeds below it are unseen.
"""

from collections.abc import Callable, Sequence

import numpy as np

from attrial.task import Item

TRAINING = 2**31  # seeds from here on belong to training
SHORT = (6, 12)  # words, inclusive
LONG = (13, 30)

FILLER = tuple(
    """
    about above across again almost along always among angle answer apart april arrive autumn
    bag basket bench bottle bowl box bread bridge bring brush bucket button cabin candle card
    carry chair chalk city clock cloth coat coin corner count cover cross cup curtain dance desk
    dinner door draw early east eight empty engine evening fence field finger floor follow fork
    garden gate glass glove grass hall hand hat hear heavy hill hold honey house idea ink
    island jacket jar journey jump kettle kitchen knee ladder lamp later leaf learn letter light
    line listen loaf lunch map march market middle mirror money month mountain move music narrow
    needle nine north notice number ocean often open paper path pencil people picture pillow
    plate pocket point porch quarter quiet reach ready river road roof room rope round sail salt
    sand school seat shelf shoe shop side simple sister sleep slow small smile soap song south
    spoon spring square stair stone story street sugar summer table thread ticket today tower town
    travel tray turn under upon valley village visit wagon wait walk wall watch water weather week
    west wheel wide window winter wood word yard year young
    """.split()
)

Draw = Callable[[np.random.Generator, int, int], tuple[list[str], list[str]]]
"""From (rng, words, label) to the words that are evidence and the other ones that are no filler."""


def label_of(index: int, classes: int) -> int:
    """Classes in turn, shifted by half between short and long items.

    Counts of the classes differ by one at most in every prefix, and short and long items have all.

    >>> [label_of(i, 2) for i in range(4)], [label_of(i, 4) for i in range(8)]
    ([0, 1, 1, 0], [0, 2, 1, 3, 2, 0, 3, 1])
    """
    return (index // 2 + index % 2 * classes // 2) % classes


def length_of(index: int, rng: np.random.Generator) -> int:
    """Words of an item: short for even numbers, long for odd ones."""
    low, high = SHORT if index % 2 == 0 else LONG
    return int(rng.integers(low, high + 1))


def pick(rng: np.random.Generator, words: Sequence[str], count: int = 1) -> list[str]:
    """Draw words with replacement."""
    return [words[i] for i in rng.integers(len(words), size=count)]


def compose(draw: Draw, *, count: int, seed: int, classes: int = 2) -> list[Item]:
    """Items 0 to count - 1 of the task whose cue words ``draw`` draws."""
    return [
        _item(draw, index, label_of(index, classes), np.random.default_rng([seed, index]))
        for index in range(count)
    ]


def _item(draw: Draw, index: int, label: int, rng: np.random.Generator) -> Item:
    """Evidence, other cues and filler in random order, so that no position tells anything."""
    n = length_of(index, rng)
    evidence, others = draw(rng, n, label)
    words = evidence + others + pick(rng, FILLER, n - len(evidence) - len(others))
    order = rng.permutation(n)
    starts = np.cumsum([0] + [len(words[i]) + 1 for i in order])
    spans = [
        (0, int(start), int(start) + len(words[i]))
        for start, i in zip(starts, order, strict=False)
        if i < len(evidence)
    ]
    return Item(str(index), (" ".join(words[i] for i in order),), label, tuple(spans))
