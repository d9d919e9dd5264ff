"""How places are named: metrics with their removal, families as headings. Pure."""

from typing import Protocol

from attrial.report import words
from attrial.report.parts import Cell
from attrial.trust.ground import FIRST


class Placed(Protocol):
    """Any finding about one metric."""

    @property
    def metric(self) -> str:
        """Its label."""

    @property
    def removal(self) -> str:
        """What it is read under."""

    @property
    def family(self) -> str:
        """Which table it stands in."""


def where(found: Placed) -> tuple[Cell, Cell]:
    """Two cells: the metric, and the removal if it depends on one."""
    return Cell(found.metric, code=True), Cell(found.removal if found.family == FIRST else "")


def heading(removal: str, family: str) -> str:
    """A family of metrics, with the removal if it depends on one."""
    title = words.family(family)
    return f"{title}, players removed by {removal}" if family == FIRST else title


def grade(p: float) -> str:
    """A p value for reading.

    >>> grade(0.0312), grade(0.0001)
    ('0.031', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
