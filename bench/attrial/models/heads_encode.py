"""Text becomes an example for a head that speaks at every position: one of them is asked about."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attrial.errors import AttrialError
from attrial.example import Example
from attrial.models.encode import Encoder
from attrial.models.players import Span, words
from attrial.models.verbatim import Position

Triples = Sequence[tuple[int, int, int]]


@dataclass(frozen=True)
class Placing(Encoder):
    """An encoder that keeps the word asked about out of the game: the answer is read there."""

    def placed(
        self,
        id: str,
        texts: Sequence[str],
        read: int,
        *,
        players: str = "words",
        evidence: Triples | None = None,
        label: int | None = None,
        spans: Triples = (),
        fixed: Triples = (),
    ) -> Example:
        """An example that is read at one of its tokens; the word around it always stays.

        Of players that are tokens, that token alone stays.

        Raises:
            AttrialError: What ``encode`` says, or that nothing else is left to be a player.
        """
        at = self._around(texts, read, players, fixed)
        if len(words(texts, [Span(*s) for s in fixed] + [at])) == 0:
            raise AttrialError(f"example {id!r}: nothing stands beside the word asked about")
        x = self.encode(
            id, texts, players=players, evidence=evidence, label=label, spans=spans,
            fixed=[*fixed, (at.text, at.start, at.end)],
        )  # fmt: skip
        return replace(x, read=read)

    def _around(self, texts: Sequence[str], read: int, players: str, fixed: Triples) -> Span:
        position = self.kept(texts, fixed)[read]
        assert position.span is not None
        if players == "tokens":
            return position.span
        return next(word for word in words(texts) if _touches(position, word))

    def kept(self, texts: Sequence[str], fixed: Triples = ()) -> list[Position]:
        """The tokens that the model reads of texts."""
        stay = [Span(*s) for s in fixed]
        whole = self._positions(texts, stay, cut=False)
        return whole if len(whole) <= self.limit else self._positions(texts, stay, cut=True)

    def token_of(
        self, id: str, texts: Sequence[str], number: int, *, players: str, fixed: Triples = (),
        last: bool = False,
    ) -> int:  # fmt: skip
        """Position of the first token of a word, or its last; or of a token, if these are players.

        Both are counted from 0; a second text's follow the first's.

        Raises:
            AttrialError: If there is none of that number, or it was cut off.
        """
        kept = self.kept(texts, fixed)
        if players == "tokens":
            found = [[i] for i, p in enumerate(kept) if p.span is not None]
        else:
            found = [[i for i, p in enumerate(kept) if _touches(p, w)] for w in words(texts)]
        one = "token" if players == "tokens" else "word"
        if not 0 <= number < len(found):
            raise AttrialError(f"example {id!r}: no {one} {number}; they are 0 to {len(found) - 1}")
        if not found[number]:
            raise AttrialError(
                f"example {id!r}: {one} {number} was cut off; the model takes {self.limit} tokens"
            )
        return found[number][-1 if last else 0]


def _touches(position: Position, at: Span) -> bool:
    own = position.span
    return own is not None and own.text == at.text and own.start < at.end and at.start < own.end
