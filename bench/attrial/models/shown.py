"""Attention weights that a model shows of itself, where the attention tap can't reach them."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

from torch import Tensor, nn
from transformers import PreTrainedModel

from attrial.errors import NotApplicable

Part = Literal["self", "encoder", "decoder", "cross"]
R = TypeVar("R")
FIELDS: dict[str, Part] = {
    "attentions": "self",
    "encoder_attentions": "encoder",
    "decoder_attentions": "decoder",
    "cross_attentions": "cross",
}


def shown(model: PreTrainedModel, run: Callable[[], R]) -> tuple[R, list[tuple[Part, Tensor]]]:
    """One forward with ``output_attentions=True``, and the weights that it shows, first to last.

    Raises:
        NotApplicable: If the model doesn't show one square matrix a head, a layer.
    """
    if "output_attentions" not in inspect.signature(model.forward).parameters:
        raise NotApplicable(f"{_name(model)} shows no attention weights")
    seen: list[object] = []
    with _asked(model, seen):
        outputs = run()
    if len(seen) != 1:
        raise NotApplicable(f"{_name(model)} ran {len(seen)} times in one capture, not once")
    found = [
        (part, weights)
        for field, part in FIELDS.items()
        for weights in getattr(seen[0], field, None) or ()
    ]
    _check(model, [weights for part, weights in found if part in ("self", "encoder")])
    return outputs, found


@contextmanager
def _asked(model: PreTrainedModel, seen: list[object]) -> Iterator[None]:
    """Every forward of the model is asked for its attentions, and what it returns is seen."""

    def ask(
        module: nn.Module, args: tuple[object, ...], given: dict[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        return args, given | {"output_attentions": True, "return_dict": True}

    def see(module: nn.Module, args: object, output: object) -> None:
        seen.append(output)

    def differentiable(module: nn.Module, args: object, output: Tensor) -> Tensor:
        # With frozen parameters the graph begins here; the copy may be written to, a root not.
        return output if output.requires_grad else output.detach().requires_grad_().clone()

    handles = [
        model.register_forward_pre_hook(ask, with_kwargs=True),
        model.register_forward_hook(see),
        model.get_input_embeddings().register_forward_hook(differentiable),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _check(model: PreTrainedModel, weights: list[Tensor]) -> None:
    layers = model.config.num_hidden_layers
    if len(weights) != layers:
        raise NotApplicable(f"{_name(model)} shows {len(weights)} attentions for {layers} layers")
    if any(w.ndim != 4 or w.shape[2] != w.shape[3] for w in weights):
        raise NotApplicable(f"{_name(model)} shows no weights from every position to every other")


def _name(model: PreTrainedModel) -> str:
    return type(model).__name__
