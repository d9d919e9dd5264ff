"""Forwards of heads that speak at every position: labels of a word, or where an answer lies."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attrial.batching import Batch
from attrial.models.copies import OPTIONS, PLACES, given
from attrial.models.forward import Arguments, Forward
from attrial.removal import Rows, closed_up

START, END = (0,), (1,)  # what of an answer is asked about, as an example's option


@dataclass(frozen=True, eq=False)
class Labelling(Forward):
    """A forward whose raw outputs are the logits (R, C) of the labels of one position of each row.

    The position is the row's own (``Rows.read``), wherever removals have moved it.
    """

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch, and where its logits are read."""
        found = super().arguments(rows, batch)
        if rows.read is None:
            return found
        at = np.array(rows.read[batch.rows, None])
        return found | {PLACES: torch.from_numpy(at).to(self.device)}

    def __call__(self, arguments: Arguments) -> Tensor:
        """Raw outputs (R, C)."""
        return self.answered(self.raw(arguments), arguments)

    def raw(self, arguments: Arguments) -> Tensor:
        """The model's logits (R, w, C) at every position."""
        logits: Tensor = self.model(**given(arguments)).logits
        return logits

    def answered(self, raw: Tensor, arguments: Arguments) -> Tensor:
        """Raw outputs (R, C): the logits at each row's own position, the first where none is."""
        return raw[torch.arange(len(raw), device=raw.device), _places(raw, arguments)]

    def states(self, arguments: Arguments) -> Tensor:
        """The last layer's states (R, w, d), before the head."""
        return super().states(given(arguments))

    def _dropped(self, rows: Rows) -> Rows:
        """Rows without the tokens that nobody sees, where it is the same; the one read is seen."""
        hidden = rows.visible.sum(axis=1) < rows.lengths
        return closed_up(rows) if hidden.any() and rows.lengths.max() <= self.drops else rows


@dataclass(frozen=True, eq=False)
class Answering(Labelling):
    """A forward whose raw outputs (R, 2) say how likely an answer begins, or ends, at a position.

    They are its log-probability among all positions that are seen, and that of all others. Which
    end is asked about is the rows' one option: ``START`` or ``END``.
    """

    def columns(self, options: int) -> int:
        """How many raw outputs a row has."""
        return 2

    def raw(self, arguments: Arguments) -> Tensor:
        """The model's logits (R, w, 2) of beginning and of ending at every position."""
        found = self.model(**given(arguments))
        return torch.stack([found.start_logits, found.end_logits], dim=2)

    def answered(self, raw: Tensor, arguments: Arguments) -> Tensor:
        """Raw outputs (R, 2)."""
        if OPTIONS not in arguments:
            return super().answered(raw, arguments)
        rows, at = torch.arange(len(raw), device=raw.device), _places(raw, arguments)
        logits = raw[rows, :, arguments[OPTIONS][:, 0, 0]].double()
        seen = logits.masked_fill(arguments["attention_mask"] == 0, -torch.inf)
        other = seen.scatter(1, at[:, None], -torch.inf)
        parts = torch.stack([logits[rows, at], other.logsumexp(dim=1)], dim=1)
        return parts - seen.logsumexp(dim=1, keepdim=True)

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch, and what of its logits is read."""
        found = super().arguments(rows, batch)
        if rows.options is None:
            return found
        asked = np.array(rows.options[batch.rows])
        return found | {OPTIONS: torch.from_numpy(asked).to(self.device)}


def _places(raw: Tensor, arguments: Arguments) -> Tensor:
    """The position (R,) that is read of each row."""
    if PLACES in arguments:
        return arguments[PLACES][:, 0]
    return torch.zeros(len(raw), dtype=torch.long, device=raw.device)
