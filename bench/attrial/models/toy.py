"""Hand-set transformers with known answers, as models: no training, no randomness."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attrial.ask import (
    Attend,
    Attention,
    Layers,
    Relevance,
    Relevances,
    Slope,
    Slopes,
    Suppress,
)
from attrial.errors import AttrialError, NotApplicable, near
from attrial.example import Example
from attrial.masks import Floats, Masks
from attrial.models import deep_lift
from attrial.models.hand_set import DESIGNS, VOCABULARY, Head, places, state, words
from attrial.models.propagation import Propagation, rule
from attrial.models.reading import read
from attrial.models.shares import shared_out
from attrial.models.toy_layers import handed_on
from attrial.target import Target
from attrial.value import Subject

PLAIN = Attend()
FUSE: Mapping[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda w: w.mean(dim=1),
    "max": lambda w: w.amax(dim=1),
    "min": lambda w: w.amin(dim=1),
}


@dataclass(frozen=True, eq=False)
class Toy:
    """A hand-set transformer with its one example; satisfies ``attrial.value.Model``.

    A removed player's word embedding becomes zero; its position stays, whatever the removal.

    Attributes:
        example: The input, every token of it a player.
        target: The logit that is explained.
        heads: One a layer.
        beta: Inverse temperature of attention; at 50 it is one-hot.
        causal: Whether positions see only themselves and those before.
        answers: Which questions it can answer.
    """

    example: Example
    target: Target
    heads: tuple[Head, ...]
    beta: float
    causal: bool = False
    answers: frozenset[str] = frozenset(
        {"keep", "slope", "attend", "relevance", "layers", "suppress"}
    )

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """Logits (k, 5) of each ask's masks."""
        return [self._logits_at(subject.example, masks) for subject, masks in asks]

    def _logits_at(self, x: Example, masks: Masks) -> Floats:
        kept = _floats(x.to_positions(masks).astype(np.float64))
        with torch.no_grad():
            logits, _ = self._forward(x, state(kept[:, :, None] * words(x), places(x)))
        return np.asarray(logits.numpy())

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Gradients by the word embeddings: the ``token`` block, d = 5.

        Raises:
            NotApplicable: If the baseline is a token: there is no mask, padding or unknown one.
        """
        return [self._slopes(subject, ask) for subject, ask in asks]

    def _slopes(self, subject: Subject, ask: Slope) -> Slopes:
        x = subject.example
        end, noise = words(x), _noise(x, ask)
        difference = end - _baseline(x, ask)
        with torch.enable_grad():
            points = end - (1 - _floats(ask.points)[:, :, None]) * difference + noise
            points.requires_grad_()
            logits, _ = self._forward(x, state(points, places(x)))
            values = _read(logits, subject.target)
            (gradient,) = torch.autograd.grad(values.sum(), points)
        return Slopes(
            gradient.numpy(), difference.expand_as(points).numpy(), values.detach().numpy()
        )

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """Attention weights (L, 1, t, t) on the full input, or (L, t, t) fused."""
        return [self._attention(subject, ask) for subject, ask in asks]

    def _attention(self, subject: Subject, ask: Attend) -> Attention:
        if ask.fuse is not None and ask.gradient:
            raise ValueError("fused weights have no gradient: products come before sums")
        x = subject.example
        with torch.enable_grad():
            full = state(words(x)[None], places(x))
            logits, weights = self._forward(x, full, attend=ask)
            values = _read(logits, subject.target).sum()
            gradient = torch.autograd.grad(values, weights) if ask.gradient else None
        kept = [w if ask.fuse is None else FUSE[ask.fuse](w) for w in weights]
        return Attention(_stacked(kept), None if gradient is None else _stacked(gradient))

    def relevance(self, asks: Sequence[tuple[Subject, Relevance]]) -> list[Relevances]:
        """Relevance (t,) of the word embeddings on each ask's full input."""
        return [self._relevance(subject, ask) for subject, ask in asks]

    def _relevance(self, subject: Subject, ask: Relevance) -> Relevances:
        x = subject.example
        if ask.rule == deep_lift.NAME:
            return self._lifted(x, subject.target)
        own, where = words(x)[None].requires_grad_(), places(x).requires_grad_()
        with torch.enable_grad(), Propagation(rule(ask.rule)):
            logits, _ = self._forward(x, state(own, where))
        return shared_out(logits, own, [where], lambda ends: _read(ends, subject.target)).answer()

    def _lifted(self, x: Example, target: Target) -> Relevances:
        def value(embedded: Tensor) -> Tensor:
            return _read(self._forward(x, state(embedded, places(x)))[0], target)

        return deep_lift.lifted(value, words(x), torch.zeros_like(words(x)))

    def layers(self, asks: Sequence[tuple[Subject, Layers]]) -> list[Attention]:
        """What each layer hands from position to position on each ask's full input."""
        return [self._layers(subject.example, ask.kind) for subject, ask in asks]

    def _layers(self, x: Example, kind: str) -> Attention:
        into, found = state(words(x)[None], places(x))[0], []
        for head in self.heads:
            weights, values = self._weights(into[None], head)[0], into @ head.value
            found.append(handed_on(kind, into, weights, values).numpy())
            into = into + weights @ values
        return Attention(np.stack(found))

    def suppress(self, asks: Sequence[tuple[Subject, Suppress]]) -> list[Floats]:
        """Logits (k, 5) with each key's scores scaled down by its share, in every layer."""
        return [self._suppressed(subject.example, ask) for subject, ask in asks]

    def _suppressed(self, x: Example, ask: Suppress) -> Floats:
        shares = np.concatenate([ask.shares, np.zeros((len(ask.shares), 1))], axis=1)
        full = state(words(x)[None].expand(len(shares), -1, -1), places(x))
        with torch.no_grad():
            logits, _ = self._forward(x, full, factor=_floats(1.0 - shares[:, x.owner]))
        return np.asarray(logits.numpy())

    def _forward(
        self,
        x: Example,
        into: Tensor,
        *,
        attend: Attend = PLAIN,
        factor: Tensor | None = None,
    ) -> tuple[Tensor, list[Tensor]]:
        """Logits (k, 5) of states (k, t, D), and each layer's weights (k, 1, t, t).

        Where gradients are asked for, weights that nothing differentiable decides begin graphs.
        """
        weights = []
        for i, head in enumerate(self.heads):
            scale = attend.scale if attend.layer in (None, i) else 1.0
            seen = (scale * self._weights(into, head, factor))[:, None]
            root = attend.gradient and not seen.requires_grad
            weights.append(seen.requires_grad_() if root else seen)
            into = into + weights[-1][:, 0] @ into @ head.value
        return into[:, x.read, -VOCABULARY:], weights

    def _weights(self, into: Tensor, head: Head, factor: Tensor | None = None) -> Tensor:
        scores = self.beta * (into @ head.query) @ (into @ head.key).transpose(1, 2)
        if factor is not None:
            scores = scores * factor[:, None, :]
        if self.causal:
            unseen = torch.ones_like(scores[0]).triu(1).bool()
            scores = scores.masked_fill(unseen, -torch.inf)
        return scores.softmax(dim=-1)


