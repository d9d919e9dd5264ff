"""Fetching a classifier and its tokenizer from a folder or the Hub; faults are told in one line."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from logging import ERROR
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import torch
from huggingface_hub import constants, try_to_load_from_cache
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.auto_factory import _BaseAutoModelClass
from transformers.utils import logging

from attrial.errors import AttrialError, near
from attrial.hub_faults import reason

T = TypeVar("T")
DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
CLASSIFIER, CAUSAL = "text classifier", "causal language model"
SEQUENCE = "encoder-decoder"
SIGHT = "image classifier"
LABELLER, ANSWERER, CHOOSER = "token classifier", "answer finder", "multiple-choice model"
ENDINGS = {
    CLASSIFIER: ("ForSequenceClassification",),
    CAUSAL: ("ForCausalLM", "LMHeadModel"),
    SEQUENCE: ("ForConditionalGeneration",),
    LABELLER: ("ForTokenClassification",),
    ANSWERER: ("ForQuestionAnswering",),
    CHOOSER: ("ForMultipleChoice",),
    SIGHT: ("ForImageClassification",),
}
PATIENCE = 5.0  # seconds that the Hub gets to answer


@dataclass(frozen=True)
class Source:
    """Where a model lies: a folder, or a name on the Hub with its revision.

    ``local`` says that nothing is fetched: it is a folder, or the Hub can't be reached and only
    what was fetched before is at hand.
    """

    place: str
    revision: str | None
    local: bool

    @property
    def name(self) -> str:
        """Its name in records, the same on every machine."""
        return Path(self.place).resolve().name if Path(self.place).is_dir() else self.place


def source(place: str | Path, revision: str | None) -> Source:
    """Tell a folder from a name on the Hub.

    Raises:
        AttrialError: If it can only be a folder, and there is none; if it is empty.
    """
    if not str(place).strip():
        raise AttrialError("the model's name is empty; give a folder, a Hub id or a task's name")
    folder = Path(place).expanduser()
    if folder.is_dir():
        return Source(str(folder), None, True)
    if str(place).startswith(("/", ".", "~")) or str(place).count("/") > 1:
        raise AttrialError(f"no model folder {place}")
    return Source(str(place), revision, not _reachable())


def _reachable() -> bool:
    """Asked once and briefly: the Hub's own client tries for most of a minute."""
    if constants.HF_HUB_OFFLINE:
        return False
    try:
        urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=PATIENCE).close()
    except HTTPError:
        return True  # it answered
    except OSError:
        return False
    return True


def fetch(
    src: Source,
    *,
    dtype: str,
    device: str,
    kind: str = CLASSIFIER,
    auto: type[_BaseAutoModelClass] = AutoModelForSequenceClassification,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model in eval mode, and its tokenizer. No code of the checkpoint is run.

    Args:
        src: Where it lies.
        dtype: Of the weights.
        device: As torch names it.
        kind: One of ``ENDINGS``, which says how the names of its architectures end.
        auto: What loads that kind.

    Raises:
        AttrialError: If there is none there, or it is not a trained model of that kind.
    """
    if dtype not in DTYPES:
        raise AttrialError(f"no dtype {dtype!r}; {near(dtype, DTYPES)}")
    with quiet():
        config = fetched(src, lambda: AutoConfig.from_pretrained(src.place, **where(src)))
        src = pinned(src)
        _check_architecture(src, config, kind)
        tokenizer = fetched(src, lambda: AutoTokenizer.from_pretrained(src.place, **where(src)))
        model, info = fetched(src, lambda: _weights(src, DTYPES[dtype], auto))
    check_weights(src, info)
    model.config._commit_hash = src.revision
    model.eval()  # type: ignore[no-untyped-call]
    own = model.config.get_text_config()
    if own.pad_token_id is None:  # decoders come without one; heads look for the end by it
        known = (tokenizer.pad_token_id, tokenizer.eos_token_id)
        own.pad_token_id = next((i for i in known if i is not None), None)
    return moved(model, device), tokenizer


def kind_of(architectures: Sequence[str]) -> str:
    """The kind of model that these are; a text classifier where they are of none."""
    for kind, endings in ENDINGS.items():
        if any(name.endswith(endings) for name in architectures):
            return kind
    return CLASSIFIER


def kind_at(place: str | Path, revision: str | None) -> str:
    """The kind of model that lies in a folder or on the Hub, by its config's architectures.

    Raises:
        AttrialError: If there is none.
    """
    src = source(place, revision)
    with quiet():
        config = fetched(src, lambda: AutoConfig.from_pretrained(src.place, **where(src)))
    return kind_of(config.architectures or [])


def moved(model: PreTrainedModel, device: str) -> PreTrainedModel:
    """A model on a device; ``auto`` is an accelerator that torch finds, else the CPU.

    Raises:
        AttrialError: If there is no such device here.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise AttrialError(f"device {device!r}: torch finds no CUDA here; take cpu or auto")
    try:
        torch.nn.Module.to(model, device)
    except (RuntimeError, AssertionError) as error:
        why = str(error).partition("\n")[0]
        raise AttrialError(f"the model can't be moved to device {device!r}: {why}") from error
    return model


def where(src: Source) -> dict[str, str | bool]:
    """Arguments of ``from_pretrained``: the pinned revision, no code of the checkpoint's own."""
    pinned: dict[str, str | bool] = {"revision": src.revision} if src.revision else {}
    return pinned | {"local_files_only": src.local, "trust_remote_code": False}


def _weights(
    src: Source, dtype: torch.dtype, auto: type[_BaseAutoModelClass]
) -> tuple[PreTrainedModel, dict[str, object]]:
    found: tuple[PreTrainedModel, dict[str, object]] = auto.from_pretrained(
        src.place, dtype=dtype, use_safetensors=True, output_loading_info=True, **where(src)
    )
    return found


def pinned(src: Source) -> Source:
    """The same at the commit whose config was fetched, so that all its files are of one commit."""
    if Path(src.place).is_dir():
        return src
    found = try_to_load_from_cache(src.place, "config.json", revision=src.revision)
    commit = Path(found).parent.name if isinstance(found, str) else src.revision
    return replace(src, revision=commit)


def fetched(src: Source, get: Callable[[], T]) -> T:
    """Run one fetch and tell its fault in one line, with the way out."""
    try:
        return get()
    except (OSError, ValueError, SafetensorError) as error:
        why = str(error).strip().partition("\n")[0]
        if Path(src.place).is_dir():
            raise AttrialError(f"{src.place} holds no model that can be read: {why}") from error
        if src.local:
            raise AttrialError(
                f"the Hub can't be reached and {src.place} was not fetched before; "
                "give a local folder instead: --model DIR"
            ) from error
        why = reason(error, src.revision)
        raise AttrialError(f"{src.place} can't be fetched from the Hub: {why}") from error


def _check_architecture(src: Source, config: PreTrainedConfig, kind: str) -> None:
    names = config.architectures or []
    if names and not any(name.endswith(ENDINGS[kind]) for name in names):
        raise AttrialError(f"{src.place} is no {kind}: it is a {', '.join(names)}")


def check_weights(src: Source, info: dict[str, object]) -> None:
    """Refuse a checkpoint whose file lacks any of the model's weights."""
    for fault in ("missing_keys", "mismatched_keys"):
        names = sorted(str(key) for key in info.get(fault) or ())  # type: ignore[attr-defined]
        if names:
            raise AttrialError(
                f"{src.place} is no trained classifier: its file lacks {', '.join(names[:3])}, "
                "and to explain random weights would mislead"
            )


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no reports on loading, without changing that for others."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
