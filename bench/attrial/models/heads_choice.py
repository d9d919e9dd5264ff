"""Multiple-choice models behind the questions: the choices are classes, the context has players."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor
from transformers import AutoModelForMultipleChoice

from attrial.batching import Batch
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Ints
from attrial.models.continuing import Continuing, appended
from attrial.models.copies import OPTIONS, OWN, WIDTH, extent, given
from attrial.models.encode import Encoder
from attrial.models.forward import Arguments, Forward
from attrial.models.heads_models import Headed
from attrial.models.loading import CHOOSER
from attrial.models.players import Span
from attrial.models.verbatim import Position
from attrial.removal import NO_TOKEN, Rows

Triples = Sequence[tuple[int, int, int]]


@dataclass(frozen=True, eq=False)
class Choosing(Continuing):
    """A forward whose raw outputs are the logits (R, C) of the rows' C choices.

    Each choice is appended to a copy of the row, at the places after its last token, in the
    ``second`` segment. Nothing is dropped from rows, so that choices stay at their places.
    """

    second: int = 0

    def columns(self, options: int) -> int:
        """How many raw outputs a row has that has so many choices."""
        return options or 1

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch: a row for each choice."""
        if rows.options is None:
            return Forward.arguments(self, rows, batch)
        count, length = extent(rows.options[batch.rows[:1]])[0].tolist()
        options = rows.options[batch.rows, :count, :length]
        longer = appended(rows, batch, _closed(options))
        ends = np.repeat(rows.lengths[batch.rows, None], count, axis=0)
        places = np.arange(longer.ids.shape[1])
        behind = (places >= ends) & (places < longer.lengths[:, None])
        longer = replace(longer, types=np.where(behind, self.second, longer.types))
        whole = Batch(len(places), np.arange(len(longer.ids)), batch.fresh * count)
        width = np.zeros((1, batch.width), bool)
        own = self._tensors({OPTIONS: options, OWN: places < ends, WIDTH: width})
        return Forward.arguments(self, longer, whole) | own

    def raw(self, arguments: Arguments) -> Tensor:
        """The model's logits (R', 1), each choice called alone."""
        named = given(arguments)
        named["input_ids"] = named["input_ids"][:, None]  # the others are taken row by row too
        logits: Tensor = self.model(**named).logits
        return logits

    def answered(self, raw: Tensor, arguments: Arguments) -> Tensor:
        """Raw outputs (R, C)."""
        return raw.reshape(len(arguments[OPTIONS]), -1) if OPTIONS in arguments else raw

    def _dropped(self, rows: Rows) -> Rows:
        return rows


def _closed(options: Ints) -> Ints:
    """Choices (R, C, m) with one more token each, which is appended to nothing: (R, C, m + 1)."""
    out = np.pad(options, [(0, 0), (0, 0), (0, 1)], constant_values=NO_TOKEN)
    np.put_along_axis(out, (options != NO_TOKEN).sum(axis=2)[:, :, None], 0, axis=2)
    return out


@dataclass(frozen=True)
class Choices(Encoder):
    """An encoder of a context, and a question that is read before each choice.

    Attributes:
        asked: The choices, where they are known.
    """

    asked: tuple[str, ...] = ()

    def about(self, texts: Sequence[str], choices: Sequence[str]) -> "Choices":
        """The same, knowing the choices, with as much room for the texts as they leave."""
        knowing = replace(self, asked=tuple(choices))
        longest = max(map(len, knowing.tails(texts)))
        return replace(knowing, limit=self.limit - longest)

    def tails(self, texts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Ids of each choice, with what ends a text; beginnings are those of all.

        Raises:
            AttrialError: If a choice merges with the question, so that none is shared.
        """
        both = [self._split(texts, choice) for choice in self.asked]
        if any([p.id for p in head] != [p.id for p in both[0][0]] for head, _ in both):
            raise AttrialError("choices don't begin with a token of their own after the question")
        return tuple(tuple(p.id for p in tail) for _, tail in both)

    def _split(
        self, texts: Sequence[str], choice: str, fixed: Sequence[Span] = ()
    ) -> tuple[list[Position], list[Position]]:
        question = texts[1] if len(texts) > 1 else ""
        second = f"{question} {choice}" if question else choice
        found = super()._positions([texts[0], second], fixed, cut=False)
        spans = [p.span for p in found]
        at = next(
            i for i, s in enumerate(spans) if s is not None and s.text and s.end > len(question)
        )
        return found[:at], found[at:]

    def _positions(
        self, texts: Sequence[str], fixed: Sequence[Span] = (), *, cut: bool
    ) -> list[Position]:
        found, _ = self._split(texts, self.asked[0], fixed)
        over = max(0, len(found) - self.limit) if cut else 0
        first = [i for i, p in enumerate(found) if p.span is not None and p.span.text == 0]
        if over >= len(first):
            raise AttrialError(f"question and choices leave no room for the context: {self.limit}")
        gone = set(first[len(first) - over :])
        return [p for i, p in enumerate(found) if i not in gone]


@dataclass(frozen=True, eq=False)
class ChoiceModel(Headed):
    """A multiple-choice model: the classes are an example's choices, which always stay.

    Players are those of the context, and of the question if there is one.
    """

    KIND = CHOOSER
    AUTO = AutoModelForMultipleChoice
    FORWARDS = (Choosing,)
    ENCODER = Choices
    LACKS = frozenset({"attend", "layers"})  # each choice is read with the context in its own way

    @classmethod
    def fitted(cls, forward: Forward, *, segments: bool) -> Forward:
        """The forward, which puts choices into the second segment where there is one."""
        assert isinstance(forward, Choosing)
        return replace(forward, second=int(segments))

    @property
    def labels(self) -> tuple[str, ...]:
        """None: each example brings its own."""
        return ()

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
        options: Sequence[str] = (),
        prefix: str = "",
        position: int | None = None,
    ) -> Example:
        """Cut a context, and a question if there is one, into players; ``options`` are the choices.

        Raises:
            AttrialError: What ``Encoder.encode`` and ``Choices`` say, or that there are fewer than
                two choices, an empty one, or two alike.
        """
        if prefix or position is not None:
            raise AttrialError(f"{self.spec.name} is a {self.KIND}: it takes texts and choices")
        if len(set(options)) < 2 or len(set(options)) < len(options):
            raise AttrialError(f"example {id!r}: two or more choices are needed, none said twice")
        if not all(option.strip() for option in options):
            raise AttrialError(f"example {id!r}: a choice is empty")
        assert isinstance(self.encoder, Choices)
        encoder = self.encoder.about(texts, options)
        x = encoder.encode(
            id, texts, players=players, evidence=evidence, label=label, spans=spans, fixed=fixed
        )
        return replace(x, options=encoder.tails(texts), labels=tuple(options))
