"""Players coloured by score: orange speaks for the target, blue against it, evidence underlined."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from attrial.report.template import render

if TYPE_CHECKING:
    from rich.text import Text

FOR, AGAINST = (213, 94, 0), (0, 114, 178)  # told apart by every kind of colour sight
STRONGEST = 0.75  # opacity of the highest score: words stay readable on light and dark
SHOWN = 120  # players of a long text before it is cut


@dataclass(frozen=True)
class Word:
    """One player, or the text between two players, and how it is shown."""

    text: str
    score: float | None = None
    share: float = 0.0  # of the largest absolute score, -1 to 1
    evidence: bool = False

    @property
    def background(self) -> str:
        """As CSS."""
        red, green, blue = FOR if self.share > 0 else AGAINST
        return f"rgba({red},{green},{blue},{abs(self.share) * STRONGEST:.3f})"


def words(
    players: Sequence[str], scores: Sequence[float], *, truth: Sequence[bool] | None = None
) -> list[Word]:
    """Players with their share of the largest absolute score.

    >>> [w.share for w in words(["a", "b"], [2.0, -1.0])]
    [1.0, -0.5]
    """
    largest = max((abs(s) for s in scores), default=0.0) or 1.0
    marked = [False] * len(players) if truth is None else truth
    return [Word(p, s, s / largest, t) for p, s, t in zip(players, scores, marked, strict=True)]


def in_text(
    found: Sequence[Word], text: Sequence[str], spans: Sequence[tuple[int, int]]
) -> list[Word]:
    """Words as they stand in the text, with what lies between them.

    Players come in reading order: a span that starts before the last one ended opens the next
    text of a pair. Players that share characters, as tokens of one letter may, stand in no text:
    they are spaced.
    """
    if sum(b[0] < a[1] for a, b in pairwise(spans)) >= max(len(text), 1):
        return spaced(found)
    laid: list[Word] = []
    which, at = 0, 0
    for word, (start, end) in zip(found, spans, strict=True):
        if start < at:
            laid.append(Word(text[which][at:] + "\n"))
            which, at = which + 1, 0
        piece = text[which][start:end]
        laid += [Word(text[which][at:start]), Word(piece, word.score, word.share, word.evidence)]
        at = end
    rest = "\n".join([text[which][at:], *text[which + 1 :]]) if text else ""
    return [word for word in (*laid, Word(rest)) if word.text]


def spaced(found: Sequence[Word]) -> list[Word]:
    """Words with a space between each two, cut where they are too many to show."""
    shown = [part for word in found[:SHOWN] for part in (word, Word(" "))]
    left = len(found) - SHOWN
    return [*shown, Word(f"… and {left} more")] if left > 0 else shown[:-1]


def html_heatmap(
    players: Sequence[str],
    scores: Sequence[float],
    *,
    truth: Sequence[bool] | None = None,
    text: Sequence[str] = (),
    spans: Sequence[tuple[int, int]] = (),
    caption: str = "",
    legend: Sequence[Word] = (),
) -> str:
    """An HTML fragment for pages and notebooks; every word is escaped.

    Args:
        players: (n,) words or tokens.
        scores: (n,) higher speaks more for the target.
        truth: (n,) which players are known evidence: underlined.
        text: The text, or both of a pair, to show players where they stand (with ``spans``).
        spans: (n,) start and end characters of each player in its text.
        caption: A line above.
        legend: What ``key`` says of the colours; a line below.
    """
    found = words(players, scores, truth=truth)
    laid = in_text(found, text, spans) if text else spaced(found)
    return render("heatmap.html.jinja", words=laid, caption=caption, legend=legend)


def key(scores: Sequence[float], *, signed: bool = True) -> tuple[Word, ...]:
    """A legend: the strongest colours with the scores that they stand for, none where all are 0.

    >>> [w.text for w in key([2.0, -1.0])], [w.text for w in key([0.5], signed=False)]
    (['-2 against the target', '+2 for it'], ['0.5 matters most'])
    """
    largest = max((abs(s) for s in scores if s == s), default=0.0)
    if not largest:
        return ()
    if not signed:
        return (Word(f"{largest:.3g} matters most", largest, 1.0),)
    against = Word(f"-{largest:.3g} against the target", -largest, -1.0)
    return against, Word(f"+{largest:.3g} for it", largest, 1.0)


def terminal_heatmap(
    players: Sequence[str], scores: Sequence[float], *, truth: Sequence[bool] | None = None
) -> "Text":
    """The same colours for a terminal, as a rich text."""
    from rich.style import Style
    from rich.text import Text

    shown = Text()
    for word in spaced(words(players, scores, truth=truth)):
        ground = on_white(word.share) if word.share else None
        colour = "black" if word.share else None
        style = Style(bgcolor=ground, color=colour, underline=word.evidence or None)
        shown.append(word.text, style)
    return shown


def on_white(share: float) -> str:
    """The colour of a share on white paper, under black letters: ``rgb(255,255,255)`` at 0."""
    ink = FOR if share > 0 else AGAINST
    parts = (round(255 + (part - 255) * abs(share) * STRONGEST) for part in ink)
    return f"rgb({','.join(map(str, parts))})"
