"""A classifier that sees every row with more padding than it needs: for checks of invariance."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from attrial.ask import Attend, Attention
from attrial.batching import Batch
from attrial.models.copies import PRIVATE
from attrial.models.embedding import table
from attrial.models.forward import Arguments, Forward
from attrial.models.sided import ROLL, LeftForward
from attrial.models.text import TextClassifier
from attrial.removal import Rows
from attrial.value import Subject


@dataclass(frozen=True, eq=False, kw_only=True)
class PaddedForward(Forward):
    """A forward that gives another one rows with ``extra`` more positions which nobody sees.

    Whoever reads or replaces word embeddings from outside sees the rows without them.
    """

    inner: Forward
    extra: int

    @property
    def last(self) -> bool:
        """Whether the answer is read at the last token."""
        return self.inner.last

    def columns(self, options: int) -> int:
        """How many raw outputs a row has that asks about so many continuations."""
        return self.inner.columns(options)

    def batches(self, rows: Rows) -> list[Batch]:
        """A plan of fixed shapes that holds every row once."""
        return self.inner.batches(rows)

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the other forward is called with for one batch, before it is padded."""
        return self.inner.arguments(rows, batch)

    def __call__(self, arguments: Arguments) -> Tensor:
        """Raw outputs (R, classes)."""
        longer = {name: self._longer(name, tensor) for name, tensor in arguments.items()}
        with _hidden(table(self.model), self.extra if self.replaceable else 0):
            return self.inner(longer)

    def _longer(self, name: str, tensor: Tensor) -> Tensor:
        if name == ROLL:
            return tensor + self.extra
        if name in PRIVATE:
            return tensor
        fill = {"input_ids": self.pad, "position_ids": self.offset}.get(name, 0)
        return nn.functional.pad(tensor, (0, self.extra), value=fill)

    def _dropped(self, rows: Rows) -> Rows:
        return self.inner._dropped(rows)


@contextmanager
def _hidden(words: nn.Module, extra: int) -> Iterator[None]:
    """Hooks between these two see word embeddings without the last ``extra`` positions."""
    if not extra:
        yield
        return
    tails: list[Tensor] = []

    def crop(module: nn.Module, given: object, output: Tensor) -> Tensor:
        tails.append(output[:, -extra:])
        return output[:, :-extra]

    def rejoin(module: nn.Module, given: object, output: Tensor) -> Tensor:
        tail = tails.pop().detach().to(output.dtype)
        return torch.cat([output, tail], dim=1)

    handles = (
        words.register_forward_hook(crop, prepend=True),
        words.register_forward_hook(rejoin),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@dataclass(frozen=True, eq=False)
class Padded(TextClassifier):
    """A classifier on a padded forward, whose answers are cut down to the real positions.

    It does not answer ``layers`` and ``suppress``, which take every layer's states as they come.
    """

    @classmethod
    def by(cls, given: TextClassifier, extra: int) -> "Padded":
        """The same classifier, every row padded by ``extra`` more positions."""
        own = {f.name: getattr(given.forward, f.name) for f in fields(Forward)}
        answers = given.answers - {"layers", "suppress"}
        forward = PaddedForward(**own, inner=given.forward, extra=extra)
        return cls(forward, given.encoder, given.vocabulary, given.spec, answers)

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """Attention weights among the real positions."""
        found = super().attend(asks)
        padded = _at_start(self.forward)
        return [
            _cropped(a, slice(padded, padded + len(s.example.ids)))
            for (s, _), a in zip(asks, found, strict=True)
        ]


def _at_start(forward: Forward) -> int:
    """How many positions of padding come first."""
    if not isinstance(forward, PaddedForward):
        return 0
    return forward.extra if isinstance(forward.inner, LeftForward) else 0


def _cropped(a: Attention, own: slice) -> Attention:
    gradient = None if a.gradient is None else a.gradient[..., own, own]
    seen = None if a.seen is None else a.seen[..., own, own]
    return Attention(a.weights[..., own, own], gradient, seen=seen)
