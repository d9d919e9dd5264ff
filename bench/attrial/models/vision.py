"""Image classifiers behind the questions: any vision transformer that cuts images into patches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.image_processing_utils import BaseImageProcessor

from attrial.ask import Relevance, Relevances, Slope, Slopes, Suppress
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Floats
from attrial.models import pairing
from attrial.models.gradients import path, slopes
from attrial.models.guard import guarded
from attrial.models.loading import Source
from attrial.models.text import TextClassifier
from attrial.models.vision_asking import PatchBaselines, propagated, suppressed
from attrial.models.vision_encode import Box, ImageEncoder, Picture
from attrial.models.vision_forward import VisionForward, forward_of, patched
from attrial.models.vision_loading import fetch
from attrial.patches import ImageVocabulary
from attrial.subject import Subject


@dataclass(frozen=True, eq=False)
class VisionClassifier(TextClassifier):
    """An image classifier with its processor; satisfies ``attrial.subject.Model``.

    Build one with ``VisionClassifier.load`` (a folder or a name on the Hub) or
    ``VisionClassifier.of`` (loaded objects). A text is what it takes none of; the rest is what
    every classifier does, on rows of patches.

    Attributes:
        forward: The model on rows of patches, and what it can do.
        encoder: The image processor, and how images are cut into players.
        vocabulary: What can stand for removed patches.
    """

    forward: VisionForward
    encoder: ImageEncoder  # type: ignore[assignment]  # it cuts images, which are no texts
    vocabulary: ImageVocabulary

    @classmethod
    def fetched(  # type: ignore[override]  # it reads images, by a processor
        cls, src: Source, *, dtype: str, device: str
    ) -> tuple[PreTrainedModel, BaseImageProcessor]:
        """A trained image classifier in eval mode, and its image processor.

        Raises:
            AttrialError: If there is none at that place.
        """
        return fetch(src, dtype=dtype, device=device)

    @classmethod
    def of(
        cls,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase | BaseImageProcessor,
        *,
        name: str | None = None,
        batch_tokens: int | None = None,
    ) -> Self:
        """Take a loaded model and its image processor; its modes are its own after each question.

        Raises:
            AttrialError: If that is no image processor, or its patches can't be told apart.
        """
        if not isinstance(tokenizer, BaseImageProcessor):
            raise AttrialError(
                f"an image classifier goes with its image processor, not {type(tokenizer).__name__}"
            )
        return cls._built(model, tokenizer, name or type(model).__name__, None, batch_tokens)

    @classmethod
    def _built(  # type: ignore[override]
        cls,
        model: PreTrainedModel,
        tokenizer: BaseImageProcessor,
        name: str,
        revision: str | None,
        batch_tokens: int | None,
    ) -> Self:
        inner = patched(model)
        forward = forward_of(inner, tokens=batch_tokens or pairing.budget(model))
        patches, can = inner.words.patches, {"keep", "slope", "relevance", "soften"}
        if forward.square:
            can |= {"attend", "suppress", "layers"}
        spec = pairing.spec(forward, name, revision)
        words = ImageVocabulary(patches=patches, drops=forward.drops > 0)
        return cls(forward, ImageEncoder(tokenizer, patches), words, spec, frozenset(can))

    @property
    def limit(self) -> int:
        """The most positions of an input; images are always cut into as many."""
        return self.encoder.patches.prefix + self.encoder.patches.count

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
        """Refuse a text.

        Raises:
            AttrialError: Always.
        """
        raise AttrialError(f"{self.spec.name} classifies images: it takes no text")

    def see(
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

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Gradients of each ask's target with respect to the patch embeddings, at its points.

        Raises:
            NotApplicable: If there is no such baseline.
        """
        baselines = PatchBaselines(self.forward.model, self.vocabulary)
        with guarded(self.forward.model):
            paths = [path(subject, ask, self.forward, baselines) for subject, ask in asks]
            return slopes(paths, self.forward) if paths else []

    def relevance(self, asks: Sequence[tuple[Subject, Relevance]]) -> list[Relevances]:
        """Relevance of the patch embeddings on each ask's full input."""
        with guarded(self.forward.model):
            return [propagated(subject, ask, self.forward) for subject, ask in asks]

    def suppress(self, asks: Sequence[tuple[Subject, Suppress]]) -> list[Floats]:
        """Raw outputs (k, classes) of each ask's shares: players are attended to less."""
        with guarded(self.forward.model):
            return suppressed(asks, self.forward)
