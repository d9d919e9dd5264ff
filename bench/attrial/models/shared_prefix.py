"""Rows of a causal model that begin as the full input does, or ask about long continuations.

What the full input's first tokens leave for later ones, keys and values, is computed once an
example, in steps of a fixed shape; rows go on from the last step before their first removed token.
Continuations of several tokens go on from what their prompt has left. Whether a row is computed so,
and in which shapes, depends on the row and its example alone, as everywhere.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from attrial.batching import Batch, plan, width
from attrial.masks import Bools, Floats, Ints
from attrial.models.beginnings import taken
from attrial.models.copies import OPTIONS, PLACES, extents
from attrial.models.forward import Arguments
from attrial.models.past import Past, at_end
from attrial.removal import NO_TOKEN, Rows

CHUNK = 32  # tokens by which beginnings are computed and shared
HELD = 1 << 30  # bytes of keys and values that are held at once
READ = 1 << 26  # logits that are held at once
MASK = "attention_mask"


class Remembering(Protocol):
    """A forward that can go on from what was read, as ``Continuing`` does."""

    @property
    def tokens(self) -> int:
        """Token budget of one batch."""

    @property
    def remembered(self) -> int:
        """Bytes of keys and values that a token leaves for later ones."""

    def columns(self, options: int) -> int:
        """How many raw outputs a row has that asks about so many continuations."""

    def computed(self, rows: Rows) -> Floats:
        """Raw outputs (k, C) of rows, each as a whole."""

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch."""

    def blanking(
        self, rows: Rows, batch: Batch, arguments: Arguments
    ) -> AbstractContextManager[None]:
        """A forward in which the embeddings of a batch's blank positions are zero."""

    def going_on(self, arguments: Arguments, past: Past) -> tuple[Tensor, Past]:
        """Logits (R, m, V) of rows behind others, and what both leave for later ones."""

    def answered(self, raw: Tensor, arguments: Arguments) -> Tensor:
        """Raw outputs (R, C) from the logits that were read."""


@dataclass(frozen=True, eq=False)
class Group:
    """Rows of one shape that go on from one beginning.

    Attributes:
        rows: (g,) their numbers.
        part: Whose beginning it is.
        start: Tokens of it.
        width: Positions that are computed of each row.
        length: Tokens of the longest continuation.
    """

    rows: Ints
    part: int
    start: int
    width: int
    length: int


def agreed(rows: Rows) -> Ints:
    """(k,) how many first positions of each row are as in the full input."""
    if rows.full is None:
        return np.zeros(len(rows.lengths), np.int64)
    t = min(len(rows.full), rows.ids.shape[1])
    at = np.arange(t)
    same = (rows.ids[:, :t] == rows.full[:t]) & (rows.positions[:, :t] == at)
    same &= rows.visible[:, :t] & ~rows.blank[:, :t] & (rows.types[:, :t] == 0)
    return np.asarray((same & (at < rows.lengths[:, None])).cumprod(axis=1).sum(axis=1))


