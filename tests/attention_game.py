"""A function of attention weights with known gradients, as a model: two layers of heads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attrial import algebra
from attrial.ask import Attend, Attention, Slope, Slopes
from attrial.errors import NotApplicable
from attrial.example import Example, plain
from attrial.games import ONLY
from attrial.masks import Floats, Masks
from attrial.target import Target
from attrial.value import Subject


@dataclass(frozen=True)
class AttentionGame:
    """y = tanh(sum_h u_h (A_2h A_1h v)[read]), or given weights and gradients of one layer."""

    example: Example
    weights: Floats  # (2, H, n, n)
    heads: Floats  # (H,) u
    values: Floats  # (n,) v
    target: Target = ONLY
    answers: frozenset[str] = frozenset({"attend"})

    def value(self, weights: Floats) -> float:
        below = weights[0] @ self.values
        top = np.einsum("hj,hj->h", weights[1][:, self.example.read], below)
        return float(np.tanh(self.heads @ top))

    def gradient(self, weights: Floats) -> Floats:
        read = self.example.read
        slope = 1 - self.value(weights) ** 2
        out = np.zeros_like(weights)
        out[1][:, read] = slope * self.heads[:, None] * (weights[0] @ self.values)
        above = weights[1][:, read]
        out[0] = slope * self.heads[:, None, None] * above[:, :, None] * self.values
        return out

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        return [self._attention(ask) for _, ask in asks]

    def _attention(self, ask: Attend) -> Attention:
        scaled = self.weights.copy()
        scaled[slice(None) if ask.layer is None else ask.layer] *= ask.scale
        gradient = self.gradient(scaled) if ask.gradient else None
        return Attention(algebra.fuse(scaled, ask.fuse) if ask.fuse else scaled, gradient)

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        raise NotApplicable("nothing can be removed here")

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        raise NotApplicable("there are no embeddings here")


@dataclass(frozen=True)
class Given:
    """Weights (L, H, n, n) and gradients that are what they are."""

    example: Example
    weights: Floats
    gradients: Floats
    target: Target = ONLY
    answers: frozenset[str] = frozenset({"attend"})

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        def one(ask: Attend) -> Attention:
            folded = algebra.fuse(self.weights, ask.fuse) if ask.fuse else self.weights
            return Attention(ask.scale * folded, self.gradients if ask.gradient else None)

        return [one(ask) for _, ask in asks]

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        raise NotApplicable("nothing can be removed here")

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        raise NotApplicable("there are no embeddings here")


def attention_game(seed: int, *, heads: int = 3, n: int = 4) -> AttentionGame:
    """A random one."""
    rng = np.random.default_rng(seed)
    weights = rng.random((2, heads, n, n)) ** 3
    weights /= weights.sum(-1, keepdims=True)
    return AttentionGame(plain(n), weights, rng.normal(size=heads), rng.normal(size=n))


def given(weights: Floats, gradients: Floats, *, read: int = 0) -> Given:
    """Given arrays (L, H, n, n), every position a player, one of them read."""
    x = plain(weights.shape[-1])
    example = Example(x.id, x.players, x.ids, x.types, x.owner, read=read)
    return Given(example, weights, gradients)
