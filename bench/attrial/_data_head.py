"""What a row asks of a head that isn't a sequence classifier's: a word, an answer, choices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Head:
    """One of three questions; columns say what about.

    Attributes:
        position: Column of a word's number, from 0 over all texts: whose label it is, or where an
            answer starts or ends (without it, at its predicted place).
        answer: Which end of an answer is asked about.
        choices: Columns of the choices, or the one of a list of them.
    """

    position: str | None = None
    answer: Literal["start", "end"] | None = None
    choices: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that a row must have."""
        return (*self.choices, self.position) if self.position else self.choices

    def options(self, row: Mapping[str, object]) -> tuple[str, ...]:
        """The choices of a row, or the end of its answer.

        Raises:
            ValueError: If one is no text, or there are fewer than two.
        """
        if self.answer:
            return (self.answer,)
        found = [row[name] for name in self.choices]
        if len(found) == 1:
            found = list(_several(found[0]))
        if self.choices and (len(found) < 2 or not all(isinstance(c, str) for c in found)):
            raise ValueError(f"choices {found} are not two or more texts")
        return tuple(map(str, found))

    def at(self, row: Mapping[str, object]) -> int | None:
        """The number of the word that a row asks about.

        Raises:
            ValueError: If it is none.
        """
        if self.position is None:
            return None
        text = str(row[self.position])
        if not text.isdecimal():
            raise ValueError(f"position {text!r} is no number of a word: 0, 1, ...")
        return int(text)


NO_HEAD = Head()  # a sequence classifier's asks for nothing more


def _several(value: object) -> Sequence[object]:
    tolist = getattr(value, "tolist", None)
    value = tolist() if callable(tolist) else value
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(f"choices {value!r} are no list")
    return value
