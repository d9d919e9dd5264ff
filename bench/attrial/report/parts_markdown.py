"""Parts as Markdown: for terminals and repository pages."""

from collections.abc import Sequence

from attrial.report.markdown import code, grid, plain, say
from attrial.report.parts import Bullets, Cell, Code, Drawing, Heading, Part, Table, Text


def markdown(parts: Sequence[Part]) -> str:
    """The whole document."""
    return "\n\n".join(_part(part) for part in parts) + "\n"


def _part(part: Part) -> str:
    if isinstance(part, Heading):
        return f"{'#' * part.level} {plain(part.text)}"
    if isinstance(part, Text):
        return " ".join(say(sentence) for sentence in part.sentences)
    if isinstance(part, Bullets):
        return "\n".join(f"- {say(item)}" for item in part.items)
    if isinstance(part, Drawing):
        return plain(part.words)
    return _code(part) if isinstance(part, Code) else _table(part)


def _code(part: Code) -> str:
    fence = "```"
    while fence in part.text:
        fence += "`"
    return f"{fence}\n{part.text}\n{fence}"


def _table(part: Table) -> str:
    rows = [
        [_cell(cell, control=i in part.controls and k == 0) for k, cell in enumerate(row)]
        for i, row in enumerate(part.rows)
    ]
    table = grid([_cell(cell) for cell in part.header], rows)
    return f"**{plain(part.caption)}**\n\n{table}" if part.caption else table


def _cell(cell: Cell, *, control: bool = False) -> str:
    if control:
        return f"*{plain(cell.text)}*"
    text = code(cell.text) if cell.code else plain(cell.text)
    return f"**{text}**" if cell.strong else text
