"""Rows that are the beginnings of longer rows are read from those: one forward for all of them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

from attrial.batching import Batch
from attrial.masks import Bools, Floats, Ints
from attrial.models.copies import OPTIONS, PLACES
from attrial.models.forward import Forward
from attrial.removal import NO_TOKEN, Rows

READ = 1 << 28  # logits that are held at once


@dataclass(frozen=True, eq=False)
class Guests:
    """Which rows each row of a batch speaks for, and where.

    Attributes:
        rows: (R, g) numbers of the rows that begin it, itself among them; the last one repeated.
        places: (R, g) where each ends.
        fresh: (R, g) which are no repetition.
    """

    rows: Ints
    places: Ints
    fresh: Bools


def read_at_hosts(forward: Forward, rows: Rows, ends: Ints) -> Floats:
    """Raw outputs (k, 2) of rows that ask about one token each, each read at its host.

    Args:
        forward: Of a language model.
        rows: As they are forwarded.
        ends: (k,) where each row's next token is read.
    """
    host = hosts(rows)
    chosen = np.unique(host)
    kept, out = taken(rows, chosen), np.empty((len(host), 2))
    held = int(np.bincount(host).max()) * int(forward.columns(0))
    with torch.inference_mode():
        for whole in forward.batches(kept):
            for batch in _pieces(whole, held):
                found = _guests(batch, host, chosen, ends)
                read = _read(forward, rows, kept, batch, found).cpu().numpy()
                out[found.rows[found.fresh]] = read[found.fresh]
    return out


def _read(forward: Forward, rows: Rows, kept: Rows, batch: Batch, found: Guests) -> Tensor:
    """Raw outputs (R, g, 2) of all guests of a batch."""
    assert rows.options is not None
    there = {PLACES: found.places, OPTIONS: rows.options[found.rows.ravel()]}
    told = {name: torch.from_numpy(a).to(forward.device) for name, a in there.items()}
    arguments = forward.arguments(kept, batch) | {PLACES: told[PLACES]}
    with forward.blanking(kept, batch, arguments):
        logits = forward.raw(arguments)
    return forward.answered(logits.flatten(0, 1)[:, None], told).reshape(*found.rows.shape, 2)


def _guests(batch: Batch, host: Ints, chosen: Ints, ends: Ints) -> Guests:
    """The rows that are read in a batch of the chosen ones; ``ends`` (k,) is where each is read."""
    lists = [np.flatnonzero(host == chosen[r]) for r in batch.rows]
    most = max(map(len, lists))
    rows = np.stack([np.pad(some, (0, most - len(some)), mode="edge") for some in lists])
    fresh = np.arange(most) < np.array([[len(some)] for some in lists])
    fresh[batch.fresh :] = False
    return Guests(rows, ends[rows], fresh)


def _pieces(batch: Batch, held: int) -> Iterator[Batch]:
    """A batch in pieces of a power of two of rows: ``held`` logits a row mustn't be too many."""
    most = 1 << max(0, (READ // held).bit_length() - 1)
    for start in range(0, batch.fresh, most):
        rows = batch.rows[start : start + most]
        yield Batch(batch.width, rows, min(len(rows), batch.fresh - start))


def hosts(rows: Rows) -> Ints:
    """The row (k,) that each row is the beginning of: a longest one, for most rows themselves.

    Sorted by content, whatever stands between a row and its continuation begins with it too.
    """
    content = _content(rows)
    order = np.lexsort(content.T[::-1])
    at, after = content[order[:-1]], content[order[1:]]
    begins = ((at == after) | (at == NO_TOKEN)).all(axis=1)
    found = np.arange(len(order))
    for here, behind, on in zip(order[-2::-1], order[:0:-1], begins[::-1], strict=True):
        if on:
            found[here] = found[behind]
    return found


def _content(rows: Rows) -> Ints:
    """All that a row's states depend on, (k, columns) with -1 behind the row's end.

    Decoders stand behind a source, whose length parts what it heard from what it said.
    """
    used = np.arange(rows.ids.shape[1]) < rows.lengths[:, None]
    seen = rows.visible * 2 + rows.blank
    cells = np.stack([rows.ids, rows.types, rows.positions, seen], axis=2)
    cells = np.where(used[:, :, None], cells, NO_TOKEN).reshape(len(used), -1)
    source = np.zeros((len(used), 1), np.int64)
    if rows.spoken is not None:
        source = (rows.lengths - rows.spoken)[:, None]
    prefix = rows.prefix if rows.prefix is not None else source[:, :0]
    # No row may end in the middle of a prefix, so that its end is a cell like others.
    return np.concatenate([source, prefix + 1, cells], axis=1)


def taken(rows: Rows, which: Ints | Bools) -> Rows:
    """Some of the rows."""
    held = {f.name: getattr(rows, f.name) for f in fields(rows)}
    return replace(rows, **{n: a[which] for n, a in held.items() if a is not None})
