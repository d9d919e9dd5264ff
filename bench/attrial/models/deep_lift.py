"""Captum's DeepLift on a module itself, its forward counted like any other."""

import warnings
from collections.abc import Callable

import torch
from captum.attr import DeepLift
from torch import Tensor, nn

from attrial.ask import Relevances
from attrial.models.attention import alone
from attrial.models.copies import spread, times
from attrial.models.embedding import edited, lookup
from attrial.models.forward import Forward
from attrial.models.reading import read
from attrial.subject import Subject

NAME = "deep_lift"  # as a rule of relevance


def lifted(
    value: Callable[[Tensor], Tensor], end: Tensor, start: Tensor, *inside: nn.Module
) -> Relevances:
    """DeepLift's contributions (t,) of each position to ``value`` (B, t, d) -> (B,).

    ``conserved`` is what they sum to as a share of the change from ``start`` to ``end`` (t, d): 1
    where every operation that isn't linear is a module that Captum knows, and lies ``inside``.
    """
    whole = _Whole(value, inside)
    with warnings.catch_warnings():
        # it tells that it sets hooks; it removes them, and the guard looks
        warnings.filterwarnings("ignore", "Setting forward, backward hooks", UserWarning)
        found, delta = DeepLift(whole, eps=_least(end.dtype)).attribute(
            end[None].detach().requires_grad_(), start[None], return_convergence_delta=True
        )
    tokens = found.detach()[0].sum(-1).double().cpu().numpy()
    total = float(tokens.sum())
    change = total - float(delta.detach())
    return Relevances(tokens, total / change if change else 1.0)


def _least(dtype: torch.dtype) -> float:
    """Changes below it have a gradient for a multiplier.

    Captum's own is nothing at all in half precision, where it divides no change by no change.
    """
    return max(1e-10, torch.finfo(dtype).smallest_normal)


class _Whole(nn.Module):
    """A value as a module, for Captum to hang hooks on and in."""

    def __init__(self, value: Callable[[Tensor], Tensor], inside: tuple[nn.Module, ...]) -> None:
        super().__init__()
        self.value, self.inside = value, nn.ModuleList(inside)
        self.training = False  # its own flag alone: what lies inside is in eval mode already

    def forward(self, embeddings: Tensor) -> Tensor:
        return self.value(embeddings)


def deep_lift(subject: Subject, forward: Forward) -> Relevances:
    """DeepLift of a classifier's word embeddings, from zero ones; call it under the guard.

    Raises:
        NotApplicable: If the model doesn't look its word embeddings up exactly once.
    """
    x, target, full = subject.example, subject.target, alone(subject, forward)
    end = lookup(forward.model, x.ids).to(forward.model.dtype)
    player = torch.from_numpy(x.owner >= 0).to(end.device)[:, None]

    def value(embeddings: Tensor) -> Tensor:
        rows = len(embeddings)
        arguments = times(full, rows)
        with edited(forward.model, lambda looked_up: spread(arguments, embeddings, looked_up)):
            logits = forward(arguments)
        return read(logits, torch.full((rows,), target.index, device=end.device), target.function)

    return lifted(value, end, torch.where(player, 0.0, end), forward.model)
