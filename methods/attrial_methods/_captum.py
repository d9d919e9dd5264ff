"""Captum's attribution classes over the questions: its tensors, its draws, its gradients.

torch and Captum are imported inside functions, so that nothing else has to wait for them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from attrial.ask import Asking, keep, slope
from attrial.example import Example
from attrial.library import Ask, join
from attrial.masks import Scores

if TYPE_CHECKING:
    from torch import Tensor

    Forward = Callable[[Tensor], Tensor]  # presence (k, n), 1 = kept -> (k,)
    Attribution = Callable[[Any, Forward, Tensor], Tensor]  # captum.attr, it, ones (1, n) -> (1, n)


def of_sets(x: Example, attribution: "Attribution", *, seed: int) -> Asking[Scores]:
    """A perturbation class of Captum's over players' presence: every row is a set of players."""

    def work(ask: Ask) -> Scores:
        import torch
        from captum import attr

        def value(rows: "Tensor") -> "Tensor":
            return torch.from_numpy(ask(keep(rows.numpy() > 0.5)))

        found = attribution(attr, value, torch.ones((1, x.n), dtype=torch.float64))
        return np.asarray(found.double().numpy()).reshape(x.n)

    scores = yield from join(work, seed=seed, generators=[TorchGlobal()])
    return scores


def of_shares(
    x: Example, attribution: "Attribution", *, baseline: str, seed: int
) -> Asking[Scores]:
    """A gradient class of Captum's over players' shares on the way from a baseline to the input.

    By the chain rule a share's gradient is that of the embeddings times input minus baseline, so
    what is attributed to a share is what would be attributed to the embeddings it moves.
    """

    def work(ask: Ask) -> Scores:
        import torch
        from captum import attr

        def value(shares: "Tensor") -> "Tensor":
            slopes = ask(slope(shares.detach().numpy(), baseline=baseline, seed=seed))
            steps = x.to_players((slopes.gradient * slopes.difference).sum(-1))
            return known(shares, torch.from_numpy(slopes.values), torch.from_numpy(steps))

        found = attribution(attr, value, torch.ones((1, x.n), dtype=torch.float64))
        return np.asarray(found.detach().numpy()).reshape(x.n)

    scores = yield from join(work, seed=seed, generators=[TorchGlobal()])
    return scores


def known(at: "Tensor", values: "Tensor", gradient: "Tensor") -> "Tensor":
    """Values (k,) that torch differentiates to a gradient (k, n) which is known already."""
    import torch

    class Known(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, at: "Tensor") -> "Tensor":  # noqa: ANN401  # torch has no type for it
            return values.clone()

        @staticmethod
        def backward(ctx: Any, *above: "Tensor") -> "Tensor":  # noqa: ANN401
            return above[0][:, None] * gradient

    result: Tensor = Known.apply(at)  # type: ignore[no-untyped-call]
    return result


class TorchGlobal:
    """Torch's global generator of the CPU, which Captum draws from."""

    def seed(self, seed: int) -> None:
        """Start afresh."""
        import torch

        torch.default_generator.manual_seed(seed)

    def state(self) -> Any:  # noqa: ANN401
        """What it is at."""
        import torch

        return torch.default_generator.get_state()

    def restore(self, state: Any) -> None:  # noqa: ANN401
        """Go back to a state."""
        import torch

        torch.default_generator.set_state(state)
