"""A prompt becomes an example for a causal language model, with the continuations asked about."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attrial.errors import AttrialError
from attrial.example import Example
from attrial.models.encode import Encoder, Triples
from attrial.models.players import Span
from attrial.models.verbatim import Position, positions

MARK = "\u27eawhat the user says\u27eb"  # to find out where a template puts it


@dataclass(frozen=True)
class Prompts(Encoder):
    """An encoder that leaves out what ends a text, and the beginning of what is too long.

    Attributes:
        chat: Whether texts are what a user says, put into the template of the tokenizer's chats.
            The template always stays; it brings its own special tokens, and no others are added.
    """

    chat: bool = False

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
        """Cut a prompt into players; see ``Encoder.encode``. Players of a chat are its text's."""
        if not self.chat or len(texts) != 1 or not texts[0].strip():
            return super().encode(
                id, texts, players=players, evidence=evidence, label=label, spans=spans, fixed=fixed
            )
        whole, by, said = self._conversation(texts[0])
        x = super().encode(
            id,
            [whole],
            players=players,
            evidence=None if evidence is None else _moved(evidence, by),
            label=label,
            spans=_moved(spans, by),
            fixed=(*_moved(fixed, by), *_around(whole, by, said)),
        )
        return replace(x, text=(texts[0],), spans=tuple((a - by, b - by) for a, b in x.spans))

    @property
    def template(self) -> int:
        """Tokens that stand beside a prompt's own: the tokenizer's, or the anchor."""
        return len(self._positions([""], cut=False))

    def _conversation(self, text: str) -> tuple[str, int, Span]:
        """The text in the template, by how much it stands later there, and what of it does.

        Raises:
            AttrialError: If the tokenizer has no template, or it changes the text.
        """
        start = self._template(MARK).find(MARK)
        whole = self._template(text)
        for said in (text, text.strip()):  # many templates strip
            if start >= 0 and whole[start:].startswith(said):
                before = text.index(said)
                return whole, start - before, Span(0, before, before + len(said))
        raise AttrialError(f"the template of the chat changes what the user says: {text[:40]!r}")

    def _template(self, text: str) -> str:
        if not self.tokenizer.chat_template:
            raise AttrialError("the tokenizer has no chat_template, so that the model can't chat")
        said = [{"role": "user", "content": text}]
        return str(
            self.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        )

    def ask(self, x: Example, continuations: Sequence[str], fixed: Triples = ()) -> Example:
        """The example with its continuations, of which the first is explained.

        Args:
            x: The prompt.
            continuations: What follows it: text, also where it looks like a special token.
            fixed: As the prompt was encoded with.

        Raises:
            AttrialError: If one is empty, said twice, or its first token would merge with the
                prompt's last.
        """
        prompt, stay = x.text[0], fixed
        if self.chat:
            prompt, by, said = self._conversation(x.text[0])
            stay = (*_moved(fixed, by), *_around(prompt, by, said))
        spans = [Span(*s) for s in stay]
        options = tuple(self._continued(prompt, text, spans) for text in continuations)
        self.check_apart(x, continuations, options)
        return replace(x, options=options, labels=tuple(continuations), explained=0)

    def _continued(self, prompt: str, continuation: str, fixed: Sequence[Span]) -> tuple[int, ...]:
        """Tokens that follow the prompt's own in the two as one text."""
        before, whole = (self._ids(t, fixed) for t in (prompt, prompt + continuation))
        if whole[: len(before)] != before or len(whole) == len(before):
            raise AttrialError(
                f"continuation {continuation!r} doesn't begin with a token of its own after "
                f"{prompt[-20:]!r}; white space between the two must begin the continuation"
            )
        return tuple(whole[len(before) :])

    def _ids(self, text: str, fixed: Sequence[Span]) -> list[int]:
        return [p.id for p in self._positions([text], fixed, cut=False)]

    def _positions(
        self, texts: Sequence[str], fixed: Sequence[Span] = (), *, cut: bool
    ) -> list[Position]:
        if len(texts) != 1:
            raise AttrialError("a causal language model takes one text, not a pair")
        read = positions(self.tokenizer, texts, fixed, template=not self.chat)
        found = [replace(p, type=0) for p in read]
        if not self.chat:
            found = [*self._anchored, *found]
        while len(found) > 1 and found[-1].span is None:
            found.pop()  # an end of text, after which nothing would follow
        return self._shortened(found) if cut else found

    def _shortened(self, found: list[Position]) -> list[Position]:
        """Positions without the first ones of the text, as many as are too many."""
        over = len(found) - self.limit
        if self.chat:
            raise AttrialError(f"the conversation is {over} tokens longer than the model takes")
        text = [i for i, p in enumerate(found) if p.span is not None]
        gone = set(text[:over])
        return [p for i, p in enumerate(found) if i not in gone]


def _around(whole: str, by: int, said: Span) -> Triples:
    """The parts of a conversation that are the template's."""
    parts = ((0, 0, by + said.start), (0, by + said.end, len(whole)))
    return [part for part in parts if part[1] < part[2]]


def _moved(spans: Triples, by: int) -> tuple[tuple[int, int, int], ...]:
    return tuple((text, start + by, end + by) for text, start, end in spans)
