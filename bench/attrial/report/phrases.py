"""Sentences as pieces, numbers and counts as a person reads them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

DASH = "\N{EN DASH}"  # between ranks, and where there is nothing
COUNT_NAMES = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Phrase:
    """A piece of a sentence; strong pieces are names that the sentence is about."""

    text: str
    strong: bool = False


Sentence = list[Phrase]


def number(value: float | None) -> str:
    """Three decimals, or a dash.

    >>> number(0.12345), number(-0.0001), number(1234.5)
    ('0.123', '0.000', '1234.5')
    """
    if value is None:
        return DASH
    text = f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
    return text.removeprefix("-") if float(text) == 0 else text


def count(n: int, thing: str) -> str:
    """A number of things.

    >>> count(1, "metric"), count(5, "metric"), count(12, "metric")
    ('one metric', 'five metrics', '12 metrics')
    """
    name = COUNT_NAMES[n] if n < len(COUNT_NAMES) else str(n)
    return f"{name} {thing}{'' if n == 1 else 's'}"


def every(columns: int) -> str:
    """All metrics of a table.

    >>> every(2), every(5)
    ('both metrics', 'all five metrics')
    """
    return "both metrics" if columns == 2 else f"all {count(columns, 'metric')}"


def names(found: Sequence[str]) -> Sentence:
    """Names in a row: strong, with commas and an "and"."""
    phrases: Sentence = []
    for i, name in enumerate(found):
        joint = "" if i == 0 else " and " if i == len(found) - 1 else ", "
        phrases += [Phrase(joint), Phrase(name, True)] if joint else [Phrase(name, True)]
    return phrases
