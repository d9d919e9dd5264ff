"""What is scored in a text: words, sentences, spans; each position belongs to one or stays.

Everything goes by characters. Nothing is ever decoded or tokenised a second time.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from attrial.errors import AttrialError
from attrial.example import FIXED

PLAYERS = ("words", "tokens", "sentences", "spans")
# A sentence ends with its mark, whatever closes it, and white space; or with its line. The marks of
# Chinese and Japanese need no white space.
_END = re.compile(
    r"[.!?\u2026]+[\"'\u201d\u2019\u00bb)\]]*(?=\s|$)|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d\uff09]*|(?=\n)"
)


@dataclass(frozen=True, order=True)
class Span:
    """Characters of one of the texts, from ``start`` to before ``end``."""

    text: int
    start: int
    end: int


def words(texts: Sequence[str], fixed: Sequence[Span] = ()) -> list[Span]:
    """Runs of characters between white space, text after text, cut where fixed parts begin.

    >>> words(["so good", "yes"])
    [Span(text=0, start=0, end=2), Span(text=0, start=3, end=7), Span(text=1, start=0, end=3)]
    """
    return [
        Span(part.text, *match.span())
        for part in _free(texts, fixed)
        for match in re.compile(r"\S+").finditer(texts[part.text], part.start, part.end)
    ]


def sentences(texts: Sequence[str], fixed: Sequence[Span] = ()) -> list[Span]:
    """Sentences by their marks, without the white space around them; a mark alone ends the former.

    >>> [s.start for s in sentences(["It works. Does it ? Yes!"])]
    [0, 10, 20]
    """
    return [span for part in _free(texts, fixed) for span in _sentences(texts[part.text], part)]


def _sentences(text: str, part: Span) -> list[Span]:
    ends = [m.end() for m in _END.finditer(text, part.start, part.end)]
    found: list[Span] = []
    for start, end in zip([part.start, *ends], [*ends, part.end], strict=True):
        piece = text[start:end]
        if not piece.strip():
            continue
        whole = found and not re.search(r"\w", piece)
        begin = found.pop().start if whole else start + len(piece) - len(piece.lstrip())
        found.append(Span(part.text, begin, start + len(piece.rstrip())))
    return found


def _free(texts: Sequence[str], fixed: Sequence[Span]) -> Iterator[Span]:
    """What is left of the texts between fixed parts."""
    for i, text in enumerate(texts):
        start = 0
        for part in sorted(s for s in fixed if s.text == i):
            yield Span(i, start, part.start)
            start = max(start, part.end)
        yield Span(i, start, len(text))


UNITS: Mapping[str, Callable[[Sequence[str], Sequence[Span]], list[Span]]] = {
    "words": words,
    "sentences": sentences,
}


def given(id: str, texts: Sequence[str], spans: Sequence[Span]) -> list[Span]:
    """Spans that the data name, in their order in the texts.

    Raises:
        AttrialError: If there is none, one lies outside of its text, or two share a character.
    """
    found = sorted(spans)
    if not found:
        raise AttrialError(f"example {id!r} names no spans, and its players are spans")
    inside(id, texts, found, what="span")
    for a, b in pairwise(found):
        if a.text == b.text and b.start < a.end:
            raise AttrialError(
                f"example {id!r}: the spans {(a.text, a.start, a.end)} and "
                f"{(b.text, b.start, b.end)} share characters; a player has its own"
            )
    return found


def inside(id: str, texts: Sequence[str], spans: Sequence[Span], *, what: str) -> None:
    """Make sure that spans lie within their texts.

    Raises:
        AttrialError: It names the example and the span.
    """
    for s in spans:
        if not (0 <= s.text < len(texts) and 0 <= s.start < s.end <= len(texts[s.text])):
            raise AttrialError(
                f"example {id!r}: {what} {(s.text, s.start, s.end)} lies outside of its text"
            )


def owners(
    texts: Sequence[str],
    places: Sequence[Span | None],
    units: Sequence[Span],
    fixed: Sequence[Span] = (),
    *,
    gaps: bool = False,
) -> list[int]:
    """The number of the unit that each place's first character lies in.

    Args:
        texts: The texts.
        places: Where each position stands; None for special tokens, which are nobody's.
        units: In the order of the texts, apart from each other.
        fixed: Parts that are nobody's.
        gaps: Whether what lies between units is nobody's; else white space is the next unit's.
    """
    ends = [(u.text, u.end) for u in units]
    last = [sum(text <= i for text, _ in ends) - 1 for i in range(len(texts))]
    found = []
    for place in places:
        if place is None or stays(texts, place, fixed):
            found.append(FIXED)
            continue
        at = (place.text, _first(texts, place))
        owner = min(bisect_right(ends, at), last[place.text])
        lone = owner < 0 or units[owner].text != place.text
        found.append(FIXED if lone or (gaps and not _holds(units[owner], at)) else owner)
    return found


def stays(texts: Sequence[str], place: Span, fixed: Sequence[Span]) -> bool:
    """Whether a place's first character lies in a fixed part, or all of its white space does."""
    at = (place.text, _first(texts, place))
    return any(_holds(part, at) or _within(place, part) for part in fixed)


def _within(place: Span, part: Span) -> bool:
    return place.text == part.text and part.start <= place.start <= place.end <= part.end


def _first(texts: Sequence[str], place: Span) -> int:
    """The first character that is no white space; the place's end where all are."""
    piece = texts[place.text][place.start : place.end]
    return place.start + len(piece) - len(piece.lstrip())


def _holds(span: Span, at: tuple[int, int]) -> bool:
    return span.text == at[0] and span.start <= at[1] < span.end
