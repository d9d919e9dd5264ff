"""What is loaded with its tokenizer: from a folder, from the Hub, or as objects at hand."""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.auto_factory import _BaseAutoModelClass

from attrial.models import pairing
from attrial.models.forward import Forward
from attrial.models.loading import Source, fetch, source
from attrial.models.probing import forward_of
from attrial.record import ModelSpec


class Loadable:
    """A model of one kind, and its tokenizer.

    Attributes:
        KIND: One of ``loading.ENDINGS``.
        AUTO: What loads that kind.
        FORWARDS: What its forward may be, the first that fits; None for those of classifiers.
    """

    KIND: ClassVar[str]
    AUTO: ClassVar[type[_BaseAutoModelClass]]
    FORWARDS: ClassVar[tuple[type[Forward], ...] | None] = None

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
        """Load a model from a folder or the Hub; safetensors only, no code of its own is run.

        Args:
            place: A folder, or a name on the Hub.
            revision: Of the Hub's repository.
            dtype: Of the weights, whatever the checkpoint's.
            device: As torch names it.
            batch_tokens: Token positions of one batch; None for what measurement found best.

        Raises:
            AttrialError: If there is no trained one of its kind there, or it can't be fetched.
        """
        src = source(place, revision)
        model, tokenizer = cls.fetched(src, dtype=dtype, device=device)
        found = getattr(model.config, "_commit_hash", None)
        return cls._built(model, tokenizer, src.name, found or src.revision, batch_tokens)

    @classmethod
    def fetched(
        cls, src: Source, *, dtype: str, device: str
    ) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """A trained model of this kind in eval mode, and what reads its inputs.

        Raises:
            AttrialError: If there is none at that place.
        """
        return fetch(src, dtype=dtype, device=device, kind=cls.KIND, auto=cls.AUTO)

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
    def _built(
        cls,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        name: str,
        revision: str | None,
        batch_tokens: int | None,
    ) -> Self:
        cls.check(model, tokenizer)
        pad, tokens = pairing.padding(model, tokenizer), batch_tokens or pairing.budget(model)
        forward = forward_of(model, pad=pad, tokens=tokens, kinds=cls.FORWARDS)
        return cls.paired(forward, tokenizer, pairing.spec(forward, name, revision))

    @classmethod
    def check(cls, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """Refuse what is no pair of this kind.

        Raises:
            AttrialError: It says why.
        """
        pairing.check(model, tokenizer, kind=cls.KIND)

    @classmethod
    @abstractmethod
    def paired(cls, forward: Forward, tokenizer: PreTrainedTokenizerBase, spec: ModelSpec) -> Self:
        """Put a model that was probed behind the questions, with an encoder of its texts."""
