"""The attention tap: one attention function that sees, edits and differentiates every layer.

It is registered once with transformers' own interface and switched on for single forwards. A
family outside that interface is asked to show its attentions itself, and can't be edited.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel

from attrial.errors import AttrialError, NotApplicable
from attrial.models.eager import bounded_mask, visible
from attrial.models.shown import Part, shown
from attrial.models.switch import can_switch, switched

TAP = "attrial_tap"
UNKNOWN = ("s_aux", "sinks", "indices", "block_indices")  # arguments that change the weights
Fold = Callable[[Tensor], Tensor]  # weights (B, H, T, S) of one layer -> what is kept of them
Edit = Callable[[int, Tensor], Tensor]  # layer, its scores (B, H, T, S) -> its scores
Mix = Callable[[Tensor, Tensor], Tensor]  # weights (B, H, T, S), values (B, H, S, d) -> outputs
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Captured(Generic[R]):
    """One forward and the attention weights that it used.

    Attributes:
        outputs: What the run returned.
        weights: One tensor a layer, (B, H, T, S) from query i to key j, or its fold; within each
            part the layer nearest the input first.
        parts: Whose weights each tensor is: ``self`` in models of one stack, else ``encoder``,
            ``decoder`` or ``cross`` (queries of the decoder, keys of the encoder).
        seen: Of each tensor the keys (T, S) that queries of the first row may see; empty where the
            model shows its weights of itself.
    """

    outputs: R
    weights: list[Tensor]
    parts: list[Part]
    seen: list[Tensor]

    def part(self, name: Part) -> list[Tensor]:
        """The weights of one part, layer by layer."""
        return [w for w, part in zip(self.weights, self.parts, strict=True) if part == name]


def capture(
    model: PreTrainedModel,
    run: Callable[[], R],
    *,
    gradient: bool = False,
    scale: float = 1.0,
    layer: int | None = None,
    edit: Edit | None = None,
    fold: Fold | None = None,
) -> Captured[R]:
    """One forward of a model in eval mode, with every layer's attention weights.

    Args:
        model: Whose attention is watched; its implementation is its own again afterwards.
        run: One forward of it.
        gradient: Whether outputs and weights hang together in one graph (``gradients`` reads it);
            frozen parameters are no hindrance. Otherwise the forward makes no graph.
        scale: Factor on the post-softmax weights; the captured ones are the scaled ones.
        layer: The only layer that is scaled, of two stacks the only one between them; None for all.
        edit: What becomes of each layer's scores before the mask and the softmax, where the keys
            are the input's: not within a decoder that looks at itself beside an encoder.
        fold: What is kept of each layer's weights, so that memory stays small (a mean over heads).

    Raises:
        NotApplicable: If the model neither uses transformers' attention interface nor shows its
            weights, or if it shows them and they were to be scaled or edited.
    """
    if model.training:
        raise AttrialError("the model is in train mode, where attention is random: call eval()")
    if gradient and fold is not None:
        raise ValueError("folded weights have no gradient: products come before sums")
    with torch.set_grad_enabled(gradient):
        if can_switch(model):
            return _tapped(model, run, _Tap(gradient, scale, layer, edit, fold, _encoder(model)))
        if scale != 1.0 or edit is not None:
            raise NotApplicable(
                f"{type(model).__name__} shows its attention weights but doesn't take others: "
                "it is outside transformers' attention interface"
            )
        outputs, found = shown(model, run)
        weights = [fold(w) if fold else w for _, w in found]
        return Captured(outputs, weights, [part for part, _ in found], [])


def gradients(target: Tensor, captured: Captured[R]) -> list[Tensor]:
    """Gradients of a scalar with respect to each captured tensor.

    Raises:
        NotApplicable: If the model shows copies of its weights, which nothing depends on.
    """
    found = torch.autograd.grad(target, captured.weights, allow_unused=True)
    known = [g for g in found if g is not None]
    if len(known) != len(found):
        raise NotApplicable("this model shows copies of its attention weights: no gradient")
    return known


def mixed(model: PreTrainedModel, run: Callable[[], R], mix: Mix) -> R:
    """A run, of the model or of a part of it, in which ``mix`` puts weights and values together.

    It makes no graph.

    Raises:
        NotApplicable: If the model doesn't use transformers' attention interface.
    """
    if not can_switch(model):
        raise NotApplicable(
            f"{type(model).__name__} doesn't let its value vectors be seen: it is outside "
            "transformers' attention interface"
        )
    tap = _Tap(False, 1.0, None, None, None, _encoder(model), mix)
    with torch.no_grad(), switched(model, TAP), _active(tap):
        return run()


@dataclass
class _Tap:
    """What one forward is asked for, and what it has shown so far."""

    gradient: bool
    scale: float
    layer: int | None
    edit: Edit | None
    fold: Fold | None
    encoder: frozenset[int] | None
    mix: Mix = torch.matmul
    weights: list[Tensor] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    seen: list[Tensor] = field(default_factory=list)

    def scores(self, module: nn.Module, scores: Tensor) -> Tensor:
        """The coming layer's scores, edited."""
        if self.edit is None or _part(module, self.encoder) == "decoder":
            return scores
        return self.edit(len(self.parts), scores)

    def take(self, module: nn.Module, weights: Tensor) -> Tensor:
        """Scale and keep one layer's weights; returns those that the layer goes on with."""
        if self.scale != 1.0 and self._chosen(_part(module, self.encoder)):
            weights = weights * self.scale
        if self.gradient and not weights.requires_grad:
            weights = weights.detach().requires_grad_()  # with frozen parameters the graph's root
        self.parts.append(_part(module, self.encoder))
        self.weights.append(self.fold(weights) if self.fold else weights)
        return weights

    def _chosen(self, part: Part) -> bool:
        """Whether the coming layer, of that part, is scaled."""
        counted = "self" if self.encoder is None else "cross"
        return self.layer is None or (part, self.parts.count(part)) == (counted, self.layer)


