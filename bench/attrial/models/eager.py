"""Each family's own eager attention under a mask that stays finite, where sdpa is not supported.

Eager masks are the lowest number of the model's type. Added to a negative score in half precision,
or put into a softmax that runs in single precision by a model of double precision, that is minus
infinity: a position of padding that sees nobody (behind a sliding window) becomes NaN, and through
its values so does everybody else.
"""

import sys
from collections.abc import Callable

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

EAGER = "attrial_eager"
OWN = "eager_attention_forward"  # what every family on the interface calls its own


def bounded_mask(*, dtype: torch.dtype = torch.float32, **given: object) -> Tensor | None:
    """As transformers' mask for eager attention, half as low: no score makes it infinite."""
    mask: Tensor | None = eager_mask(dtype=dtype, **given)  # type: ignore[arg-type]
    low = max(torch.finfo(dtype).min, torch.finfo(torch.float32).min) / 2
    return None if mask is None else mask.clamp(min=low)


def _attention(
    module: nn.Module, *args: object, **given: object
) -> tuple[Tensor, Tensor | None]:  # the interface hands every family's arguments on
    return _own(type(module))(module, *args, **given)


def _own(of: type) -> Callable[..., tuple[Tensor, Tensor | None]]:
    """The eager function beside a class of attention, or beside the one that it is made of."""
    places = (sys.modules[base.__module__] for base in of.__mro__)
    found = (getattr(place, OWN, None) for place in places)
    own: Callable[..., tuple[Tensor, Tensor | None]]
    own = next(function for function in found if function is not None)
    return own


AttentionInterface.register(EAGER, _attention)
AttentionMaskInterface.register(EAGER, bounded_mask)
