"""What a modified backward pass gives each embedding, and how much of the target arrived."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attrial.ask import Relevances


@dataclass(frozen=True, eq=False)
class Propagated:
    """How the target of one forward is shared out.

    Attributes:
        outputs: (B, classes) what the run returned, as without rules.
        relevance: (B, T) of each embedding, summed over its width.
        fixed: Sum of what position, type and other embeddings take, over the batch.
        start: (B,) what was shared out: the logit, for a logit; in general the outputs times the
            target's gradient by them.
    """

    outputs: Tensor
    relevance: Tensor
    fixed: float
    start: Tensor

    @property
    def conserved(self) -> float:
        """What arrived as a share of what started: 1 where nothing is lost to biases."""
        arrived = float(self.relevance.double().sum()) + self.fixed
        return arrived / float(self.start.double().sum())

    def answer(self) -> Relevances:
        """To the question about a batch of one."""
        return Relevances(self.relevance[0].cpu().numpy(), self.conserved)


def shared_out(
    outputs: Tensor, words: Tensor, fixed: list[Tensor], read: Callable[[Tensor], Tensor]
) -> Propagated:
    """Share a target out over embeddings, once a forward has run under rules.

    Args:
        outputs: (B, classes).
        words: (B, T, d) the embeddings that are explained.
        fixed: Other embeddings that take part.
        read: The target, (B, classes) -> (B,).
    """
    ends = outputs.detach().requires_grad_()
    (seed,) = torch.autograd.grad(read(ends).sum(), ends)
    found = torch.autograd.grad(outputs, [words, *fixed], seed, allow_unused=True)
    shares = [
        (x * g).detach().double() if g is not None else torch.zeros_like(x, dtype=torch.float64)
        for x, g in zip([words, *fixed], found, strict=True)
    ]
    start = (ends * seed).detach().double().sum(dim=1)
    rest = sum(float(share.sum()) for share in shares[1:])
    return Propagated(outputs.detach(), shares[0].sum(dim=-1), rest, start)
