"""Gradients of the target by word embeddings, at points on the way from a baseline to the input."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attrial.ask import Slope, Slopes
from attrial.batching import Batch, width
from attrial.masks import Floats
from attrial.models.copies import spread
from attrial.models.embedding import Baselines, edited, lookup
from attrial.models.first_layer import slopes_at_layers
from attrial.models.forward import Forward
from attrial.models.reading import read
from attrial.removal import Rows, in_place, stack
from attrial.value import Subject


@dataclass(frozen=True, eq=False)
class Path:
    """The way from a baseline to one input, along which players come in by shares.

    Attributes:
        subject: Whose input, and what is read.
        ask: The points on the way.
        shares: (k, t) how far each position has gone; fixed positions stay at the input.
        end: (t, d) the input's embeddings.
        difference: (k, t, d) input minus each row's baseline, or (1, t, d) where all rows have one;
            zero at fixed positions.
    """

    subject: Subject
    ask: Slope
    shares: Floats
    end: Tensor
    difference: Tensor

    def point(self, row: int) -> Tensor:
        """Embeddings (t, d) of one point, its noise included; the same in every company."""
        left = torch.from_numpy(1.0 - self.shares[row]).to(self.end.device)[:, None]
        return self.end - left * self.difference[row % len(self.difference)] + self._noise(row)

    def _noise(self, row: int) -> Tensor:
        if not self.ask.noise:
            return torch.zeros_like(self.end)
        drawn = np.random.default_rng([self.ask.seed, row]).standard_normal(self.end.shape)
        drawn[self.subject.example.owner < 0] = 0.0
        spread = self.end.max() - self.end.min()
        return torch.from_numpy(drawn).to(self.end.device) * (self.ask.noise * spread)


def path(subject: Subject, ask: Slope, forward: Forward, baselines: Baselines) -> Path:
    """Lay the way that a question asks about."""
    x = subject.example
    fixed = np.ones((len(ask.points), 1))
    shares = np.concatenate([ask.points, fixed], axis=1)[:, x.owner]
    end = lookup(forward.model, x.ids)
    player = torch.from_numpy(x.owner >= 0).to(end.device)[:, None]
    return Path(subject, ask, shares, end, (end - baselines.start(ask, len(x.ids))) * player)


def slopes(paths: Sequence[Path], forward: Forward) -> list[Slopes]:
    """Gradients at every point of every path; call it under the guard.

    Raises:
        NotApplicable: If the model doesn't look its word embeddings up exactly once, or, at the
            first layer, what ``slopes_at_layers`` says.
    """
    words = [p for p in paths if p.ask.at != "layers"]
    found = iter(_at_words(words, forward) if words else [])
    return [
        slopes_at_layers(p.subject, p.ask, forward) if p.ask.at == "layers" else next(found)
        for p in paths
    ]


def _at_words(paths: Sequence[Path], forward: Forward) -> list[Slopes]:
    answers = [_empty(p) for p in paths]
    rows = _rows(paths, forward)
    places = [(i, row) for i, p in enumerate(paths) for row in range(len(p.shares))]
    for batch in forward.batches(rows):
        here = [places[r] for r in batch.rows]
        values, gradient = _slopes_at(forward, rows, batch, [(paths[i], row) for i, row in here])
        for j, (i, row) in enumerate(here[: batch.fresh]):
            answers[i].values[row] = values[j]
            answers[i].gradient[row] = gradient[j, : len(paths[i].end)]
    return answers


def _empty(p: Path) -> Slopes:
    shape = (len(p.shares), *p.end.shape)
    difference = np.broadcast_to(p.difference.cpu().numpy(), shape)
    return Slopes(np.empty(shape), difference, np.empty(len(p.shares)))


def _rows(paths: Sequence[Path], forward: Forward) -> Rows:
    parts = [in_place(p.subject.example, len(p.shares)) for p in paths]
    return stack(parts, width=max(width(len(p.end)) for p in paths), pad=forward.pad)


def _slopes_at(
    forward: Forward, rows: Rows, batch: Batch, at: Sequence[tuple[Path, int]]
) -> tuple[Floats, Floats]:
    points = _points(at, batch.width).to(forward.model.dtype).requires_grad_()
    arguments = forward.arguments(rows, batch)
    with edited(forward.model, lambda looked_up: spread(arguments, points, looked_up)):
        logits = forward(arguments)
    values = _read(logits, at)
    (gradient,) = torch.autograd.grad(values.sum(), points)
    return values.detach().cpu().numpy(), gradient.double().cpu().numpy()


def _points(at: Sequence[tuple[Path, int]], width: int) -> Tensor:
    """Embeddings (R, width, d), zero where a row is padded."""
    end = at[0][0].end
    out = torch.zeros((len(at), width, end.shape[1]), dtype=end.dtype, device=end.device)
    for place, (p, row) in zip(out, at, strict=True):
        place[: len(p.end)] = p.point(row)
    return out


def _read(logits: Tensor, at: Sequence[tuple[Path, int]]) -> Tensor:
    """Each row's own target (R,)."""
    targets = [p.subject.target for p, _ in at]
    index = torch.tensor([target.index for target in targets], device=logits.device)
    values = torch.zeros(len(at), dtype=torch.float64, device=logits.device)
    for function in sorted({target.function for target in targets}):
        mine = torch.tensor([t.function == function for t in targets], device=logits.device)
        values[mine] = read(logits[mine], index[mine], function)
    return values
