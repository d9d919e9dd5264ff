"""Classifiers from whatever names or holds one."""

from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from attrial import registry
from attrial.errors import NotApplicable
from attrial.models.text import TextClassifier

ModelLike = TextClassifier | str | Path | tuple[PreTrainedModel, PreTrainedTokenizerBase]


def classifier_of(
    model: ModelLike, *, revision: str | None = None, batch_tokens: int | None = None
) -> TextClassifier:
    """A classifier from a folder, a Hub id, a loaded pair (model, tokenizer), or itself."""
    if isinstance(model, TextClassifier):
        return model
    if isinstance(model, tuple):
        return TextClassifier.of(*model, batch_tokens=batch_tokens)
    return TextClassifier.load(model, revision=revision, batch_tokens=batch_tokens)


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
