"""Image classifiers behind the questions: any vision transformer that cuts images into patches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from transformers import PreTrainedModel
from transformers.image_processing_utils import BaseImageProcessor

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
from attrial.example import Example
from attrial.filling import Filler
from attrial.masks import Floats, Masks
from attrial.models import pairing
from attrial.models.attention import attention
from attrial.models.gradients import path, slopes
from attrial.models.guard import guarded
from attrial.models.intervening import infilled, softened
from attrial.models.layers import layered
from attrial.models.loading import source
from attrial.models.vision_asking import PatchBaselines, propagated, suppressed
from attrial.models.vision_encode import Box, ImageEncoder, Picture
from attrial.models.vision_forward import VisionForward, forward_of, patched
from attrial.models.vision_loading import fetch
from attrial.patches import ImageVocabulary
from attrial.record import ModelSpec
from attrial.removal import Rows, in_place, possible, remove
from attrial.subject import Subject

HELD_TOKENS = 1 << 20  # positions whose rows are held in memory at once


@dataclass(frozen=True, eq=False)
class VisionClassifier:
    """An image classifier with its processor; satisfies ``attrial.subject.Model``.

    Build one with ``VisionClassifier.load`` (a folder or a name on the Hub) or
    ``VisionClassifier.of`` (loaded objects).

    Attributes:
        forward: The model on rows of patches, and what it can do.
        encoder: The image processor, and how images are cut into players.
        vocabulary: What can stand for removed patches.
        spec: What names it in a record.
        answers: Which questions it can answer.
    """

    forward: VisionForward
    encoder: ImageEncoder
    vocabulary: ImageVocabulary
    spec: ModelSpec
    answers: frozenset[str]

    @classmethod
    def load(
        cls,
        place: str | Path,
        *,
        revision: str | None = None,
        dtype: str = "float32",
        device: str = "cpu",
        batch_tokens: int | None = None,
    ) -> "VisionClassifier":
        """Load a classifier from a folder or the Hub; safetensors only, no code of its own is run.

        Args:
            place: A folder, or a name on the Hub.
            revision: Of the Hub's repository.
            dtype: Of the weights, whatever the checkpoint's.
            device: As torch names it.
            batch_tokens: Positions of one batch; None for what suits its size.

        Raises:
            AttrialError: If there is no trained image classifier there, or it can't be fetched.
        """
        src = source(place, revision)
        model, processor = fetch(src, dtype=dtype, device=device)
        found = getattr(model.config, "_commit_hash", None)
        return _build(model, processor, src.name, found or src.revision, batch_tokens)

    @classmethod
    def of(
        cls,
        model: PreTrainedModel,
        processor: BaseImageProcessor,
        *,
        name: str | None = None,
        batch_tokens: int | None = None,
    ) -> "VisionClassifier":
        """Take a loaded model; its modes are its own again after each question.

        Raises:
            AttrialError: If its patches can't be told apart.
        """
        return _build(model, processor, name or type(model).__name__, None, batch_tokens)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the outputs."""
        names = {int(i): name for i, name in (self.forward.model.config.id2label or {}).items()}
        return tuple(names[i] for i in range(self.forward.classes))

    @property
    def limit(self) -> int:
        """The most positions of an input; images are always cut into as many."""
        return self.encoder.patches.prefix + self.encoder.patches.count

    @cached_property
    def removals(self) -> tuple[str, ...]:
        """Names of the removals that it can do."""
        return tuple(possible(self.vocabulary))

    def filled_by(self, filler: Filler) -> "VisionClassifier":
        """The same model with something that draws stand-ins for removed patches."""
        vocabulary = replace(self.vocabulary, filler=filler)
        return replace(self, vocabulary=vocabulary, answers=self.answers | {"infill"})

    def encode(
        self,
        id: str,
        image: Picture,
        *,
        players: str = "patches",
        evidence: Sequence[Box] | None = None,
        label: int | None = None,
    ) -> Example:
        """Cut an image into players; see ``ImageEncoder.encode``."""
        return self.encoder.encode(id, image, players=players, evidence=evidence, label=label)

    def predict(self, examples: Sequence[Example]) -> list[int]:
        """The class of each full input; the first one of equals."""
        with guarded(self.forward.model):
            outputs = [
                self.forward.outputs([in_place(examples[i], 1) for i, _ in portion])
                for portion in portions([1] * len(examples), self._most)
            ]
        return [int(c) for part in outputs for c in part.argmax(axis=1)]

    @property
    def _most(self) -> int:
        """Rows that are held at once."""
        return max(1, HELD_TOKENS // self.limit)

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """Raw outputs (k, classes) of each ask's masks, under its subject's removal.

        Raises:
            NotApplicable: If the model can't do the removal; those it can are named.
        """
        out = [np.empty((len(masks), self.forward.classes)) for _, masks in asks]
        with guarded(self.forward.model):
            for portion in portions([len(masks) for _, masks in asks], self._most):
                parts = [self._rows(asks[i][0], asks[i][1][rows]) for i, rows in portion]
                ends = np.cumsum([rows.stop - rows.start for _, rows in portion])[:-1]
                found = np.split(self.forward.outputs(parts), ends)
                for (i, rows), outputs in zip(portion, found, strict=True):
                    out[i][rows] = outputs
        return out

    def _rows(self, subject: Subject, masks: Masks) -> Rows:
        kept = subject.example.to_positions(masks)
        return remove(subject.example, kept, removal=subject.removal, vocabulary=self.vocabulary)

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Gradients of each ask's target with respect to the patch embeddings, at its points.

        Raises:
            NotApplicable: If there is no such baseline.
        """
        baselines = PatchBaselines(self.forward.model, self.vocabulary)
        with guarded(self.forward.model):
            paths = [path(subject, ask, self.forward, baselines) for subject, ask in asks]
            return slopes(paths, self.forward) if paths else []

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """Attention weights on each ask's full input, one pass an ask."""
        with guarded(self.forward.model):
            return [attention(subject, ask, self.forward) for subject, ask in asks]

    def relevance(self, asks: Sequence[tuple[Subject, Relevance]]) -> list[Relevances]:
        """Relevance of the patch embeddings on each ask's full input."""
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
        """What each layer hands from position to position on each ask's full input."""
        with guarded(self.forward.model):
            return [layered(subject, ask, self.forward) for subject, ask in asks]


def _build(
    inner: PreTrainedModel,
    processor: BaseImageProcessor,
    name: str,
    revision: str | None,
    batch_tokens: int | None,
) -> VisionClassifier:
    model = patched(inner)
    forward = forward_of(model, tokens=batch_tokens or pairing.budget(inner))
    patches, can = model.words.patches, {"keep", "slope", "relevance", "soften"}
    if forward.square:
        can |= {"attend", "suppress", "layers"}
    weights, dtype = pairing.digest(inner), str(inner.dtype).removeprefix("torch.")
    spec = ModelSpec(name=name, revision=revision, weights=weights, dtype=dtype)
    words = ImageVocabulary(patches=patches, drops=forward.drops > 0)
    return VisionClassifier(forward, ImageEncoder(processor, patches), words, spec, frozenset(can))
