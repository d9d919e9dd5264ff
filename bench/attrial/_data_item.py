"""One row of a data set as an item: its texts, its label, its known evidence."""

from dataclasses import dataclass

Spans = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Item:
    """One example as people read it, before any tokenizer.

    Attributes:
        id: Name within its task; the number of its row, counted from 0.
        texts: One text, or the two of a pair.
        label: Index of the gold class among the task's label names, or None.
        evidence: Known evidence as (text, start, end): characters start to end - 1 of that text.
            Empty where it is known that there is none; None where nothing is known.
    """

    id: str
    texts: tuple[str, ...]
    label: int | None = None
    evidence: Spans | None = None
