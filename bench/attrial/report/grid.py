"""A coloured table of numbers with a name for each row and each column."""

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
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: Floats
    caption: str

    def cells(self) -> list[list[Word]]:
        """The numbers as words, row by row."""
        largest = np.abs(self.entries[~np.isnan(self.entries)]).max(initial=0.0) or 1.0
        return [[_cell(v, largest) for v in row] for row in self.entries.tolist()]


def _cell(value: float, largest: float) -> Word:
    if value != value:
        return Word("", 0.0, 0.0)
    return Word(f"{value:+.3f}", value, value / largest)


def html_grid(grid: Grid) -> str:
    """An HTML table; every word is escaped."""
    rows = list(zip(grid.rows, grid.cells(), strict=True))
    return render("matrix.html.jinja", names=grid.columns, rows=rows, caption=grid.caption)


def terminal_grid(grid: Grid) -> "Table":
    """The same for a terminal, as a rich table."""
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

    table = Table("", title=grid.caption, title_justify="left", box=None)
    for name in grid.columns:
        table.add_column(Text(name), justify="right")
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
    for name, row in zip(grid.rows, grid.cells(), strict=True):
        lines.append(_line(name, [cell.text for cell in row], left, widths))
    return "\n".join(lines)


def _line(name: str, cells: Sequence[str], left: int, widths: Sequence[int]) -> str:
    columns = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([f"{name:<{left}}", *columns])
