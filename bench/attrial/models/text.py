"""Text classifiers behind the questions: any encoder of transformers with a classification head."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerBase
from transformers.models.auto.auto_factory import _BaseAutoModelClass

from attrial.ask import (
    Attend,
    Attention,
    Infill,
    Layers,
    Relevance,
    Relevances,
    Slope,
    Slopes,
    Soften,
    Suppress,
)
from attrial.batching import portions
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.filling import Filler
from attrial.masks import Floats, Masks
from attrial.models import heads, pairing
from attrial.models.attention import attention
from attrial.models.embedding import Baselines
from attrial.models.encode import Encoder
from attrial.models.forward import Forward
from attrial.models.gradients import path, slopes
from attrial.models.guard import guarded
from attrial.models.intervening import infilled, softened, suppressed
from attrial.models.layers import layered
from attrial.models.loadable import Loadable
from attrial.models.loading import CLASSIFIER
from attrial.models.propagated import propagated
from attrial.record import ModelSpec
from attrial.removal import Rows, Vocabulary, in_place, possible, remove
from attrial.value import Subject

HELD_TOKENS = 1 << 21  # token positions whose rows are held in memory at once


@dataclass(frozen=True, eq=False)
class TextClassifier(Loadable):
    """A sequence classifier with its tokenizer; satisfies ``attrial.value.Model``.

    Build one with ``TextClassifier.load`` (a folder or a name on the Hub) or ``TextClassifier.of``
    (loaded objects).

    Attributes:
        forward: The model, and what its forward takes.
        encoder: The tokenizer, and how text is cut into players.
        vocabulary: Tokens that can stand for removed ones.
        spec: What names it in a record.
        answers: Which questions it can answer.
    """

    forward: Forward
    encoder: Encoder
    vocabulary: Vocabulary
    spec: ModelSpec
    answers: frozenset[str]

    KIND: ClassVar[str] = CLASSIFIER
    AUTO: ClassVar[type[_BaseAutoModelClass]] = AutoModelForSequenceClassification

    @classmethod
    def paired(cls, forward: Forward, tokenizer: PreTrainedTokenizerBase, spec: ModelSpec) -> Self:
        """Put a classifier behind the questions."""
        words = replace(pairing.vocabulary(tokenizer), embeddings=forward.replaceable)
        if forward.causal or forward.model.config.is_encoder_decoder:
            words = replace(words, pad=None)  # its head takes padding for the end of the text
        room, told = pairing.limit(forward, tokenizer), pairing.segments(forward, tokenizer)
        start, several = pairing.anchor(tokenizer), heads.apart(forward.model.config)
        encoder = Encoder(tokenizer, room, told, start, forward.last, several)
        return cls(forward, encoder, words, spec, pairing.answers(forward))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the outputs."""
        names = {int(i): name for i, name in (self.forward.model.config.id2label or {}).items()}
        return tuple(names[i] for i in range(self.forward.classes))

    @property
    def limit(self) -> int:
        """The most tokens of an input, special ones included; longer texts are cut."""
        return self.encoder.limit

    @cached_property
    def removals(self) -> tuple[str, ...]:
        """Names of the removals that it can do."""
        return tuple(possible(self.vocabulary))

    def filled_by(self, filler: Filler) -> "TextClassifier":
        """The same model with something that draws stand-ins for removed tokens."""
        vocabulary = replace(self.vocabulary, filler=filler)
        return replace(self, vocabulary=vocabulary, answers=self.answers | {"infill"})

    def encode(
        self,
        id: str,
        texts: Sequence[str],
        *,
        players: str = "words",
        evidence: Sequence[tuple[int, int, int]] | None = None,
        label: int | None = None,
        spans: Sequence[tuple[int, int, int]] = (),
        fixed: Sequence[tuple[int, int, int]] = (),
        options: Sequence[str] = (),
        prefix: str = "",
    ) -> Example:
        """Cut one text, or a pair, into players; see ``Encoder.encode``. It continues no text."""
        if options or prefix:
            raise AttrialError(f"{self.spec.name} is a classifier: it continues no text")
        return self.encoder.encode(
            id, texts, players=players, evidence=evidence, label=label, spans=spans, fixed=fixed
        )

    def predict(self, examples: Sequence[Example]) -> list[int]:
        """The class of each full input; the first one of equals."""
        held = portions([1] * len(examples), _most(examples))
        with guarded(self.forward.model):
            parts = [[in_place(examples[i], 1) for i, _ in portion] for portion in held]
            outputs = [self.forward.outputs(part) for part in parts]
        return [int(c) for part in outputs for c in np.nanargmax(part, axis=1)]

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """Raw outputs (k, classes) of each ask's masks, under its subject's removal.

        Raises:
            NotApplicable: If the model can't do the removal; those it can are named.
        """
        columns = [self.forward.columns(len(s.example.options)) for s, _ in asks]
        out = [np.empty((len(q), wide)) for (_, q), wide in zip(asks, columns, strict=True)]
        most = _most([s.example for s, _ in asks])
        with guarded(self.forward.model):
            for portion in portions([len(masks) for _, masks in asks], most):
                parts = [self._rows(asks[i][0], asks[i][1][rows]) for i, rows in portion]
                ends = np.cumsum([rows.stop - rows.start for _, rows in portion])[:-1]
                outputs = np.split(self.forward.outputs(parts), ends)
                for (i, rows), found in zip(portion, outputs, strict=True):
                    out[i][rows] = found[:, : columns[i]]
        return out

    def _rows(self, subject: Subject, masks: Masks) -> Rows:
        kept = subject.example.to_positions(masks)
        return remove(subject.example, kept, removal=subject.removal, vocabulary=self.vocabulary)

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Gradients of each ask's target with respect to the word embeddings, at its points.

        Raises:
            NotApplicable: If the baseline's token is lacking, or embeddings can't be replaced.
        """
        baselines = Baselines(self.forward.model, self.vocabulary)
        with guarded(self.forward.model):
            paths = [path(subject, ask, self.forward, baselines) for subject, ask in asks]
            return slopes(paths, self.forward) if paths else []

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """Attention weights on each ask's full input, one pass an ask.

        Raises:
            AttrialError: If folded weights with gradients are asked for.
            NotApplicable: If the model doesn't let its attention weights be seen, or scaled.
        """
        with guarded(self.forward.model):
            return [attention(subject, ask, self.forward) for subject, ask in asks]

    def relevance(self, asks: Sequence[tuple[Subject, Relevance]]) -> list[Relevances]:
        """Relevance of the word embeddings on each ask's full input, one pass an ask.

        Raises:
            AttrialError: For an unknown rule.
            NotApplicable: If attention is one fused operation that can't be taken apart.
        """
        with guarded(self.forward.model):
            return [propagated(subject, ask, self.forward) for subject, ask in asks]

    def soften(self, asks: Sequence[tuple[Subject, Soften]]) -> list[Floats]:
        """Raw outputs (k, classes) of each ask's shares: embeddings fade element by element."""
        with guarded(self.forward.model):
            return softened(asks, self.forward)

    def suppress(self, asks: Sequence[tuple[Subject, Suppress]]) -> list[Floats]:
        """Raw outputs (k, classes) of each ask's shares: players are attended to less."""
        with guarded(self.forward.model):
            return suppressed(asks, self.forward)

    def infill(self, asks: Sequence[tuple[Subject, Infill]]) -> list[Floats]:
        """Raw outputs (k, classes) of each ask's masks: stand-ins for what is removed."""
        with guarded(self.forward.model):
            return infilled(asks, self.forward, self.vocabulary.filler)

    def layers(self, asks: Sequence[tuple[Subject, Layers]]) -> list[Attention]:
        """What each layer hands from position to position; raises like ``attend``."""
        with guarded(self.forward.model):
            return [layered(subject, ask, self.forward) for subject, ask in asks]


def _most(examples: Sequence[Example]) -> int:
    """Rows that are held at once."""
    return max(1, HELD_TOKENS // max((len(x.ids) for x in examples), default=1))
