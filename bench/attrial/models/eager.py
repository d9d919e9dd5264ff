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
    return None if mask is None else mask.clamp(min=_low(dtype))


def visible(mask: Tensor | None, scores: Tensor) -> Tensor:
    """Which keys a query may see (T, S), in the first row of a batch with scores (B, H, T, S).

    It is told by the mask: the weight of a key that may be seen can be zero by rounding.
    """
    wanted = scores.shape[-2:]
    if mask is None:
        return torch.ones(wanted, dtype=torch.bool, device=scores.device)
    seen = mask if mask.dtype == torch.bool else mask > _low(mask.dtype) / 2
    return seen[0].any(dim=0).expand(wanted)


def _low(dtype: torch.dtype) -> float:
    return max(torch.finfo(dtype).min, torch.finfo(torch.float32).min) / 2


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
