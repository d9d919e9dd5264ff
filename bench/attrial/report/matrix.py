"""What players add together, as a coloured matrix: main effects on the diagonal, pairs off it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attrial.masks import Floats, Ints
from attrial.report.grid import Grid, html_grid, terminal_grid, text_grid

if TYPE_CHECKING:
    from rich.table import Table

SHOWN = 12  # players of a matrix before only the most interacting ones are shown


def html_matrix(players: Sequence[str], matrix: Floats) -> str:
    """An HTML table of (n, n) interactions; every word is escaped."""
    return html_grid(_grid(players, matrix))


def terminal_matrix(players: Sequence[str], matrix: Floats) -> "Table":
    """The same for a terminal, as a rich table."""
    return terminal_grid(_grid(players, matrix))


def text_matrix(players: Sequence[str], matrix: Floats) -> str:
    """The same as plain lines, each number under its player's name."""
    return text_grid(_grid(players, matrix))


def _grid(players: Sequence[str], matrix: Floats) -> Grid:
    shown = most_interacting(matrix)
    names = tuple(players[i] for i in shown)
    return Grid(names, names, matrix[np.ix_(shown, shown)], _caption(matrix, shown))


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
