"""A source text becomes an example for an encoder-decoder, with what its decoder says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attrial.errors import AttrialError
from attrial.example import Example
from attrial.models.encode import Encoder
from attrial.models.players import Span
from attrial.models.verbatim import positions

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Sources(Encoder):
    """An encoder of source texts that knows how a decoder begins and how much it takes.

    Attributes:
        begin: Ids of the decoder's start.
        said: The most tokens that the decoder reads.
    """

    begin: Ids = ()
    said: int = 1 << 30

    def ask(self, x: Example, options: Sequence[str], prefix: str = "") -> Example:
        """The example with continuations of a prefix, of which the first is explained.

        A continuation begins a word: between it and the prefix is white space.

        Raises:
            AttrialError: If a continuation is empty, said twice, merges with the prefix, or is too
                long.
        """
        before = self.target(prefix, len(prefix))
        found = tuple(self._continued(x.id, before, prefix, option) for option in options)
        self.check_apart(x, options, found)
        return self.asked(x, found, before, labels=tuple(options))

    def asked(
        self, x: Example, options: tuple[Ids, ...], before: Ids, *, labels: tuple[str, ...]
    ) -> Example:
        """The example with continuations and a prefix by their token ids."""
        prefix = (*self.begin, *before)
        self.fits(x, len(prefix) + max(map(len, options)) - 1)
        return replace(x, options=options, labels=labels, prefix=prefix, explained=0)

    def fits(self, x: Example, tokens: int) -> None:
        """Make sure that the decoder takes so many.

        Raises:
            AttrialError: If it doesn't.
        """
        if tokens > self.said:
            raise AttrialError(
                f"example {x.id!r}: the decoder takes {self.said} tokens, fewer than its prefix "
                "and continuation have"
            )

    def target(self, text: str, prefix: int = 0) -> Ids:
        """Ids of a text that the decoder says, without those that the tokenizer adds.

        So many of its first characters are a prefix, in which special tokens can be named, such as
        a language's.
        """
        fixed = [Span(0, 0, prefix)]
        return tuple(p.id for p in positions(self.tokenizer, [text], fixed, template=False))

    def _continued(self, id: str, before: Ids, prefix: str, option: str) -> Ids:
        apart = not prefix or prefix[-1].isspace() or option[:1].isspace()
        whole = self.target(prefix + option if apart else f"{prefix} {option}", len(prefix))
        if whole[: len(before)] != before or len(whole) == len(before):
            raise AttrialError(
                f"example {id!r}: continuation {option!r} has no token of its own after {prefix!r}"
            )
        return whole[len(before) :]
