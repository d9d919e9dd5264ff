"""Classifiers from whatever names or holds one."""

from collections.abc import Sequence
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from attrial import registry
from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.models.masked import load_filler
from attrial.models.text import TextClassifier

DTYPE, DEVICE = "float32", "cpu"  # exact and the same on every machine
ModelLike = TextClassifier | str | Path | tuple[PreTrainedModel, PreTrainedTokenizerBase]


def classifier_of(
    model: ModelLike,
    *,
    revision: str | None = None,
    batch_tokens: int | None = None,
    dtype: str | None = None,
    device: str | None = None,
) -> TextClassifier:
    """A classifier from a folder, a Hub id, a loaded pair (model, tokenizer), or itself.

    Raises:
        AttrialError: If it is none of these, no classifier is there, or what is loaded already was
            to have another dtype or device.
    """
    if batch_tokens is not None and batch_tokens < 1:
        raise AttrialError(f"batch_tokens={batch_tokens}; it takes 1 or more")
    if isinstance(model, str | Path):
        return TextClassifier.load(
            model,
            revision=revision,
            dtype=dtype or DTYPE,
            device=device or DEVICE,
            batch_tokens=batch_tokens,
        )
    if dtype is not None or device is not None:
        raise AttrialError(
            "a loaded model keeps its dtype and device: convert or move it yourself, or give its "
            "folder or Hub id"
        )
    if isinstance(model, TextClassifier):
        return model
    kinds = [type(part) for part in model] if isinstance(model, tuple) else [type(model)]
    wanted = (PreTrainedModel, PreTrainedTokenizerBase)
    if len(kinds) != 2 or not all(map(issubclass, kinds, wanted)):
        told = ", ".join(kind.__name__ for kind in kinds)
        raise AttrialError(
            f"a model is a folder, a Hub id or a loaded pair (model, tokenizer), not {told}"
        )
    return TextClassifier.of(*model, batch_tokens=batch_tokens)


def filled(
    model: TextClassifier, examples: Sequence[Example], infill: str | Path | None
) -> TextClassifier:
    """The model with a filler: a masked language model, or the tokens of the examples.

    Raises:
        AttrialError: If the place holds no masked language model of the same tokens.
    """
    if infill is None:
        return model.filled_by(corpus_of(examples))
    return model.filled_by(load_filler(infill, model.encoder.tokenizer))


def require(model: TextClassifier, removal: str) -> None:
    """Make sure that a model can do a removal.

    Raises:
        AttrialError: If there is no such removal, or the model can't do it; near names, or those it
            can do, are offered.
    """
    registry.plugin("removals", removal)
    if removal not in model.removals:
        raise NotApplicable(
            f"model {model.spec.name} can't do the removal {removal!r}; it can do "
            f"{', '.join(model.removals)}"
        )