_ACTIVE: ContextVar[_Tap | None] = ContextVar("attention tap", default=None)


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    position_bias: Tensor | None = None,
    **rest: object,  # the interface hands every family's arguments to every function
) -> tuple[Tensor, Tensor]:
    """Attention as each family's eager function computes it, but through the active tap.

    Queries (B, H, T, d), keys and values (B, H or fewer, S, d) -> (B, T, H, d) and the weights.
    """
    tap = _ACTIVE.get()
    if tap is None:
        raise RuntimeError(f"{TAP} is the attention of captured forwards alone")
    _refuse(module, rest)
    key, value = _grouped(key, query), _grouped(value, query)
    scores = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if position_bias is not None:
        scores = scores + position_bias
    tap.seen.append(visible(attention_mask, scores))
    scores = _masked(tap.scores(module, scores), attention_mask)
    precise = torch.promote_types(scores.dtype, torch.float32)
    weights = tap.take(module, scores.softmax(dim=-1, dtype=precise).to(query.dtype))
    return tap.mix(weights, value).transpose(1, 2).contiguous(), weights


AttentionInterface.register(TAP, _attention)
AttentionMaskInterface.register(TAP, bounded_mask)


def _refuse(module: nn.Module, arguments: dict[str, object]) -> None:
    given = [name for name in UNKNOWN if arguments.get(name) is not None]
    if given:
        raise NotApplicable(f"{type(module).__name__} attends by {given[0]}, unknown to the tap")


def _grouped(few: Tensor, query: Tensor) -> Tensor:
    """Keys or values, one a query head: grouped heads share theirs."""
    times = query.shape[1] // few.shape[1]
    return few if times == 1 else few.repeat_interleave(times, dim=1)


def _masked(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores + mask


def _tapped(model: PreTrainedModel, run: Callable[[], R], tap: _Tap) -> Captured[R]:
    with switched(model, TAP), _active(tap):
        outputs = run()
    own = sum(part in ("self", "encoder") for part in tap.parts)
    if not own or own < (getattr(model.config, "num_hidden_layers", None) or 0):
        raise NotApplicable(f"{type(model).__name__} shows its attention in {own} layers only")
    return Captured(outputs, tap.weights, tap.parts, tap.seen)


@contextmanager
def _active(tap: _Tap) -> Iterator[None]:
    token = _ACTIVE.set(tap)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def _encoder(model: PreTrainedModel) -> frozenset[int] | None:
    """Identities of the encoder's modules; None where there is one stack only."""
    if not model.config.is_encoder_decoder:
        return None
    return frozenset(id(m) for m in model.get_encoder().modules())


def _part(module: nn.Module, encoder: frozenset[int] | None) -> Part:
    if encoder is None:
        return "self"
    if id(module) in encoder:
        return "encoder"
    # A decoder looks back at itself (causal) or anywhere at the encoder.
    return "decoder" if getattr(module, "is_causal", True) else "cross"
