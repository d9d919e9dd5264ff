"""What a report is made of: headings, sentences, tables and drawings, whatever it is written in."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from attrial.report.phrases import DASH, Phrase, Sentence


@dataclass(frozen=True)
class Heading:
    """A heading; ``anchor`` names it for links, and puts it into the contents."""

    level: int
    text: str
    anchor: str = ""


@dataclass(frozen=True)
class Text:
    """A paragraph; ``faint`` for what explains rather than says."""

    sentences: tuple[Sentence, ...]
    faint: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[Sentence, ...]


@dataclass(frozen=True)
class Cell:
    """One cell: words, and how strongly it is shaded.

    Attributes:
        text: What is read.
        code: Whether it is a name of the program's.
        strong: Whether it stands out.
        shade: -1 to 1, the colours of against and for; None leaves it white.
        note: What a pointer shows.
        number: Whether it is set to the right.
    """

    text: str
    code: bool = False
    strong: bool = False
    shade: float | None = None
    note: str = ""
    number: bool = False


@dataclass(frozen=True)
class Table:
    """A table with a header; ``square`` for matrices, whose columns are narrow."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    square: bool = False
    controls: tuple[int, ...] = ()  # rows that are not ranked


@dataclass(frozen=True)
class Drawing:
    """A drawing as SVG markup, and what it says in words."""

    svg: str
    words: str

    @property
    def uri(self) -> str:
        """The drawing inside an address: a page's style sheet does not reach into it."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}"


@dataclass(frozen=True)
class Code:
    """Something to be typed or copied."""

    text: str


Part = Heading | Text | Bullets | Table | Drawing | Code


def plain(*texts: str) -> Text:
    """A paragraph without names."""
    return Text(tuple([Phrase(t)] for t in texts))


def note(*texts: str) -> Text:
    """A faint paragraph."""
    return Text(tuple([Phrase(t)] for t in texts), faint=True)


def name(text: str) -> Cell:
    """A cell with a name of the program's."""
    return Cell(text, code=True)


def head(*texts: str) -> tuple[Cell, ...]:
    """A header of words."""
    return tuple(Cell(t) for t in texts)


def figure(
    value: float | None,
    *,
    digits: int = 2,
    shade: bool = False,
    strong: bool = False,
    after: str = "",
    note: str = "",
) -> Cell:
    """A number, or a dash where there is none; ``after`` follows it.

    >>> figure(0.126).text, figure(None).text, figure(-0.001).text
    ('0.13', '–', '0.00')
    """
    if value is None or value != value:
        return Cell(DASH, number=True, note=note)
    return Cell(
        decimal(value, digits) + after,
        strong=strong,
        shade=value if shade else None,
        note=note,
        number=True,
    )


def spread(low: float | None, high: float | None, *, digits: int = 3) -> str:
    """An interval in brackets, with a space before it; empty where there is none.

    >>> spread(0.1, 0.25), spread(None, None)
    (' [0.100, 0.250]', '')
    """
    if low is None or high is None:
        return ""
    return f" [{decimal(low, digits)}, {decimal(high, digits)}]"


def decimal(value: float, digits: int) -> str:
    """So many decimals; a value too small for them in powers of ten, 0 without a sign.

    >>> decimal(0.1264, 3), decimal(0.00012, 3), decimal(-0.0, 3)
    ('0.126', '1e-04', '0.000')
    """
    text = f"{value:.{digits}f}"
    if float(text) != 0:
        return text
    tiny = digits > 2 and abs(value) > 1e-12
    return f"{value:.0e}" if tiny else text.removeprefix("-")


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names in a row, cut where they are many.

    >>> listed(["a", "b", "c"], 2), listed([])
    ('a, b and 1 more', '–')
    """
    if not names:
        return DASH
    shown, left = ", ".join(names[:most]), len(names) - most
    return f"{shown} and {left} more" if left > 0 else shown
