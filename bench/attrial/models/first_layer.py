"""Gradients by what the first layer takes: embeddings with their positions, types and norm."""

import numpy as np
import torch
from torch import Tensor, nn

from attrial.ask import Slope, Slopes
from attrial.errors import NotApplicable
from attrial.models.attention import alone
from attrial.models.copies import copies, gathered
from attrial.models.forward import Forward
from attrial.models.hooks import hooked
from attrial.models.layer_calls import FIRST, calls
from attrial.models.reading import read
from attrial.value import Subject

Given = dict[str, object]


def slopes_at_layers(subject: Subject, ask: Slope, forward: Forward) -> Slopes:
    """Gradient and states (1, t, d) of one full input; call it under the guard.

    Raises:
        NotApplicable: If points other than the input are asked for, or layers can't be told.
    """
    if ask.points.shape[0] != 1 or (ask.points != 1).any() or ask.noise:
        raise NotApplicable("at the first layer there is a gradient at the input alone")
    arguments = alone(subject, forward)
    first = calls(forward.model, lambda: forward(arguments))[0]
    leaves: list[Tensor] = []

    def begin(
        module: nn.Module, args: tuple[object, ...], named: Given
    ) -> tuple[tuple[object, ...], Given] | None:
        if leaves:  # layers that share their weights are one module
            return None
        states = args[0] if args else named[FIRST]
        assert isinstance(states, Tensor)
        leaves.append(states.detach().requires_grad_())
        return ((leaves[0], *args[1:]), named) if args else ((), named | {FIRST: leaves[0]})

    with hooked([first.layer.register_forward_pre_hook(begin, with_kwargs=True)]):
        logits = forward(arguments)
    index = torch.tensor([subject.target.index], device=logits.device)
    values = read(logits, index, subject.target.function)
    (gradient,) = torch.autograd.grad(values.sum(), leaves)
    states = gathered(arguments, leaves[0]) / copies(arguments)  # all copies have the same
    return Slopes(*(_numpy(t) for t in (gathered(arguments, gradient), states, values)))


def _numpy(tensor: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(tensor.detach().double().cpu().numpy())
