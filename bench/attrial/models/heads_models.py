"""Token classifiers and answer finders behind the questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import torch
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForTokenClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from attrial.batching import Batch
from attrial.errors import AttrialError, near
from attrial.example import Example
from attrial.models import pairing
from attrial.models.encode import Encoder
from attrial.models.forward import Forward
from attrial.models.guard import guarded
from attrial.models.heads_encode import Placing
from attrial.models.heads_placed import END, START, Answering, Labelling
from attrial.models.loading import ANSWERER, LABELLER
from attrial.models.text import TextClassifier
from attrial.record import ModelSpec
from attrial.removal import in_place, stack

Triples = Sequence[tuple[int, int, int]]
LONGEST = 30  # tokens of a predicted answer
ENDS = {"start": START, "end": END}
ONE = np.array([0])  # the only row of a batch


@dataclass(frozen=True, eq=False)
class Headed(TextClassifier):
    """A text model with another head than a sequence classifier's.

    Build one with ``load`` (a folder or a name on the Hub) or ``of`` (loaded objects).
    """

    ENCODER: ClassVar[type[Encoder]] = Placing
    LACKS: ClassVar[frozenset[str]] = frozenset()  # questions that have no answer here

    @classmethod
    def check(cls, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """Refuse what is no pair of this kind, or has two stacks."""
        super().check(model, tokenizer)
        if model.config.is_encoder_decoder:
            raise AttrialError(f"{type(model).__name__} has two stacks; a {cls.KIND} has one here")

    @classmethod
    def paired(cls, forward: Forward, tokenizer: PreTrainedTokenizerBase, spec: ModelSpec) -> Self:
        """Put a model behind the questions, with its head's own encoder."""
        room, told = pairing.limit(forward, tokenizer), pairing.segments(forward, tokenizer)
        forward = cls.fitted(forward, segments=told)
        encoder = cls.ENCODER(tokenizer, room, told, pairing.anchor(tokenizer))
        words = pairing.vocabulary(tokenizer)
        return cls(forward, encoder, words, spec, pairing.answers(forward) - cls.LACKS)

    @classmethod
    def fitted(cls, forward: Forward, *, segments: bool) -> Forward:
        """The forward, told whether texts stand in segments."""
        return forward

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
        """Cut texts into players around what is asked about; every head has its own way."""
        raise NotImplementedError

    @property
    def places(self) -> Placing:
        """Its encoder of texts."""
        assert isinstance(self.encoder, Placing)
        return self.encoder


@dataclass(frozen=True, eq=False)
class TokenModel(Headed):
    """A token classifier: the classes are the labels of one word, read at its first token.

    That word always stays and is no player; the others are.
    """

    KIND = LABELLER
    AUTO = AutoModelForTokenClassification
    FORWARDS = (Labelling,)

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
        """Cut texts into players around the word (or token, if these are players) ``position``.

        Raises:
            AttrialError: What ``Placing`` says, or that no position is given.
        """
        if options or prefix:
            raise AttrialError(f"{self.spec.name} is a {self.KIND}: it continues no text")
        if position is None:
            raise AttrialError(
                f"example {id!r}: a token classifier labels every word; say which one is asked "
                "about: position, counted from 0"
            )
        read = self.places.token_of(id, texts, position, players=players, fixed=fixed)
        return self.places.placed(
            id, texts, read,
            players=players, evidence=evidence, label=label, spans=spans, fixed=fixed,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class AnswerModel(Headed):
    """An answer finder: how likely the answer begins, or ends, at one word of the second text.

    The texts are the question and the context. The word asked about always stays.
    """

    KIND = ANSWERER
    AUTO = AutoModelForQuestionAnswering
    FORWARDS = (Answering,)

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
        """Cut question and context into players around the place where an answer starts or ends.

        Which of the two is the only option: ``start`` (by default) or ``end``. The place is the
        word (or token, if these are players) ``position``, counted over both texts; by default that
        where the predicted answer starts or ends.

        Raises:
            AttrialError: What ``Placing`` says, or that there are not two texts, or another option.
        """
        if len(texts) != 2 or prefix:
            raise AttrialError(f"example {id!r}: an answer finder takes a question and a context")
        end = options[0] if options else "start"
        if end not in ENDS or len(options) > 1:
            raise AttrialError(f"an answer has no {' and '.join(options)!r}; {near(end, ENDS)}")
        if position is None:
            read = self.answer(texts, fixed)[end == "end"]
        else:
            read = self.places.token_of(
                id, texts, position, players=players, fixed=fixed, last=end == "end"
            )
        x = self.places.placed(
            id, texts, read,
            players=players, evidence=evidence, label=label, spans=spans, fixed=fixed,
        )  # fmt: skip
        option, token = ENDS[end], self.places.kept(texts, fixed)[read].span
        assert token is not None
        told = f"{end} at {texts[token.text][token.start : token.end]!r}"
        return replace(x, options=(option,), labels=(told,), explained=0)

    def answer(self, texts: Sequence[str], fixed: Triples = ()) -> tuple[int, int]:
        """Positions of the first and last token of the likeliest answer within the second text.

        It is the highest sum of the two logits over spans of at most ``LONGEST`` tokens.
        """
        x = self.encoder.encode("answer", texts, fixed=fixed)
        with guarded(self.forward.model), torch.inference_mode():
            rows = stack([in_place(x, 1)], width=len(x.ids), pad=self.forward.pad)
            logits = self.forward.raw(self.forward.arguments(rows, Batch(len(x.ids), ONE, 1)))
        starts, ends = logits[0].double().cpu().numpy().T
        kept = self.places.kept(texts, fixed)
        there = [p.span is not None and p.span.text == 1 for p in kept]
        apart = np.subtract.outer(np.arange(len(ends)), np.arange(len(starts))).T
        allowed = np.logical_and.outer(there, there) & (apart >= 0) & (apart < LONGEST)
        both = np.where(allowed, np.add.outer(starts, ends), -np.inf)
        first, last = np.unravel_index(both.argmax(), both.shape)
        return int(first), int(last)