def begun(parts: Sequence[Rows], lengths: Ints) -> Ints:
    """(k,) how many first tokens each row takes from the full input; its last is its own."""
    same = np.concatenate([agreed(p) for p in parts])
    return np.asarray(np.minimum(same, lengths - 1) // CHUNK * CHUNK)


def shared_outputs(forward: Remembering, parts: Sequence[Rows], rows: Rows) -> Floats:
    """Raw outputs (k, C) of rows of several examples; NaN behind the last of fewer continuations.

    Args:
        forward: Of a language model.
        parts: Of one example each.
        rows: All of them, as they are forwarded.
    """
    part = np.repeat(np.arange(len(parts)), [len(p.lengths) for p in parts])
    start, asked = begun(parts, rows.lengths), extents(rows)
    out = np.full((len(start), forward.columns(rows.asked)), np.nan)
    whole = (start == 0) & ~_forked(asked, rows.lengths)
    if whole.any():
        out[whole] = forward.computed(taken(rows, whole))
    whose, past = -1, Past()
    with torch.inference_mode():
        for group in _groups(np.flatnonzero(~whole), part, start, rows.lengths, asked):
            if group.start and group.part != whose:
                whose, need = group.part, int(start[part == group.part].max())
                past = beginning(forward, parts[whose].full, need)
            for batch, found in _computed(forward, taken(rows, group.rows), group, past):
                read = found[: batch.fresh].double().cpu().numpy()
                out[group.rows[batch.rows[: batch.fresh]], : read.shape[1]] = read
    return out


def _forked(asked: Ints, lengths: Ints) -> Bools:
    """Whether rows (k,) are computed once for all continuations: what is saved must be worth it.

    By measurement: 2 behind 16 tokens ran half as fast in 2 layers of 64, 2 behind 40 faster.
    """
    count, longest = asked.T
    return np.asarray((longest > 1) & ((count - 1) * lengths >= CHUNK))


def _groups(which: Ints, part: Ints, start: Ints, lengths: Ints, asked: Ints) -> Iterator[Group]:
    """Rows by what they go on from and by shape; those of a part follow each other."""
    widths = np.array([width(int(n)) for n in lengths - start], np.int64)
    kinds = np.column_stack([np.where(start > 0, part, -1), start, widths, asked])
    for kind in np.unique(kinds[which], axis=0):
        here = which[(kinds[which] == kind).all(axis=1)]
        yield Group(here, *kind[[0, 1, 2, 4]].tolist())


def beginning(forward: Remembering, full: Ints | None, need: int) -> Past:
    """What the first ``need`` tokens (a multiple of the steps) leave behind."""
    assert full is not None
    past = Past()
    for at in range(0, need, CHUNK):
        ids = full[None, at : at + CHUNK]
        seen = np.ones(ids.shape, bool)
        lengths = np.array([CHUNK])
        rows = Rows(ids, np.zeros_like(ids), at + np.arange(CHUNK)[None], seen, ~seen, lengths)
        arguments = forward.arguments(rows, Batch(CHUNK, np.array([0]), 1))
        _, past = forward.going_on(_behind(arguments, _ones(arguments, at)), past)
    return past


def _computed(
    forward: Remembering, rows: Rows, group: Group, past: Past
) -> Iterator[tuple[Batch, Tensor]]:
    """Batches of a group's rows, with their raw outputs (R, C)."""
    own, options = _after(rows, group.start, group.width), rows.options
    room = HELD // (forward.remembered * (group.start + group.width))
    budget = min(forward.tokens, max(1, room) * group.width)
    for batch in plan(own.lengths, tokens=budget):
        arguments = forward.arguments(own, batch)
        behind = _behind(arguments, _ones(arguments, group.start))
        before = past.cut(group.start).rows(len(batch.rows))
        with forward.blanking(own, batch, arguments):
            logits, read = forward.going_on(behind, before)
        if options is None:
            yield batch, forward.answered(logits, {})
            continue
        asked = torch.from_numpy(options[batch.rows, :, : group.length]).to(logits.device)
        asked = asked[:, (asked >= 0).any(dim=2).any(dim=0)]
        if group.length == 1:
            yield batch, forward.answered(logits, {OPTIONS: asked})
        else:
            yield batch, _continued(forward, own, batch, (behind[MASK], logits, read), asked)


def _after(rows: Rows, start: int, wide: int) -> Rows:
    """The rows from a position on, so many, asking about nothing."""
    room = [(0, 0), (0, wide)]
    ids, types, positions = (
        np.pad(a[:, start:], room)[:, :wide] for a in (rows.ids, rows.types, rows.positions)
    )
    visible, blank = (np.pad(a[:, start:], room)[:, :wide] for a in (rows.visible, rows.blank))
    return Rows(ids, types, positions, visible, blank, rows.lengths - start)


def _ones(arguments: Arguments, count: int) -> Tensor:
    """The mask of ``count`` tokens before each row that all see."""
    return arguments[MASK].new_ones((len(arguments[MASK]), count))


def _behind(arguments: Arguments, seen: Tensor) -> Arguments:
    """Arguments of rows behind others, of which they see some."""
    return arguments | {MASK: torch.cat([seen, arguments[MASK]], dim=1)}


def _continued(
    forward: Remembering,
    rows: Rows,
    batch: Batch,
    prompt: tuple[Tensor, Tensor, Past],
    options: Tensor,
) -> Tensor:
    """Log-probabilities (R, C) of continuations, some at once behind their prompts.

    Args:
        forward: Of a language model.
        rows: The prompts.
        batch: R of them.
        prompt: What of them is seen (R, p), the logits at their ends (R, 1, V), what they left.
        options: (R, C, m) the continuations.
    """
    seen, first, past = prompt
    lengths = torch.from_numpy(rows.lengths[batch.rows]).to(seen.device)
    lengths = lengths + past.length - batch.width
    past, seen = past.at_end(lengths), at_end(seen, lengths)
    size = len(seen) * max(forward.remembered * past.length, 1)
    some = min(HELD // size, READ // (first.numel() * options.shape[2]))
    found, single = [], options.shape[1] == 1  # which has "anything else" beside it
    for asked in torch.split(options, max(1, some), dim=1):
        count = asked.shape[1]
        tails = _tails(rows, batch, asked.cpu().numpy())
        arguments = forward.arguments(
            tails, Batch(tails.ids.shape[1], np.arange(len(tails.ids)), 1)
        )
        places = torch.arange(tails.ids.shape[1], device=seen.device).expand(len(tails.ids), -1)
        behind = _behind(arguments | {PLACES: places}, seen.repeat_interleave(count, dim=0))
        logits, _ = forward.going_on(behind, past.repeated(count))
        logits = torch.cat([first.repeat_interleave(count, dim=0), logits], dim=1)
        found.append(forward.answered(logits, {OPTIONS: asked})[:, : count + single])
    return torch.cat(found, dim=1)


def _tails(rows: Rows, batch: Batch, options: Ints) -> Rows:
    """Rows (R * C, m - 1) of continuations without their last tokens."""
    tails = options.reshape(-1, options.shape[2])
    seen: Bools = tails[:, 1:] != NO_TOKEN
    ends = rows.lengths[batch.rows] - 1
    last = np.repeat(rows.positions[batch.rows, ends], options.shape[1])
    ids = np.where(seen, tails[:, :-1], 0)
    places = last[:, None] + 1 + np.arange(ids.shape[1])
    none = np.zeros_like(seen)
    return Rows(ids, np.zeros_like(ids), places, seen, none, np.full(len(ids), ids.shape[1]))
