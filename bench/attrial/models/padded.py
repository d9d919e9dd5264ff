"""A classifier that sees every row with more padding than it needs: for checks of invariance."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from attrial.ask import Attend, Attention
from attrial.models.embedding import table
from attrial.models.forward import Arguments, Forward
from attrial.models.text import TextClassifier
from attrial.value import Subject


@dataclass(frozen=True, eq=False)
class PaddedForward(Forward):
    """A forward that adds ``extra`` positions which nobody sees at the end of every row.

    Whoever reads or replaces word embeddings from outside sees the rows without them.
    """

    extra: int = 0

    def __call__(self, arguments: Arguments) -> Tensor:
        """Raw outputs (R, classes)."""
        longer = {name: self._longer(name, tensor) for name, tensor in arguments.items()}
        with _hidden(table(self.model), self.extra):
            logits: Tensor = self.model(**longer).logits
        return logits

    def _longer(self, name: str, tensor: Tensor) -> Tensor:
        fill = {"input_ids": self.pad, "position_ids": self.offset}.get(name, 0)
        return nn.functional.pad(tensor, (0, self.extra), value=fill)


@contextmanager
def _hidden(words: nn.Module, extra: int) -> Iterator[None]:
    """Hooks between these two see word embeddings without the last ``extra`` positions."""
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
        own = {f.name: getattr(given.forward, f.name) for f in fields(given.forward)}
        answers = given.answers - {"layers", "suppress"}
        forward = PaddedForward(**own, extra=extra)
        return cls(forward, given.encoder, given.vocabulary, given.spec, answers)

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """Attention weights among the real positions."""
        found = super().attend(asks)
        return [_cropped(a, len(s.example.ids)) for (s, _), a in zip(asks, found, strict=True)]


def _cropped(a: Attention, t: int) -> Attention:
    gradient = None if a.gradient is None else a.gradient[..., :t, :t]
    return Attention(a.weights[..., :t, :t], gradient)
