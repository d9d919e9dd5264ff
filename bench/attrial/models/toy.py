"""Hand-set transformers whose right answers are known: attention only, no training, no randomness.

A position's state is a concatenation [token | position | prev | out]: its word embedding (one-hot),
its position embedding (one-hot), and two blocks that heads write to. There is no layer norm and no
feed-forward part; every head adds its output to the state, and the logits are the ``out`` block of
the position that is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from attrial.ask import Attend, Attention, Slope, Slopes
from attrial.errors import AttrialError, NotApplicable, near
from attrial.example import Example
from attrial.masks import Floats, Masks
from attrial.models.reading import read
from attrial.target import Target
from attrial.value import Subject

VOCABULARY = 5
FUSE: Mapping[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda w: w.mean(dim=1),
    "max": lambda w: w.amax(dim=1),
    "min": lambda w: w.amin(dim=1),
}


@dataclass(frozen=True, eq=False)
class Head:
    """One layer of one head, on states of width D.

    Attributes:
        query: (D, r) what a position looks for.
        key: (D, r) what a position can be found by.
        value: (D, D) what is written where it is found.
    """

    query: Tensor
    key: Tensor
    value: Tensor


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
    answers: frozenset[str] = frozenset({"keep", "slope", "attend"})

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """Logits (k, 5) of each ask's masks."""
        return [self._logits_at(subject.example, masks) for subject, masks in asks]

    def _logits_at(self, x: Example, masks: Masks) -> Floats:
        kept = _floats(x.to_positions(masks).astype(np.float64))
        with torch.no_grad():
            logits, _ = self._forward(x, kept[:, :, None] * _words(x))
        return np.asarray(logits.numpy())

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Gradients by the word embeddings: the ``token`` block, d = 5.

        Raises:
            NotApplicable: If the baseline is a token: there is no mask, padding or unknown one.
        """
        return [self._slopes(subject, ask) for subject, ask in asks]

    def _slopes(self, subject: Subject, ask: Slope) -> Slopes:
        x = subject.example
        words, noise = _words(x), _noise(x, ask)
        difference = words - _baseline(ask.baseline)
        with torch.enable_grad():
            points = words - (1 - _floats(ask.points)[:, :, None]) * difference + noise
            points.requires_grad_()
            logits, _ = self._forward(x, points)
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
            logits, weights = self._forward(x, _words(x)[None], scale=ask.scale)
            values = _read(logits, subject.target)
            gradient = torch.autograd.grad(values.sum(), weights) if ask.gradient else None
        kept = [w if ask.fuse is None else FUSE[ask.fuse](w) for w in weights]
        return Attention(_stacked(kept), None if gradient is None else _stacked(gradient))

    def _forward(
        self, x: Example, words: Tensor, *, scale: float = 1.0
    ) -> tuple[Tensor, list[Tensor]]:
        """Logits (k, 5) of word embeddings (k, t, 5), and each layer's weights (k, 1, t, t)."""
        state = _state(words)
        weights = []
        for head in self.heads:
            seen = (scale * self._weights(state, head))[:, None]
            if seen.requires_grad or not torch.is_grad_enabled():
                weights.append(seen)
            else:
                weights.append(seen.requires_grad_())  # the graph's root
            state = state + weights[-1][:, 0] @ state @ head.value
        return state[:, x.read, -VOCABULARY:], weights

    def _weights(self, state: Tensor, head: Head) -> Tensor:
        scores = self.beta * (state @ head.query) @ (state @ head.key).transpose(1, 2)
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
    if name not in TOYS:
        raise AttrialError(f"no toy {name!r}: {near(name, TOYS)}")
    return replace(TOYS[name](), beta=beta)


def first_token() -> Toy:
    """One layer in which every position looks at position 1."""
    x = _example([0, 2, 3, 1], read=0)
    there = torch.zeros(len(x.ids), len(x.ids), dtype=torch.float64)
    there[:, 1] = 1
    head = Head(_from("position", x, there), _from("position", x), _copy("token", "out", x))
    return Toy(x, Target(2, "logit"), (head,), 50.0)


def majority() -> Toy:
    """One layer of uniform attention: nothing is looked for."""
    x = _example([0, 2, 2, 1], read=0)
    nothing = torch.zeros_like(_from("position", x))
    head = Head(nothing, _from("position", x), _copy("token", "out", x))
    return Toy(x, Target(2, "logit"), (head,), 50.0)


def induction() -> Toy:
    """Two causal layers: a head of the previous token, and one that looks for it."""
    x = _example([4, 0, 1, 2, 0], read=4)
    t = len(x.ids)
    before = torch.diag(torch.ones(t - 1, dtype=torch.float64), -1)
    previous = Head(_from("position", x, before), _from("position", x), _copy("token", "prev", x))
    again = Head(_from("token", x), _from("prev", x), _copy("token", "out", x))
    return Toy(x, Target(1, "logit"), (previous, again), 50.0, causal=True)


TOYS: Mapping[str, Callable[[], Toy]] = {
    "first_token": first_token,
    "majority": majority,
    "induction": induction,
}


def _example(ids: Sequence[int], *, read: int) -> Example:
    """Tokens of one position each, all of them players."""
    t = len(ids)
    names = tuple("ABCD*"[i] for i in ids)
    return Example("toy", names, np.array(ids), np.zeros(t, int), np.arange(t), read=read)


def _blocks(t: int) -> Mapping[str, slice]:
    """Where each block lies in the state of an input of t positions."""
    v = VOCABULARY
    ends = np.cumsum([0, v, t, v, v])
    names = ("token", "position", "prev", "out")
    return {name: slice(int(a), int(b)) for name, a, b in zip(names, ends, ends[1:], strict=False)}


def _state(words: Tensor) -> Tensor:
    """States (k, t, D) that word embeddings (k, t, 5) begin as."""
    k, t, _ = words.shape
    places = torch.eye(t, dtype=torch.float64).expand(k, t, t)
    empty = torch.zeros(k, t, 2 * VOCABULARY, dtype=torch.float64)
    return torch.cat([words, places, empty], dim=2)


def _from(block: str, x: Example, into: Tensor | None = None) -> Tensor:
    """(D, r) that reads one block of the state, and turns it by ``into`` (r, r)."""
    where = _blocks(len(x.ids))
    width = where[block].stop - where[block].start
    out = torch.zeros(where["out"].stop, width, dtype=torch.float64)
    out[where[block]] = torch.eye(width, dtype=torch.float64) if into is None else into
    return out


def _copy(source: str, goal: str, x: Example) -> Tensor:
    """(D, D) that writes one block's content into another."""
    out = torch.zeros(2 * (_blocks(len(x.ids))["out"].stop,), dtype=torch.float64)
    where = _blocks(len(x.ids))
    out[where[source], where[goal]] = torch.eye(VOCABULARY, dtype=torch.float64)
    return out


def _words(x: Example) -> Tensor:
    """Word embeddings (t, 5)."""
    return torch.eye(VOCABULARY, dtype=torch.float64)[torch.from_numpy(np.asarray(x.ids))]


def _floats(array: Floats) -> Tensor:
    return torch.from_numpy(np.asarray(array, np.float64))


def _baseline(name: str) -> Tensor:
    """The word embedding (5,) that a way to the input starts from."""
    if name not in ("reference", "zero", "mean"):
        raise NotApplicable(f"a toy has no {name} token: its baselines are zero and mean")
    return torch.full((VOCABULARY,), (name == "mean") / VOCABULARY, dtype=torch.float64)


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
