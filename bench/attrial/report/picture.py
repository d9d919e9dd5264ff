"""The cells of an image coloured by score, over the image where it is at hand, as SVG."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from attrial.report.heatmap import Word, words
from attrial.report.template import render

SIDE = 320  # pixels of an image's longer side on a page
SMALL = 120  # likewise in a table


@dataclass(frozen=True)
class Cell:
    """One player as a rectangle, and how it is shown."""

    name: str
    word: Word
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class Picture:
    """An image's cells, ready to be drawn.

    Attributes:
        width, height: On the page.
        cells: Row by row.
        source: The image as a data URI; empty where it isn't at hand.
    """

    width: int
    height: int
    cells: tuple[Cell, ...]
    source: str = ""


def picture(
    players: Sequence[str],
    scores: Sequence[float],
    *,
    edges: tuple[Sequence[float], Sequence[float]],
    truth: Sequence[bool] | None = None,
    png: bytes = b"",
    shape: tuple[int, int] = (1, 1),
    side: int = SIDE,
) -> Picture:
    """Lay cells out.

    Args:
        players: (rows * columns,) their names, row by row.
        scores: Higher speaks more for the target.
        edges: Where rows (rows + 1) and columns (columns + 1) begin and end, from 0 to 1.
        truth: Which are known evidence.
        png: The image as a file.
        shape: Its height and width, in any unit.
        side: Of the longer side on the page, in pixels.
    """
    height, width = (round(side * s / max(shape)) for s in shape)
    down, across = edges
    columns = len(across) - 1
    found = []
    for i, word in enumerate(words(players, scores, truth=truth)):
        r, c = divmod(i, columns)
        box = (across[c], down[r], across[c + 1] - across[c], down[r + 1] - down[r])
        left, top, wide, high = (b * s for b, s in zip(box, (width, height) * 2, strict=True))
        found.append(Cell(players[i], word, left, top, wide, high))
    source = f"data:image/png;base64,{base64.b64encode(png).decode()}" if png else ""
    return Picture(width, height, tuple(found), source)


def even(cells: tuple[int, int]) -> tuple[list[float], list[float]]:
    """Edges of a grid of equal cells.

    >>> even((1, 2))
    ([0.0, 1.0], [0.0, 0.5, 1.0])
    """
    rows, columns = ([i / count for i in range(count + 1)] for count in cells)
    return rows, columns


def html_picture(shown: Picture, *, caption: str = "", legend: Sequence[Word] = ()) -> str:
    """An HTML fragment: the image by itself, and under its cells; names and caption are escaped."""
    return render("picture.html.jinja", pictures=pair(shown), caption=caption, legend=legend)


def pair(shown: Picture) -> list[Picture]:
    """The image without its cells, where there is one, and with them."""
    bare = Picture(shown.width, shown.height, (), shown.source)
    return [bare, shown] if shown.source else [shown]
