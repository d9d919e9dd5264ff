"""Rows under intervention: fading embeddings, suppressed attention, drawn stand-ins."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from attrial.ask import Infill, Soften, Suppress
from attrial.batching import width
from attrial.errors import NotApplicable
from attrial.filling import Filler, by_seed
from attrial.masks import Floats, Ints
from attrial.models.copies import spread
from attrial.models.embedding import edited
from attrial.models.forward import Arguments, Forward
from attrial.models.tap import capture
from attrial.removal import Rows, in_place, stack
from attrial.subject import Subject

Places = Sequence[tuple[int, int]]  # (ask, its row) of each row of a batch
Run = Callable[[Arguments, int, Places], Tensor]  # arguments, width, places -> logits


def softened(asks: Sequence[tuple[Subject, Soften]], forward: Forward) -> list[Floats]:
    """Outputs (k, classes) of inputs whose players' embedding elements stay by their shares.

    Raises:
        NotApplicable: If the model doesn't look its word embeddings up exactly once.
    """

    def run(arguments: Arguments, wide: int, places: Places) -> Tensor:
        def fade(embeddings: Tensor) -> Tensor:
            d = embeddings.shape[-1]
            kept = np.ones((len(places), wide, d), bool)
            for row, (i, r) in zip(kept, places, strict=True):
                x, ask = asks[i][0].example, asks[i][1]
                drawn = np.random.default_rng([ask.seed, r]).random((len(x.ids), d))
                row[: len(x.ids)] = drawn < _by_position(x.owner, ask.shares[r], 1.0)[:, None]
            return embeddings * spread(arguments, torch.from_numpy(kept).to(forward.device), True)

        with edited(forward.model, fade):
            return forward(arguments)

    return _outputs([(s, len(q.shares)) for s, q in asks], forward, run)


def suppressed(asks: Sequence[tuple[Subject, Suppress]], forward: Forward) -> list[Floats]:
    """Outputs (k, classes) with attention scores to players scaled down in every layer.

    Raises:
        NotApplicable: If the model's attention can't be edited, or a decoder's own words are
            players.
    """
    if any(subject.example.spoken for subject, _ in asks):
        raise NotApplicable("a decoder's attention to its own words isn't scaled down")

    def run(arguments: Arguments, wide: int, places: Places) -> Tensor:
        factors = np.ones((len(places), wide))
        for row, (i, r) in zip(factors, places, strict=True):
            x, ask = asks[i][0].example, asks[i][1]
            row[: len(x.ids)] = 1.0 - _by_position(x.owner, ask.shares[r], 0.0)
        known = torch.from_numpy(factors).to(forward.device, forward.model.dtype)
        scale = spread(arguments, known, 1.0)[:, None, None, :]
        return capture(
            forward.model,
            lambda: forward(arguments),
            edit=lambda layer, scores: scores * scale,
            fold=lambda weights: weights.new_empty(0),
        ).outputs

    return _outputs([(s, len(q.shares)) for s, q in asks], forward, run)


def infilled(
    asks: Sequence[tuple[Subject, Infill]], forward: Forward, filler: Filler | None
) -> list[Floats]:
    """Outputs (k, classes) with drawn stand-ins for removed players.

    Raises:
        NotApplicable: If there is nothing to draw from.
    """
    if filler is None:
        raise NotApplicable("there is nothing to draw stand-ins from")
    return [_filled(subject, ask, forward, filler) for subject, ask in asks]


def _filled(subject: Subject, ask: Infill, forward: Forward, filler: Filler) -> Floats:
    x = subject.example
    kept = x.to_positions(ask.masks)
    ids = filler.fill(x, kept, by_seed(ask.seed, *kept.shape))
    return forward.outputs([in_place(x, len(kept), ids=ids)])


def _by_position(owner: Ints, shares: Floats, fixed: float) -> Floats:
    """Each position's share (t,): its player's, or that of fixed positions."""
    return np.append(shares, fixed)[owner]


def _outputs(sizes: Sequence[tuple[Subject, int]], forward: Forward, run: Run) -> list[Floats]:
    """Run k copies of each full input in batches of fixed shapes."""
    parts = [in_place(subject.example, k) for subject, k in sizes]
    places = [(i, r) for i, (_, k) in enumerate(sizes) for r in range(k)]
    rows = _stacked(parts, forward)
    out = np.full((len(places), forward.columns(rows.asked)), np.nan)
    for batch in forward.batches(rows):
        with torch.no_grad():
            logits = run(
                forward.arguments(rows, batch), batch.width, [places[r] for r in batch.rows]
            )
        fresh = logits[: batch.fresh].double().cpu().numpy()
        out[batch.rows[: batch.fresh], : fresh.shape[1]] = fresh
    found = np.split(out, np.cumsum([k for _, k in sizes])[:-1])
    counts = [forward.columns(len(s.example.options)) for s, _ in sizes]
    return [part[:, :count] for part, count in zip(found, counts, strict=True)]


def _stacked(parts: Sequence[Rows], forward: Forward) -> Rows:
    return stack(parts, width=max(width(int(p.lengths.max())) for p in parts), pad=forward.pad)
