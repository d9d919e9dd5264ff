"""One forward of an encoder-decoder: how likely each continuation of what its decoder said is."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from attrial.batching import Batch, plan, width
from attrial.errors import AttrialError
from attrial.masks import Ints
from attrial.models.continuing import Continuing
from attrial.models.copies import OPTIONS, ORIGIN, OWN, PLACES, WIDTH, extent
from attrial.models.forward import Arguments, Forward
from attrial.models.spoken import Before, before, carried, heard, spoken
from attrial.removal import NO_TOKEN, Rows

SAID, SEEN = "decoder_input_ids", "decoder_attention_mask"


def beginning(model: object) -> tuple[int, ...]:
    """Ids that a decoder begins with: its start token, and one that is forced to follow.

    Raises:
        AttrialError: If no config names a start token.
    """
    places = [getattr(model, name, None) for name in ("generation_config", "config")]

    def told(name: str) -> int | None:
        found = (getattr(place, name, None) for place in places)
        return next((int(i) for i in found if i is not None), None)

    start, forced = told("decoder_start_token_id"), told("forced_bos_token_id")
    if start is None:
        raise AttrialError(
            f"{type(model).__name__}: no config names a decoder_start_token_id, with which the "
            "decoder begins"
        )
    return (start,) if forced is None else (start, forced)


@dataclass(frozen=True, eq=False)
class Translating(Continuing):
    """A forward whose rows the encoder reads; prefixes and continuations are the decoder's.

    The decoder reads the prefix and a continuation's tokens but for the last, in one row for all
    continuations of one token, else in a copy of the row for each. Its widths are on the grid of
    all batches, so that company doesn't matter there either; what stands behind is seen by nobody.
    """

    def batches(self, rows: Rows) -> list[Batch]:
        """A plan in which rows meet only those whose decoder's rows have their shape."""
        if rows.prefix is None:
            return plan(rows.lengths, tokens=self.tokens)
        kinds = _kinds(rows)
        found = []
        for kind in np.unique(kinds, axis=0):
            here = np.flatnonzero((kinds == kind).all(axis=1))
            count, length = kind[:2].tolist()
            budget = self.tokens // (count if length > 1 else 1)
            batches = plan(rows.lengths[here], tokens=budget)
            found += [Batch(b.width, here[b.rows], b.fresh) for b in batches]
        return found

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch, and where its logits are read."""
        if rows.prefix is None:
            return Forward.arguments(self, rows, batch)
        count, length, wide, _ = _kinds(rows)[batch.rows[0]].tolist()
        copies = count if length > 1 else 1
        options = np.full((len(batch.rows), 1, 1), NO_TOKEN)
        if rows.options is not None:
            options = rows.options[batch.rows, :count, :length]
        tails = options.reshape(-1, length) if copies > 1 else options[:, 0]
        found = Forward.arguments(self, replace(rows, visible=heard(rows)), batch)
        found = {name: _copied(t, copies) for name, t in found.items()}
        if rows.options is not None:
            found |= self._tensors({OPTIONS: options})
        found |= self._said(before(rows, batch.rows).copied(copies), tails, wide)
        return found | self._own(batch, copies)

    def _said(self, told: Before, tails: Ints, wide: int) -> Arguments:
        """Decoder rows (R', wide) of what was said and a tail but for its last token."""
        ends, room = told.lengths, [(0, 0), (0, max(0, wide - told.ids.shape[1]))]
        ids = np.pad(told.ids, room, constant_values=NO_TOKEN)[:, :wide]
        for j in range(tails.shape[1] - 1):
            on = np.flatnonzero(tails[:, j + 1] != NO_TOKEN)
            ids[on, ends[on] + j] = tails[on, j]
        last = ends - 1 + np.maximum((tails != NO_TOKEN).sum(axis=1), 1) - 1
        places = np.minimum(ends[:, None] - 1 + np.arange(tails.shape[1]), last[:, None])
        found = {SAID: np.where(ids == NO_TOKEN, self.pad, ids), PLACES: places}
        if (told.origin >= 0).any():
            seen = np.pad(told.seen, room, constant_values=True)[:, :wide]
            found[SEEN] = (seen & (ids != NO_TOKEN)).astype(np.int64)
            found[ORIGIN] = np.pad(told.origin, room, constant_values=-1)[:, :wide]
        return self._tensors(found)

    def _dropped(self, rows: Rows) -> Rows:
        """Rows without hidden positions at their ends, so that nobody stands there who speaks."""
        shorter = super()._dropped(rows)
        if rows.spoken is None:
            return shorter
        return replace(shorter, spoken=(rows.spoken - rows.lengths + shorter.lengths).clip(0))

    def ends(self, rows: Rows) -> Ints:
        """(k,) the decoder's position at which each row's next token is read."""
        if rows.prefix is None:
            return super().ends(rows)
        return np.asarray((rows.prefix != NO_TOKEN).sum(axis=1) + spoken(rows) - 1)

    def _own(self, batch: Batch, copies: int) -> Arguments:
        """Where the rows' own positions are among those of several copies: everywhere."""
        if copies == 1:
            return {}
        own = np.ones((len(batch.rows) * copies, batch.width), bool)
        return self._tensors({OWN: own, WIDTH: np.zeros((1, batch.width), bool)})

    def raw(self, arguments: Arguments) -> Tensor:
        """The model's logits (R', m, V) at the places that are read."""
        if SAID not in arguments:  # called with the encoder's ids alone
            start = torch.tensor([beginning(self.model)], device=self.device)
            said = start.expand(len(arguments["input_ids"]), -1)
            at = torch.full((len(said), 1), said.shape[1] - 1, device=self.device)
            arguments = {**arguments, SAID: said, PLACES: at}
        if ORIGIN not in arguments:
            return super().raw(arguments)
        with carried(self.model, arguments[ORIGIN]):
            return super().raw(arguments)


def _copied(tensor: Tensor, copies: int) -> Tensor:
    return tensor if copies == 1 else tensor.repeat_interleave(copies, dim=0)


def _kinds(rows: Rows) -> Ints:
    """What decides the shapes of each row's forward: (k, 4).

    Continuations, the longest one's length, the decoder's width, and whether it said more than its
    prefix.
    """
    assert rows.prefix is not None
    none = np.ones((len(rows.prefix), 2), np.int64)
    asked = none if rows.options is None else extent(rows.options)
    said = spoken(rows)
    ends = (rows.prefix != NO_TOKEN).sum(axis=1) + said + asked[:, 1] - 1
    return np.column_stack([asked, [width(int(n)) for n in ends], said > 0])
