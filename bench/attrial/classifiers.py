"""Models that answer, from whatever names or holds one."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.image_processing_utils import BaseImageProcessor

from attrial import asked, registry
from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.models.causal import CausalModel
from attrial.models.heads_choice import ChoiceModel
from attrial.models.heads_models import AnswerModel, TokenModel
from attrial.models.loading import (
    ANSWERER,
    CAUSAL,
    CHOOSER,
    CLASSIFIER,
    LABELLER,
    SEQUENCE,
    SIGHT,
    kind_at,
    kind_of,
)
from attrial.models.masked import load_filler
from attrial.models.seq2seq import Seq2SeqModel
from attrial.models.text import TextClassifier
from attrial.models.vision import VisionClassifier
from attrial.task import load_task

DTYPE, DEVICE = "float32", "cpu"  # exact and the same on every machine
KINDS: Mapping[str, type[TextClassifier]] = {
    CLASSIFIER: TextClassifier,
    CAUSAL: CausalModel,
    SEQUENCE: Seq2SeqModel,
    SIGHT: VisionClassifier,
    LABELLER: TokenModel,
    ANSWERER: AnswerModel,
    CHOOSER: ChoiceModel,
}
Reads = PreTrainedTokenizerBase | BaseImageProcessor  # what makes a model's inputs
ModelLike = TextClassifier | str | Path | tuple[PreTrainedModel, Reads]


def classifier_of(
    model: ModelLike,
    *,
    revision: str | None = None,
    batch_tokens: int | None = None,
    dtype: str | None = None,
    device: str | None = None,
) -> TextClassifier:
    """A model from a folder, a Hub id, a task's name, a loaded pair (model, tokenizer), or itself.

    Which kind it is, a classifier or a language model, its architecture says. A task's name stands
    for that task's own model, so that what ships with a task has a name on every machine.

    Raises:
        AttrialError: If it is none of these, no such model is there, or what is loaded already was
            to have another dtype or device.
    """
    if batch_tokens is not None and batch_tokens < 1:
        raise AttrialError(f"batch_tokens={batch_tokens}; it takes 1 or more")
    if isinstance(model, str | Path):
        place, revision = _placed(model, revision)
        return KINDS[_kind(place, revision)].load(
            place,
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
    return _loaded(model, batch_tokens)


def _placed(model: str | Path, revision: str | None) -> tuple[str | Path, str | None]:
    """Where a model lies, and its commit on the Hub: a task's own, unless a folder has the name.

    Raises:
        AttrialError: If that task has none.
    """
    if str(model) not in registry.plugins("tasks") or Path(model).is_dir():
        return model, revision
    task = load_task(str(model))
    return asked.own_model(task), revision or task.model_revision


def _kind(place: str | Path, revision: str | None) -> str:
    """The kind of a model; where there is none, a task whose name is near is offered."""
    try:
        return kind_at(place, revision)
    except AttrialError as error:
        close = get_close_matches(str(place), registry.plugins("tasks"), n=1, cutoff=0.8)
        if not close:
            raise
        raise AttrialError(f"{error}; or did you mean {close[0]}, the model of a task?") from error


def _loaded(model: tuple[PreTrainedModel, Reads], batch_tokens: int | None) -> TextClassifier:
    """A model that is in memory, with what makes its inputs."""
    parts: tuple[object, ...] = model if isinstance(model, tuple) else (model,)
    match parts:
        case (PreTrainedModel() as found, BaseImageProcessor() as reads):
            return VisionClassifier.of(found, reads, batch_tokens=batch_tokens)
        case (PreTrainedModel() as found, PreTrainedTokenizerBase() as reads):
            kind = kind_of([type(found).__name__])
            return KINDS[kind].of(found, reads, batch_tokens=batch_tokens)
    told = ", ".join(type(part).__name__ for part in parts)
    raise AttrialError(
        f"a model is a folder, a Hub id or a loaded pair (model, tokenizer), not {told}"
    )


def filled(
    model: TextClassifier, examples: Sequence[Example], infill: str | Path | None
) -> TextClassifier:
    """The model with a filler: a masked language model, or the tokens of the examples.

    Raises:
        AttrialError: If the place holds no masked language model of the same tokens.
    """
    if infill is None:
        return model.filled_by(corpus_of(examples))
    if isinstance(model, VisionClassifier):
        raise AttrialError("a masked language model draws no patches: leave infill out for images")
    return model.filled_by(load_filler(infill, model.encoder.tokenizer))


def known_words(
    model: TextClassifier, options: Sequence[Sequence[int]], texts: Sequence[str]
) -> None:
    """Make sure that a model's tokens can say the continuations that it is asked about.

    Raises:
        AttrialError: If one holds what the tokenizer takes for an unknown word.
    """
    unknown = model.encoder.tokenizer.unk_token_id
    for ids, text in zip(options, texts, strict=False):
        if unknown is not None and unknown in ids:
            raise AttrialError(
                f"continuation {text!r} holds a word that the tokenizer of {model.spec.name} "
                "doesn't know"
            )


def usual(model: TextClassifier) -> str:
    """The removal that one takes where none is asked for: a mask token, else hidden tokens."""
    return next(r for r in ("mask", "mean", "attention_off") if r in model.removals)


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
