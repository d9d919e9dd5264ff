"""What players add together, as a coloured matrix: main effects on the diagonal, pairs off it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attrial.masks import Floats, Ints
from attrial.report.heatmap import Word, on_white
from attrial.report.template import render

if TYPE_CHECKING:
    from rich.table import Table

SHOWN = 12  # players of a matrix before only the most interacting ones are shown


def html_matrix(players: Sequence[str], matrix: Floats) -> str:
    """An HTML table of (n, n) interactions; every word is escaped."""
    shown = most_interacting(matrix)
    names = [players[i] for i in shown]
    rows = list(zip(names, _cells(matrix, shown), strict=True))
    return render("matrix.html.jinja", names=names, rows=rows, caption=_caption(matrix, shown))


def terminal_matrix(players: Sequence[str], matrix: Floats) -> "Table":
    """The same for a terminal, as a rich table."""
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

    shown = most_interacting(matrix)
    table = Table("", title=_caption(matrix, shown), title_justify="left", box=None)
    for i in shown:
        table.add_column(Text(players[i]), justify="right")
    for i, row in zip(shown, _cells(matrix, shown), strict=True):
        inked = [
            Text(c.text, Style(bgcolor=on_white(c.share), color="black") if c.share else "")
            for c in row
        ]
        table.add_row(Text(players[i]), *inked)
    return table


def text_matrix(players: Sequence[str], matrix: Floats) -> str:
    """The same as plain lines, each number under its player's name."""
    shown = most_interacting(matrix)
    names = [players[i] for i in shown]
    left = max(map(len, names), default=0)
    widths = [max(len(name), 7) for name in names]
    lines = [_caption(matrix, shown), _line("", names, left, widths)]
    for name, row in zip(names, _cells(matrix, shown), strict=True):
        lines.append(_line(name, [cell.text for cell in row], left, widths))
    return "\n".join(lines)


def most_interacting(matrix: Floats) -> Ints:
    """The players shown, in reading order: those with the largest entries off the diagonal.

    >>> most_interacting(np.diag([3.0, 2.0]))
    array([0, 1])
    """
    strength = np.abs(matrix - np.diag(np.diag(matrix))).max(axis=1, initial=0.0)
    return np.sort(np.argsort(-strength, kind="stable")[:SHOWN])


def _caption(matrix: Floats, shown: Ints) -> str:
    left = len(matrix) - len(shown)
    more = f"; {left} players of weaker interactions are left out" if left else ""
    return f"interactions of pairs, main effects on the diagonal{more}"


def _cells(matrix: Floats, shown: Ints) -> list[list[Word]]:
    """Entries of the players shown, each with its share of the largest of them."""
    entries = matrix[np.ix_(shown, shown)]
    largest = np.abs(entries).max(initial=0.0) or 1.0
    return [[Word(f"{v:+.3f}", v, v / largest) for v in row] for row in entries.tolist()]


def _line(name: str, cells: Sequence[str], left: int, widths: Sequence[int]) -> str:
    columns = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([f"{name:<{left}}", *columns])
