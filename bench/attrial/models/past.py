"""Keys and values of tokens that a causal model has read: cut, repeated and moved as tensors.

Layers with a sliding window get all of them too, since their masks leave out by distance what is
too far away: so a past can be cut anywhere.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

PLAIN = (DynamicLayer, DynamicSlidingWindowLayer)


@dataclass(frozen=True, eq=False)
class Past:
    """Keys and values (R, heads, p, d) of each layer."""

    layers: tuple[tuple[Tensor, Tensor], ...] = ()

    @property
    def length(self) -> int:
        """Tokens p."""
        return self.layers[0][0].shape[2] if self.layers else 0

    def cut(self, length: int) -> "Past":
        """Its first tokens."""
        return Past(tuple((k[:, :, :length], v[:, :, :length]) for k, v in self.layers))

    def rows(self, count: int) -> "Past":
        """One row, so many times; nothing is copied yet."""
        return Past(
            tuple(
                (k.expand(count, *k.shape[1:]), v.expand(count, *v.shape[1:]))
                for k, v in self.layers
            )
        )

    def repeated(self, copies: int) -> "Past":
        """Each row so many times."""
        return Past(
            tuple(
                (k.repeat_interleave(copies, dim=0), v.repeat_interleave(copies, dim=0))
                for k, v in self.layers
            )
        )

    def at_end(self, lengths: Tensor) -> "Past":
        """Each row's first tokens, as many as ``lengths`` (R,) says, moved to its end.

        What stands before them is to be hidden. Keys keep the places that they were made for.
        """
        return Past(tuple((at_end(k, lengths), at_end(v, lengths)) for k, v in self.layers))

    def cache(self) -> DynamicCache:
        """What a model takes, to be read on from here; the past itself stays as it is."""
        made = DynamicCache()
        for keys, values in self.layers:
            layer = DynamicLayer()  # type: ignore[no-untyped-call]
            layer.lazy_initialization(keys, values)
            layer.keys, layer.values = keys, values
            made.layers.append(layer)
        return made

    @property
    def bytes(self) -> int:
        """Of one token of one row."""
        tensors = [tensor for layer in self.layers for tensor in layer]
        return sum(t.shape[1] * t.shape[3] * t.element_size() for t in tensors)


def past_of(cache: DynamicCache) -> Past:
    """What a model has read.

    Raises:
        RuntimeError: If a layer has left nothing.
    """
    return Past(tuple(_tensors(layer) for layer in cache.layers))


def _tensors(layer: object) -> tuple[Tensor, Tensor]:
    keys, values = getattr(layer, "keys", None), getattr(layer, "values", None)
    if not isinstance(keys, Tensor) or not isinstance(values, Tensor):
        raise RuntimeError(f"a {type(layer).__name__} without keys and values")
    return keys, values


def remembers(model: PreTrainedModel) -> bool:
    """Whether all that a model remembers are keys and values of single tokens."""
    return all(type(layer) in PLAIN for layer in DynamicCache(config=model.config).layers)


def at_end(found: Tensor, lengths: Tensor) -> Tensor:
    """Rows (R, p) or (R, heads, p, d) with their first ``lengths`` (R,) columns moved to the end.

    What stands before them is zero.
    """
    p = found.shape[1 if found.ndim == 2 else 2]
    order = torch.arange(p, device=found.device) - (p - lengths)[:, None]
    there = order >= 0
    if found.ndim == 4:
        order, there = order[:, None, :, None], there[:, None, :, None]
    moved = found.gather(-1 if found.ndim == 2 else 2, order.clamp(min=0).expand_as(found))
    return moved * there
