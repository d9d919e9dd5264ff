"""What language models of both kinds share: how they are loaded, and what they show."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from attrial.models.growing import shown
from attrial.models.loading import fetch, source
from attrial.models.text import TextClassifier


@dataclass(frozen=True, eq=False)
class LanguageModel(TextClassifier):
    """A model that continues texts, whose classes are the continuations asked about.

    Build one with ``load`` (a folder or a name on the Hub) or ``of`` (loaded objects). Raw outputs
    are log-probabilities, as ``Continuing`` says.
    """

    KIND: ClassVar[str]
    AUTO: ClassVar[type]

    @classmethod
    def load(
        cls,
        place: str | Path,
        *,
        revision: str | None = None,
        dtype: str = "float32",
        device: str = "cpu",
        batch_tokens: int | None = None,
    ) -> Self:
        """Load a model from a folder or the Hub; arguments are those of ``TextClassifier.load``.

        Raises:
            AttrialError: If there is no trained one there, or it can't be fetched.
        """
        src = source(place, revision)
        model, tokenizer = fetch(src, dtype=dtype, device=device, kind=cls.KIND, auto=cls.AUTO)
        found = getattr(model.config, "_commit_hash", None)
        return cls._built(model, tokenizer, src.name, found or src.revision, batch_tokens)

    @classmethod
    def of(
        cls,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str | None = None,
        batch_tokens: int | None = None,
    ) -> Self:
        """Take a loaded model; its modes are its own again after each question.

        Raises:
            AttrialError: If it is of another kind, or the tokenizer is not a fast one.
        """
        return cls._built(model, tokenizer, name or type(model).__name__, None, batch_tokens)

    @classmethod
    @abstractmethod
    def _built(
        cls,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        name: str,
        revision: str | None,
        batch_tokens: int | None,
    ) -> Self:
        """Put a model and its tokenizer behind the questions."""

    @property
    def labels(self) -> tuple[str, ...]:
        """None: each example brings its own."""
        return ()

    def shown(self, said: Sequence[int]) -> tuple[str, ...]:
        """What each token adds to the text, for the eye alone."""
        return shown(self.encoder.tokenizer, said)
