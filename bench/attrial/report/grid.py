"""A coloured table of numbers with a name for each row and each column."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attrial.masks import Floats
from attrial.report.heatmap import Word, on_white
from attrial.report.template import render

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, eq=False)
class Grid:
    """Numbers to be shown, each coloured by its share of the largest.

    Attributes:
        rows: (R,) names.
        columns: (C,) names.
        entries: (R, C) numbers; a NaN is an empty cell.
        caption: What they are, in one line.
        legend: What the colours stand for.
        under: (C,) what stands under each column's name; nothing by default.
        rule: The row above which a line is drawn.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: Floats
    caption: str
    legend: Sequence[Word] = ()
    under: tuple[str, ...] = ()
    rule: int | None = None

    def cells(self) -> list[list[Word]]:
        """The numbers as words, row by row."""
        largest = np.abs(self.entries[~np.isnan(self.entries)]).max(initial=0.0) or 1.0
        places = decimals(self.entries, 3)
        return [[_cell(v, largest, places) for v in row] for row in self.entries.tolist()]


def _cell(value: float, largest: float, places: int) -> Word:
    if value != value:
        return Word("", 0.0, 0.0)
    return Word(f"{value:+.{places}f}", value, value / largest)


def decimals(values: Floats, least: int) -> int:
    """How many decimals show three digits of the largest of some numbers, at least so many.

    >>> decimals(np.array([0.5, -12.0]), 3), decimals(np.array([0.00021]), 3)
    (3, 6)
    """
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    return max(least, 2 - math.floor(math.log10(largest))) if largest else least


def html_grid(grid: Grid) -> str:
    """An HTML table; every word is escaped."""
    rows = list(zip(grid.rows, grid.cells(), strict=True))
    return render(
        "matrix.html.jinja",
        names=grid.columns,
        rows=rows,
        caption=grid.caption,
        legend=grid.legend,
        under=grid.under,
        rule=grid.rule,
    )


def terminal_grid(grid: Grid) -> "Table":
    """The same for a terminal, as a rich table."""
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

    table = Table("", title=grid.caption, title_justify="left", box=None)
    for name in grid.columns:
        table.add_column(Text(name), justify="right")
    if grid.under:
        table.add_row("", *(Text(told, "dim") for told in grid.under))
    for name, row in zip(grid.rows, grid.cells(), strict=True):
        inked = [
            Text(c.text, Style(bgcolor=on_white(c.share), color="black") if c.share else "")
            for c in row
        ]
        table.add_row(Text(name), *inked)
    return table


def text_grid(grid: Grid) -> str:
    """The same as plain lines, each number under its column's name."""
    left = max(map(len, grid.rows), default=0)
    widths = [max(len(name), 7) for name in grid.columns]
    lines = [grid.caption, _line("", grid.columns, left, widths)]
    lines += [_line("", grid.under, left, widths)] if grid.under else []
    for name, row in zip(grid.rows, grid.cells(), strict=True):
        lines.append(_line(name, [cell.text for cell in row], left, widths))
    return "\n".join(lines)


def _line(name: str, cells: Sequence[str], left: int, widths: Sequence[int]) -> str:
    columns = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([f"{name:<{left}}", *columns])