def toy(name: str, *, beta: float = 50.0) -> Toy:
    """A hand-set transformer with its example, by name.

    ``first_token``: the read position looks at the first word; the logit is that word's.
    ``majority``: every position looks at all alike; a class's logit is its word's frequency.
    ``induction``: the last token looks for its earlier self and reads what came after.

    Raises:
        AttrialError: If there is no toy of that name.
    """
    if name not in DESIGNS:
        raise AttrialError(f"no toy {name!r}: {near(name, DESIGNS)}")
    made = DESIGNS[name]()
    return Toy(made.example, made.target, made.heads, beta, made.causal)


def _floats(array: Floats) -> Tensor:
    return torch.from_numpy(np.asarray(array, np.float64))


def _baseline(x: Example, ask: Slope) -> Tensor:
    """Word embeddings that ways to the input start from: (k, t, 5), or (5,) for all alike."""
    if ask.baseline == "sampled":
        draws = np.zeros(1, int) if ask.draws is None else ask.draws
        drawn = [np.random.default_rng([ask.seed, int(d)]).choice(VOCABULARY, x.n) for d in draws]
        return torch.eye(VOCABULARY, dtype=torch.float64)[torch.from_numpy(np.stack(drawn))]
    if ask.baseline not in ("reference", "zero", "mean"):
        raise NotApplicable(
            f"a toy has no {ask.baseline} token: its baselines are mean, sampled, zero"
        )
    share = (ask.baseline == "mean") / VOCABULARY
    return torch.full((VOCABULARY,), share, dtype=torch.float64)


def _noise(x: Example, ask: Slope) -> Tensor:
    """Noise (k, t, 5), or none, on the word embeddings; the spread of one-hot ones is 1."""
    shape = (len(x.ids), VOCABULARY)
    if not ask.noise:
        return torch.zeros(shape, dtype=torch.float64)
    seeds = [[ask.seed, row] for row in range(len(ask.points))]
    drawn = [np.random.default_rng(seed).standard_normal(shape) for seed in seeds]
    return ask.noise * _floats(np.stack(drawn))


def _read(logits: Tensor, target: Target) -> Tensor:
    return read(logits, torch.full((len(logits),), target.index), target.function)


def _stacked(layers: Sequence[Tensor]) -> Floats:
    return np.stack([layer[0].detach().numpy() for layer in layers])
