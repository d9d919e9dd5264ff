"""Parts as one self-contained page without scripts; whatever comes from users is escaped."""

from collections.abc import Sequence

from attrial.report.heatmap import AGAINST, FOR
from attrial.report.parts import Bullets, Cell, Code, Drawing, Heading, Part, Table, Text
from attrial.report.template import render

DEEPEST = 0.6  # opacity of the strongest shade: figures stay readable on light and dark
MANY = 16  # headings; more make a list that nobody reads
KINDS = {
    Heading: "heading",
    Text: "text",
    Bullets: "bullets",
    Drawing: "drawing",
    Code: "code",
    Table: "table",
}


def html(title: str, parts: Sequence[Part]) -> str:
    """The page."""
    contents = _contents([p for p in parts if isinstance(p, Heading) and p.anchor])
    kinds = [(KINDS[type(part)], part) for part in parts]
    return render("parts.html.jinja", title=title, parts=kinds, contents=contents, ground=ground)


def _contents(headings: Sequence[Heading]) -> list[Heading]:
    """What the contents list: every heading of a short report, the chapters of a long one."""
    chapters = [h for h in headings if h.level == 2]
    return chapters if len(headings) > MANY else list(headings)


def ground(cell: Cell) -> str:
    """A cell's shade as CSS, empty where it has none; blue for agreement, orange against."""
    if cell.shade is None:
        return ""
    red, green, blue = AGAINST if cell.shade > 0 else FOR
    return f"rgba({red},{green},{blue},{min(1.0, abs(cell.shade)) * DEEPEST:.3f})"
