"""Small random image classifiers of six families, made in memory, whose answers depend on patches.

The weights are scaled until greying the typical patch moves the log-odds by at least ``TEETH``.
"""

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoConfig, AutoModelForImageClassification, PreTrainedModel
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from attrial.models.vision import VisionClassifier
from tests.tiny import TEETH, log_odds

SIDE, PATCH, GRID = 16, 4, 4
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "image_size": SIDE,
    "patch_size": PATCH,
    "num_labels": 3,
}
FAMILIES: Mapping[str, dict[str, Any]] = {
    "vit": {},
    "deit": {"architectures": ["DeiTForImageClassification"]},
    "beit": {"use_relative_position_bias": True},
    "dinov2": {},
    "dinov2_with_registers": {"num_register_tokens": 2},
    "swin": {
        "depths": [1, 1],
        "num_heads": [2, 2],
        "num_attention_heads": [2, 2],
        "window_size": 2,
        "embed_dim": 16,
    },
}
PREFIX = {"vit": 1, "deit": 2, "beit": 1, "dinov2": 1, "dinov2_with_registers": 3, "swin": 0}
DROPPING = ("vit", "deit", "dinov2", "dinov2_with_registers")
SQUARE = (*DROPPING, "beit")


def processor() -> ViTImageProcessorPil:
    size = {"height": SIDE, "width": SIDE}
    return ViTImageProcessorPil(size=size, image_mean=[0.5] * 3, image_std=[0.25] * 3)


def picture(seed: int = 0) -> NDArray[np.uint8]:
    drawn = np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 3))
    return drawn.astype(np.uint8)


def pixels(seed: int = 0) -> Tensor:
    """What the processor makes of a picture, worked out by hand: (1, 3, side, side)."""
    shares = torch.from_numpy(picture(seed)).permute(2, 0, 1)[None].double() / 255
    return ((shares - 0.5) / 0.25).float()


def greyed(images: Tensor, gone: list[int]) -> Tensor:
    """Images whose patches of these numbers are of the mean colour."""
    out = images.clone()
    for place in gone:
        top, left = place // GRID * PATCH, place % GRID * PATCH
        out[:, :, top : top + PATCH, left : left + PATCH] = 0
    return out


def moves(model: PreTrainedModel) -> Tensor:
    """How far greying each patch moves the log-odds of class 0; by transformers alone."""
    with torch.no_grad():
        whole = log_odds(model(pixel_values=pixels()).logits)
        images = torch.cat([greyed(pixels(), [place]) for place in range(GRID**2)])
        return log_odds(model(pixel_values=images).logits) - whole


def model(family: str) -> PreTrainedModel:
    """A fresh copy of a random classifier of three classes with teeth, in eval mode."""
    return copy.deepcopy(_model(family))


@cache
def _model(family: str) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model(family, **(SIZES | FAMILIES[family]))
        made: PreTrainedModel = AutoModelForImageClassification.from_config(config)  # type: ignore[no-untyped-call]
        made.eval()  # type: ignore[no-untyped-call]
        for _ in range(12):
            if float(moves(made).abs().median()) >= TEETH:
                return made
            with torch.no_grad():
                for name, weight in made.named_parameters():
                    if weight.ndim > 1:
                        weight.mul_(1.5)
                    elif name.endswith("bias"):
                        weight.normal_(0, 0.1)
    raise AssertionError(f"{family} has no teeth: {moves(made)}")


@cache
def classifier(family: str = "vit") -> VisionClassifier:
    return VisionClassifier.of(model(family), processor(), batch_tokens=1024)
