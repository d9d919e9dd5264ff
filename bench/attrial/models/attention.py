"""Attention weights of a classifier on one full input, through the attention tap."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from attrial.ask import Attend, Attention
from attrial.batching import Batch
from attrial.errors import AttrialError, near
from attrial.masks import Bools, Floats
from attrial.models.copies import among_own, copies
from attrial.models.forward import Arguments, Forward
from attrial.models.reading import read
from attrial.models.stacks import of_two
from attrial.models.tap import capture, gradients
from attrial.removal import Rows, in_place, stack
from attrial.target import Target
from attrial.value import Subject

FUSE: Mapping[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda weights: weights.mean(dim=1),
    "max": lambda weights: weights.amax(dim=1),
    "min": lambda weights: weights.amin(dim=1),
}


def attention(subject: Subject, ask: Attend, forward: Forward) -> Attention:
    """Weights (L, H, t, t), or (L, t, t) fused, layer nearest the input first; under the guard.

    The input goes alone and unpadded: there is no company and no padding to see.

    Raises:
        AttrialError: If folded weights with gradients are asked for, or an unknown fold.
        NotApplicable: If the model doesn't let its attention weights be seen, or scaled.
    """
    fold = _fold(ask)
    arguments = alone(subject, forward) if ask.gradient else unanswered(subject, forward)
    captured = capture(
        forward.model,
        lambda: forward(arguments),
        gradient=ask.gradient,
        scale=ask.scale,
        layer=ask.layer,
        fold=fold,
    )
    found = None
    if ask.gradient:
        found = gradients(_value(captured.outputs, subject.target), captured)
    if "cross" in captured.parts:
        return of_two(arguments, captured, found)
    seen = _seen(captured.seen, forward, len(subject.example.ids), len(captured.weights))
    if found is None:
        return Attention(_numpy(captured.weights, release=True), seen=seen)
    # What is appended is seen by nobody before it, so that all copies attend alike.
    weights = [among_own(arguments, w) / copies(arguments) for w in captured.weights]
    return Attention(_numpy(weights), _numpy([among_own(arguments, g) for g in found]), seen=seen)


def _seen(told: list[Tensor], forward: Forward, t: int, layers: int) -> Bools:
    """Keys that may be seen (L, t, t) in one unpadded row, whose copies all see alike.

    A model that shows its weights of itself attends to everything, or to everything before.
    """
    if told and all(torch.equal(keys, told[0]) for keys in told):  # long inputs: one for all layers
        return np.broadcast_to(told[0][:t, :t].cpu().numpy(), (len(told), t, t))
    if told:
        return np.stack([keys[:t, :t].cpu().numpy() for keys in told])
    return np.broadcast_to(np.tri(t, k=0 if forward.causal else t, dtype=bool), (layers, t, t))


def _fold(ask: Attend) -> Callable[[Tensor], Tensor] | None:
    if ask.fuse is None:
        return None
    if ask.fuse not in FUSE:
        raise AttrialError(f"no fusion {ask.fuse!r} of heads; {near(ask.fuse, FUSE)}")
    if ask.gradient:
        raise AttrialError("heads can't be fused before the product with their gradients")
    return FUSE[ask.fuse]


def alone(subject: Subject, forward: Forward) -> Arguments:
    """What a model is called with for one full input, unpadded and in no company."""
    return _of_one(in_place(subject.example, 1), forward)


def unanswered(subject: Subject, forward: Forward) -> Arguments:
    """As ``alone``, but no continuation is asked about."""
    return _of_one(replace(in_place(subject.example, 1), options=None), forward)


def _of_one(part: Rows, forward: Forward) -> Arguments:
    t = int(part.lengths[0])
    rows = stack([part], width=t, pad=forward.pad)
    return forward.arguments(rows, Batch(t, np.array([0]), 1))


def _value(logits: Tensor, target: Target) -> Tensor:
    index = torch.tensor([target.index], device=logits.device)
    return read(logits, index, target.function).sum()


def _numpy(layers: list[Tensor], *, release: bool = False) -> Floats:
    """Layers (1, ..., t, t) below each other; with ``release`` the list is emptied on the way."""
    out = np.empty((len(layers), *layers[0].shape[1:]))  # long inputs: no second copy of it all
    for i, own in enumerate(out):
        torch.from_numpy(own).copy_(layers[i][0].detach())  # no other copy on the way
        if release:
            layers[i] = layers[i].new_empty(0)
    return out
