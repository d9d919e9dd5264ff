"""Text becomes an example: token ids, and which word or token each position belongs to.

Words are cut at white space and found through token offsets alone. Nothing is ever decoded or
tokenised a second time.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerBase

from attrial.errors import AttrialError, near
from attrial.example import FIXED, Example
from attrial.masks import Bools

PLAYERS = ("words", "tokens")


@dataclass(frozen=True)
class Span:
    """Characters of one of the texts, from ``start`` to before ``end``."""

    text: int
    start: int
    end: int


@dataclass(frozen=True)
class Position:
    """One token: its id, its segment, and where it stands (None for a special token)."""

    id: int
    type: int
    span: Span | None


@dataclass(frozen=True)
class Encoder:
    """A fast tokenizer, and what its model takes.

    Attributes:
        tokenizer: A tokenizer that knows offsets.
        limit: How long inputs may be, special tokens included.
        segments: Whether the model tells the texts of a pair apart by segment ids.
        anchor: A special token to stand at the start where the tokenizer adds none, so that
            something is left when all players are removed; None where it adds some.
        last: Whether the answer is read at the last token, not at the classification token.
    """

    tokenizer: PreTrainedTokenizerBase
    limit: int
    segments: bool
    anchor: int | None = None
    last: bool = False

    def encode(
        self,
        id: str,
        texts: Sequence[str],
        *,
        players: str = "words",
        evidence: Sequence[tuple[int, int, int]] | None = None,
        label: int | None = None,
    ) -> Example:
        """Cut one text, or a pair, into players.

        Args:
            id: Name of the example.
            texts: One text or two.
            players: ``words`` (cut at white space) or ``tokens``.
            evidence: Spans (text, start, end) of characters that are known evidence, or None. A
                player that overlaps one is evidence.
            label: Gold class.

        Raises:
            AttrialError: If there are not one or two texts, one is empty or nothing is left of
                them, an evidence span lies outside, or the tokenizer adds no special tokens.
        """
        _check(id, texts, players)
        whole = self._positions(texts, cut=False)
        kept = whole if len(whole) <= self.limit else self._positions(texts, cut=True)
        owner, found = _cut(texts, kept, players)
        _check_cut(id, owner)
        return Example(
            id=id,
            players=tuple(texts[s.text][s.start : s.end] for s in found),
            ids=np.array([p.id for p in kept], np.int64),
            types=np.array([p.type for p in kept], np.int64),
            owner=np.array(owner, np.int64),
            read=self._read(kept),
            truth=None if evidence is None else _truth(id, texts, found, evidence),
            label=label,
            text=tuple(texts),
            spans=tuple((s.start, s.end) for s in found),
            truncated=_lost(texts, whole, kept),
        )

    def _positions(self, texts: Sequence[str], *, cut: bool) -> list[Position]:
        encoded = self.tokenizer(
            *texts,
            truncation="longest_first" if cut else False,
            max_length=self.limit - len(self._anchored) if cut else None,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            return_token_type_ids=True,
            verbose=False,
        )
        fields = ("input_ids", "token_type_ids", "special_tokens_mask", "offset_mapping")
        columns = zip(*(encoded[f] for f in fields), encoded.sequence_ids(), strict=True)
        found = [
            Position(i, kind * self.segments, None if special or text is None else Span(text, *at))
            for i, kind, special, at, text in columns
        ]
        return [*self._anchored, *found]

    @property
    def _anchored(self) -> list[Position]:
        return [] if self.anchor is None else [Position(self.anchor, 0, None)]

    def _read(self, kept: Sequence[Position]) -> int:
        """The last token's place, or the classification token's: where encoders are read from."""
        if self.last:
            return len(kept) - 1
        ids = [p.id for p in kept]
        cls = self.tokenizer.cls_token_id
        return ids.index(cls) if cls in ids else 0


def _check(id: str, texts: Sequence[str], players: str) -> None:
    if players not in PLAYERS:
        raise AttrialError(f"no players {players!r}; {near(players, PLAYERS)}")
    if len(texts) not in (1, 2):
        raise AttrialError(f"example {id!r} has {len(texts)} texts; one or two are taken")
    for text in texts:
        if not isinstance(text, str):
            raise AttrialError(
                f"example {id!r}: a text is a string, not a value of type {type(text).__name__}"
            )
        if not text.strip():
            raise AttrialError(f"example {id!r}: the text is empty")


def _check_cut(id: str, owner: Sequence[int]) -> None:
    if all(o == FIXED for o in owner):
        raise AttrialError(f"example {id!r}: the tokenizer leaves no token of the text")
    if FIXED not in owner:
        raise AttrialError(
            "this tokenizer adds no special tokens, so nothing is left when all words are removed"
        )


def words(texts: Sequence[str]) -> list[Span]:
    """Runs of characters between white space, text after text.

    >>> words(["so good", "yes"])
    [Span(text=0, start=0, end=2), Span(text=0, start=3, end=7), Span(text=1, start=0, end=3)]
    """
    return [
        Span(i, *match.span())
        for i, text in enumerate(texts)
        for match in re.finditer(r"\S+", text)
    ]


def _cut(
    texts: Sequence[str], kept: Sequence[Position], players: str
) -> tuple[list[int], list[Span]]:
    """Each position's player, and the players that have a position."""
    if players == "tokens":
        found = [p.span for p in kept if p.span is not None]
        count = iter(range(len(found)))
        return [FIXED if p.span is None else next(count) for p in kept], found
    units, owner = words(texts), _words_of(texts, kept)
    used = sorted({o for o in owner if o != FIXED})
    number = {FIXED: FIXED} | {o: i for i, o in enumerate(used)}
    return [number[o] for o in owner], [units[o] for o in used]


def _words_of(texts: Sequence[str], kept: Sequence[Position]) -> list[int]:
    """The word that each position's first character lies in; white space belongs to the next."""
    ends = [(s.text, s.end) for s in words(texts)]
    last = [sum(text <= i for text, _ in ends) - 1 for i in range(len(texts))]
    owner = []
    for span in (p.span for p in kept):
        if span is None:
            owner.append(FIXED)
            continue
        piece = texts[span.text][span.start : span.end]
        first = span.start + len(piece) - len(piece.lstrip())
        owner.append(min(bisect_right(ends, (span.text, first)), last[span.text]))
    return owner


def _lost(texts: Sequence[str], whole: Sequence[Position], kept: Sequence[Position]) -> int:
    """How many words lost at least one token."""
    if len(whole) == len(kept):
        return 0
    before, after = (Counter(_words_of(texts, positions)) for positions in (whole, kept))
    return sum(count > after[word] for word, count in before.items() if word != FIXED)


def _truth(
    id: str, texts: Sequence[str], found: Sequence[Span], evidence: Sequence[tuple[int, int, int]]
) -> Bools:
    spans = [Span(*e) for e in evidence]
    for s in spans:
        if not (0 <= s.text < len(texts) and 0 <= s.start < s.end <= len(texts[s.text])):
            raise AttrialError(
                f"example {id!r}: evidence {(s.text, s.start, s.end)} lies outside of its text"
            )
    return np.array([any(_overlap(player, s) for s in spans) for player in found], bool)


def _overlap(a: Span, b: Span) -> bool:
    return a.text == b.text and a.start < b.end and b.start < a.end
