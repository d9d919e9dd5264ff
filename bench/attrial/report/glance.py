"""The first table of a page: on how many metrics each method may be best, task by task. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from attrial.report.phrases import DASH
from attrial.report.tables import Section, Table

FEW = 4  # tasks whose verdicts a page opens with; of more they are folded away


@dataclass(frozen=True)
class Share:
    """On how many metrics no method is told to be better, of those that tell any two apart."""

    times: int
    of: int

    @property
    def text(self) -> str:
        """``2 of 5``, or a dash where no metric tells anything."""
        return f"{self.times} of {self.of}" if self.of else DASH

    @property
    def style(self) -> str:
        """What a reader should see first: the best, and those that are nowhere best."""
        return "none" if self.times == 0 else "all" if self.times == self.of else ""


@dataclass(frozen=True)
class Place:
    """One table of a task: its short name, and each method's share in the order of the methods."""

    short: str
    title: str
    shares: tuple[Share | None, ...]


@dataclass(frozen=True)
class Stop:
    """One task: where it is on the page, what it is, and its tables."""

    anchor: str
    section: Section
    about: str
    asks: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Glance:
    """All tasks by all methods."""

    methods: tuple[str, ...]
    stops: tuple[Stop, ...]

    @property
    def tall(self) -> bool:
        """Whether there are more tables than methods: the longer list runs down the page."""
        return sum(len(stop.places) for stop in self.stops) > len(self.methods)

    @property
    def few(self) -> bool:
        """Whether the page opens with the verdicts of all tasks."""
        return len(self.stops) <= FEW

    @property
    def kinds(self) -> list[tuple[str, list[Stop]]]:
        """The tasks by the kind of model that they are for."""
        return [(kind, list(found)) for kind, found in groupby(self.stops, key=lambda s: s.asks)]


def place(table: Table, short: str, title: str, methods: Sequence[str]) -> Place:
    """One table's shares; None for a method that has no rank in it."""
    found = {name: Share(*share) for name, share in table.may_be_best().items()}
    return Place(short, title, tuple(found.get(name) for name in methods))
