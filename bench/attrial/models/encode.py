"""Text becomes an example: token ids, and which word or token each position belongs to.

Players are found through token offsets alone. Nothing is ever decoded or tokenised a second time.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from transformers import PreTrainedTokenizerBase

from attrial.errors import AttrialError, near
from attrial.example import FIXED, Example
from attrial.masks import Bools
from attrial.models.players import PLAYERS, UNITS, Span, given, inside, owners, stays, words
from attrial.models.verbatim import Position, positions

Triples = Sequence[tuple[int, int, int]]


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
        apart: Whether the model's outputs are labels of which several may hold at once.
    """

    tokenizer: PreTrainedTokenizerBase
    limit: int
    segments: bool
    anchor: int | None = None
    last: bool = False
    apart: bool = False

    def encode(
        self,
        id: str,
        texts: Sequence[str],
        *,
        players: str = "words",
        evidence: Triples | None = None,
        label: int | None = None,
        spans: Triples = (),
        fixed: Triples = (),
    ) -> Example:
        """Cut one text, or a pair, into players.

        Args:
            id: Name of the example.
            texts: One text or two.
            players: ``words`` (cut at white space), ``tokens``, ``sentences``, or ``spans``.
            evidence: Spans (text, start, end) of characters that are known evidence, or None. A
                player that overlaps one is evidence.
            label: Gold class.
            spans: The players, where they are spans; what lies between them always stays.
            fixed: Parts of the texts that always stay, such as a template's own words. Special
                tokens can be named there; elsewhere their names are text like any other.

        Raises:
            AttrialError: If there are not one or two texts, one is empty or nothing is left of
                them, an evidence span lies outside, spans overlap, or the tokenizer adds no special
                tokens.
        """
        _check(id, texts, players)
        stay = [Span(*s) for s in fixed]
        whole = self._positions(texts, stay, cut=False)
        kept = whole if len(whole) <= self.limit else self._positions(texts, stay, cut=True)
        cut = given(id, texts, [Span(*s) for s in spans]) if players == "spans" else None
        owner, found = _cut(texts, kept, players, cut, stay)
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
            apart=self.apart,
        )

    def check_apart(
        self, x: Example, said: Sequence[str], tokens: Sequence[tuple[int, ...]]
    ) -> None:
        """Make sure that continuations are different tokens.

        Raises:
            AttrialError: If two are not: they are said twice, the tokenizer drops what tells them
                apart, or it knows neither.
        """
        for i, ids in enumerate(tokens):
            if ids in tokens[:i]:
                two = f"{said[tokens.index(ids)]!r} and {said[i]!r}"
                known = self.tokenizer.unk_token_id not in ids
                raise AttrialError(
                    f"example {x.id!r}: two continuations are the same tokens: {two}"
                    + ("" if known else ", which the tokenizer doesn't know")
                )

    def _positions(
        self, texts: Sequence[str], fixed: Sequence[Span] = (), *, cut: bool
    ) -> list[Position]:
        most = self.limit - len(self._anchored) if cut else None
        found = positions(self.tokenizer, texts, fixed, most=most)
        return [*self._anchored, *(replace(p, type=p.type * self.segments) for p in found)]

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


def _cut(
    texts: Sequence[str],
    kept: Sequence[Position],
    players: str,
    spans: Sequence[Span] | None,
    fixed: Sequence[Span],
) -> tuple[list[int], list[Span]]:
    """Each position's player, and the players that have a position."""
    places = [p.span for p in kept]
    if players == "tokens":
        units = [p for p in places if p is not None and not stays(texts, p, fixed)]
        count = iter(range(len(units)))
        owner = [FIXED if p is None or stays(texts, p, fixed) else next(count) for p in places]
    else:
        units = list(spans) if spans is not None else UNITS[players](texts, fixed)
        owner = owners(texts, places, units, fixed, gaps=spans is not None)
    used = sorted({o for o in owner if o != FIXED})
    number = {FIXED: FIXED} | {o: i for i, o in enumerate(used)}
    return [number[o] for o in owner], [units[o] for o in used]


def _lost(texts: Sequence[str], whole: Sequence[Position], kept: Sequence[Position]) -> int:
    """How many words lost at least one token."""
    if len(whole) == len(kept):
        return 0
    units = words(texts)
    before, after = (Counter(owners(texts, [p.span for p in ps], units)) for ps in (whole, kept))
    return sum(count > after[word] for word, count in before.items() if word != FIXED)


def _truth(id: str, texts: Sequence[str], found: Sequence[Span], evidence: Triples) -> Bools:
    spans = [Span(*e) for e in evidence]
    inside(id, texts, spans, what="evidence")
    return np.array([any(_overlap(player, s) for s in spans) for player in found], bool)


def _overlap(a: Span, b: Span) -> bool:
    return a.text == b.text and a.start < b.end and b.start < a.end
