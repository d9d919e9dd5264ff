"""Fetching an image classifier and its image processor from a folder or the Hub."""

from transformers import (
    AutoConfig,
    AutoImageProcessor,
    AutoModelForImageClassification,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.image_processing_utils import BaseImageProcessor

from attrial.errors import AttrialError, near
from attrial.models.loading import DTYPES, Source, check_weights, fetched, moved, quiet, where

KIND = "ForImageClassification"


def fetch(src: Source, *, dtype: str, device: str) -> tuple[PreTrainedModel, BaseImageProcessor]:
    """A classifier in eval mode, and its image processor. No code of the checkpoint is run.

    The processor is the one that works with PIL alone, so that pixels are the same on machines
    with other libraries.

    Raises:
        AttrialError: If there is none there, or it is not a trained classifier.
    """
    if dtype not in DTYPES:
        raise AttrialError(f"no dtype {dtype!r}; {near(dtype, DTYPES)}")
    with quiet():
        config = fetched(src, lambda: AutoConfig.from_pretrained(src.place, **where(src)))
        if not sees(config):
            named = ", ".join(config.architectures or []) or "model of no named architecture"
            raise AttrialError(f"{src.place} is no image classifier: it is a {named}")
        processor = fetched(src, lambda: _processor(src))
        model, info = fetched(
            src,
            lambda: AutoModelForImageClassification.from_pretrained(
                src.place,
                dtype=DTYPES[dtype],
                use_safetensors=True,
                output_loading_info=True,
                **where(src),
            ),
        )
    check_weights(src, info)
    model.eval()
    return moved(model, device), processor


def _processor(src: Source) -> BaseImageProcessor:
    found: BaseImageProcessor = AutoImageProcessor.from_pretrained(  # type: ignore[no-untyped-call]
        src.place, backend="pil", **where(src)
    )
    return found


def sees(config: PreTrainedConfig) -> bool:
    """Whether a config names an image classifier."""
    return any(name.endswith(KIND) for name in config.architectures or [])
