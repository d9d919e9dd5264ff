"""Rows that stand in a batch once for each continuation appended to them, and what is theirs there.

R rows of w positions are called as (R', w'): the copies of a row below each other, each followed by
its continuation. Where nothing is appended, all functions here leave things as they are.
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from attrial.masks import Ints
from attrial.removal import NO_TOKEN, Rows

OPTIONS = "attrial_options"  # (R, C, m) token ids that are read, -1 where there is none
PLACES = "attrial_places"  # (R', m) positions at which the next token's logits are read
OWN = "attrial_own"  # (R', w') which positions are a row's own
WIDTH = "attrial_width"  # (1, w): a row's positions without any continuation
ORIGIN = "attrial_origin"  # (R', t') the encoder's position that each of the decoder's is, or -1
PRIVATE = frozenset({OPTIONS, PLACES, OWN, WIDTH, ORIGIN})  # none of them is for the model

Arguments = Mapping[str, Tensor]


def extent(options: Ints) -> Ints:
    """How many continuations (k, C, m) there are in each row, and how long the longest: (k, 2)."""
    there = options != NO_TOKEN
    return np.stack([there.any(axis=2).sum(axis=1), there.any(axis=1).sum(axis=1)], axis=1)


def extents(rows: Rows) -> Ints:
    """The same of rows, (0, 0) where none is asked about: (k, 2)."""
    none = np.zeros((len(rows.lengths), 2), np.int64)
    return none if rows.options is None else extent(rows.options)


def given(arguments: Arguments) -> dict[str, Tensor]:
    """What the model itself is called with."""
    return {name: tensor for name, tensor in arguments.items() if name not in PRIVATE}


def copies(arguments: Arguments) -> int:
    """How often each row stands there."""
    if OWN not in arguments:
        return 1
    return len(arguments[OWN]) // len(arguments[OPTIONS])


def spread(arguments: Arguments, values: Tensor, rest: Tensor | float) -> Tensor:
    """Values of rows at their own positions in all copies: (R, w, ...) -> (R', w', ...).

    ``rest`` is what stands elsewhere: a number, or a tensor (R', w', ...).
    """
    if OWN not in arguments:
        return values
    own = _aligned(arguments[OWN], values.ndim)
    values = values.repeat_interleave(copies(arguments), dim=0)
    longer = values.new_zeros((*own.shape[:2], *values.shape[2:]))
    longer[:, : values.shape[1]] = values
    return torch.where(own, longer, rest)


def gathered(arguments: Arguments, found: Tensor) -> Tensor:
    """Sum over a row's copies, at its own positions: (R', w', ...) -> (R, w, ...)."""
    if OWN not in arguments:
        return found
    own = torch.where(_aligned(arguments[OWN], found.ndim), found, 0.0)
    return _summed(own[:, : _width(arguments)], copies(arguments))


def among_own(arguments: Arguments, found: Tensor) -> Tensor:
    """Sum over copies, own query to own key: (R', ..., w', w') -> (R, ..., w, w)."""
    if OWN not in arguments:
        return found
    w = _width(arguments)
    return _summed(found[..., :w, :w], copies(arguments))


def times(arguments: Arguments, rows: int) -> dict[str, Tensor]:
    """What one row is called with, ``rows`` times."""
    return {
        name: tensor if name == WIDTH else tensor.repeat(rows, *[1] * (tensor.ndim - 1))
        for name, tensor in arguments.items()
    }


def _summed(found: Tensor, count: int) -> Tensor:
    return found.reshape(-1, count, *found.shape[1:]).sum(dim=1)


def _width(arguments: Arguments) -> int:
    return arguments[WIDTH].shape[1]


def _aligned(own: Tensor, ndim: int) -> Tensor:
    return own.reshape(*own.shape, *[1] * (ndim - 2))
