"""A prompt becomes an example for a causal language model, with the continuations asked about."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attrial.errors import AttrialError
from attrial.example import Example
from attrial.models.encode import Encoder, Position

Options = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Prompts(Encoder):
    """An encoder that leaves out what ends a text, and the beginning of what is too long."""

    def ask(self, x: Example, continuations: Sequence[str]) -> Example:
        """The example with its continuations, of which the first is explained.

        Raises:
            AttrialError: If one is empty, said twice, or its first token would merge with the
                prompt's last.
        """
        options = tuple(self._continued(x.text[0], text) for text in continuations)
        if len(set(options)) < len(options):
            raise AttrialError(f"example {x.id!r}: two continuations are the same tokens")
        return replace(x, options=options, labels=tuple(continuations), explained=0)

    def _continued(self, prompt: str, continuation: str) -> tuple[int, ...]:
        """Tokens that follow the prompt's own in the two as one text."""
        before, whole = self._ids(prompt), self._ids(prompt + continuation)
        if whole[: len(before)] != before or len(whole) == len(before):
            raise AttrialError(
                f"continuation {continuation!r} doesn't begin with a token of its own after "
                f"{prompt[-20:]!r}; white space between the two must begin the continuation"
            )
        return tuple(whole[len(before) :])

    def _ids(self, text: str) -> list[int]:
        return [p.id for p in self._positions([text], cut=False)]

    def _positions(self, texts: Sequence[str], *, cut: bool) -> list[Position]:
        if len(texts) != 1:
            raise AttrialError("a causal language model takes one text, not a pair")
        found = super()._positions(texts, cut=False)
        while found and found[-1].span is None and len(found) > 1:
            found.pop()  # an end of text, after which nothing would follow
        over = len(found) - self.limit if cut else 0
        text = [i for i, p in enumerate(found) if p.span is not None]
        gone = set(text[:over]) if over > 0 else set[int]()
        return [p for i, p in enumerate(found) if i not in gone]
