"""Heads that are set by hand, and the inputs whose right answers are known under them.

A position's state is a concatenation [token | position | prev | out]: its word embedding (one-hot),
its position embedding (one-hot), and two blocks that heads write to. There is no layer norm and no
feed-forward part; every head adds its output to the state, and the logits are the ``out`` block of
the position that is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attrial.example import Example
from attrial.target import Target

VOCABULARY = 5


@dataclass(frozen=True, eq=False)
class Head:
    """One layer of one head, on states of width D.

    Attributes:
        query: (D, r) what a position looks for.
        key: (D, r) what a position can be found by.
        value: (D, D) what is written where it is found.
    """

    query: Tensor
    key: Tensor
    value: Tensor


@dataclass(frozen=True, eq=False)
class Design:
    """One input, the logit that is explained, and the heads, one a layer."""

    example: Example
    target: Target
    heads: tuple[Head, ...]
    causal: bool = False


def first_token() -> Design:
    """One layer in which every position looks at position 1."""
    x = _example([0, 2, 3, 1], read=0)
    there = torch.zeros(len(x.ids), len(x.ids), dtype=torch.float64)
    there[:, 1] = 1
    head = Head(_from("position", x, there), _from("position", x), _copy("token", "out", x))
    return Design(x, Target(2, "logit"), (head,))


def majority() -> Design:
    """One layer of uniform attention: nothing is looked for."""
    x = _example([0, 2, 2, 1], read=0)
    nothing = torch.zeros_like(_from("position", x))
    head = Head(nothing, _from("position", x), _copy("token", "out", x))
    return Design(x, Target(2, "logit"), (head,))


def induction() -> Design:
    """Two causal layers: a head of the previous token, and one that looks for it."""
    x = _example([4, 0, 1, 2, 0], read=4)
    t = len(x.ids)
    before = torch.diag(torch.ones(t - 1, dtype=torch.float64), -1)
    previous = Head(_from("position", x, before), _from("position", x), _copy("token", "prev", x))
    again = Head(_from("token", x), _from("prev", x), _copy("token", "out", x))
    return Design(x, Target(1, "logit"), (previous, again), causal=True)


DESIGNS: Mapping[str, Callable[[], Design]] = {
    "first_token": first_token,
    "majority": majority,
    "induction": induction,
}


def _example(ids: Sequence[int], *, read: int) -> Example:
    """Tokens of one position each, all of them players."""
    t = len(ids)
    names = tuple("ABCD*"[i] for i in ids)
    return Example("toy", names, np.array(ids), np.zeros(t, int), np.arange(t), read=read)


def _blocks(t: int) -> Mapping[str, slice]:
    """Where each block lies in the state of an input of t positions."""
    v = VOCABULARY
    ends = np.cumsum([0, v, t, v, v])
    names = ("token", "position", "prev", "out")
    return {name: slice(int(a), int(b)) for name, a, b in zip(names, ends, ends[1:], strict=False)}


def state(embedded: Tensor, where: Tensor) -> Tensor:
    """States (k, t, D) that word embeddings (k, t, 5) and position embeddings (t, t) begin as."""
    k, t, _ = embedded.shape
    empty = torch.zeros(k, t, 2 * VOCABULARY, dtype=torch.float64)
    return torch.cat([embedded, where.expand(k, t, t), empty], dim=2)


def places(x: Example) -> Tensor:
    """Position embeddings (t, t)."""
    return torch.eye(len(x.ids), dtype=torch.float64)


def _from(block: str, x: Example, into: Tensor | None = None) -> Tensor:
    """(D, r) that reads one block of the state, and turns it by ``into`` (r, r)."""
    where = _blocks(len(x.ids))
    width = where[block].stop - where[block].start
    out = torch.zeros(where["out"].stop, width, dtype=torch.float64)
    out[where[block]] = torch.eye(width, dtype=torch.float64) if into is None else into
    return out


def _copy(source: str, goal: str, x: Example) -> Tensor:
    """(D, D) that writes one block's content into another."""
    out = torch.zeros(2 * (_blocks(len(x.ids))["out"].stop,), dtype=torch.float64)
    where = _blocks(len(x.ids))
    out[where[source], where[goal]] = torch.eye(VOCABULARY, dtype=torch.float64)
    return out


def words(x: Example) -> Tensor:
    """Word embeddings (t, 5)."""
    return torch.eye(VOCABULARY, dtype=torch.float64)[torch.from_numpy(np.asarray(x.ids))]
