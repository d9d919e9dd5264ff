"""Relevance of embeddings by one modified backward pass, in any architecture."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, activations

from attrial.errors import AttrialError, NotApplicable
from attrial.models.hooks import hooked
from attrial.models.propagation import Propagation, Rule, identity
from attrial.models.shares import Propagated, shared_out
from attrial.models.switch import can_switch, switched


def relevance(
    model: PreTrainedModel,
    run: Callable[[], Tensor],
    *,
    at: nn.Module,
    read: Callable[[Tensor], Tensor],
    rule: Rule,
) -> Propagated:
    """Relevance of a target for the embeddings that one module gives, by gradient times input.

    Args:
        model: In eval mode; attention, hooks and grad flags are its own again afterwards.
        run: One forward of it, to its outputs (B, classes).
        at: The module whose output (B, T, d) is explained: word embeddings, or all of a ViT's.
        read: The target, (B, classes) -> (B,).
        rule: ``conservative`` (CP-LRP, Ali et al. 2022) or ``attention`` (AttnLRP, Achtibat et al.
            2024, whose softmax rule doesn't conserve).

    Raises:
        NotApplicable: If ``at`` doesn't run exactly once, or attention is one fused operation.
    """
    if model.training:
        raise AttrialError("the model is in train mode, where dropout takes part: call eval()")
    rules, leaves = Propagation(rule), list[Tensor]()
    with ExitStack() as held:
        if can_switch(model):
            held.enter_context(switched(model, "eager"))
        for context in (_frozen(model), _activations(model), _begun(at, leaves)):
            held.enter_context(context)
        held.enter_context(torch.enable_grad())
        with rules:
            outputs = run()
        if len(leaves) != 1:
            raise NotApplicable(f"the embeddings were looked up {len(leaves)} times, not once")
        return shared_out(outputs, leaves[0], rules.fixed, read)


@contextmanager
def _frozen(model: nn.Module) -> Iterator[None]:
    """No parameter has a gradient: a product is one of activations only if both factors have."""
    trainable = [p for p in model.parameters() if p.requires_grad]
    for parameter in trainable:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in trainable:
            parameter.requires_grad_(True)


@contextmanager
def _activations(model: nn.Module) -> Iterator[None]:
    """Activation modules are one operation each: some are built from products and powers."""

    def hook(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
        return identity(args[0], output)

    found = [m for m in model.modules() if type(m).__module__ == activations.__name__]
    with hooked([module.register_forward_hook(hook) for module in found]):
        yield


@contextmanager
def _begun(at: nn.Module, leaves: list[Tensor]) -> Iterator[None]:
    """The module's output begins the graph."""

    def hook(module: nn.Module, args: object, output: Tensor) -> Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    with hooked([at.register_forward_hook(hook)]):
        yield
