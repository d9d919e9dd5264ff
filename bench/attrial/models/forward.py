"""One forward of a classifier: rows become tensors of a fixed shape, and raw outputs come back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from attrial.batching import Batch, plan, width
from attrial.errors import NotApplicable
from attrial.masks import Floats
from attrial.models.copies import spread
from attrial.models.embedding import edited
from attrial.removal import Rows, closed_up, stack

Arguments = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Forward:
    """A classifier and what its forward takes.

    Attributes:
        model: The classifier.
        takes: Names of its forward's parameters.
        offset: Position id of the first token.
        pad: Id that fills rows up; it is never attended to.
        tokens: Token budget of one batch.
        replaceable: Whether it looks its word embeddings up once, so that they can be replaced.
        drops: Up to which length leaving hidden tokens out, the others keeping their positions,
            gives the same answer as hiding them; 0 where it doesn't.
        causal: Whether tokens see only those before, so that the answer is read at the last one.
    """

    model: PreTrainedModel
    takes: frozenset[str]
    offset: int
    pad: int
    tokens: int
    replaceable: bool = True
    drops: int = 0
    causal: bool = False

    @property
    def device(self) -> torch.device:
        """Where the model lies."""
        return next(self.model.parameters()).device

    @property
    def classes(self) -> int:
        """How many raw outputs a row has."""
        return int(self.model.config.num_labels or 0)

    @property
    def last(self) -> bool:
        """Whether the answer is read at the last token."""
        return self.causal

    @property
    def unsaved(self) -> dict[str, bool]:
        """Nothing is kept for later tokens: some models can't, where no layer attends."""
        return {"use_cache": False} if "use_cache" in self.takes else {}

    @property
    def twice(self) -> bool:
        """Whether two stacks read the text, so that no word has one embedding."""
        return False

    def columns(self, options: int) -> int:
        """How many raw outputs a row has that asks about so many continuations."""
        return self.classes

    def batches(self, rows: Rows) -> list[Batch]:
        """A plan of fixed shapes that holds every row once."""
        return plan(rows.lengths, tokens=self.tokens)

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch of (R, width) positions."""
        where = np.ix_(batch.rows, np.arange(batch.width))
        given = {
            "input_ids": rows.ids[where],
            "attention_mask": rows.visible[where].astype(np.int64),
            "position_ids": rows.positions[where] + self.offset,
            "token_type_ids": rows.types[where],
        }
        return {
            name: torch.from_numpy(array).to(self.device)
            for name, array in given.items()
            if name in self.takes
        }

    def __call__(self, arguments: Arguments) -> Tensor:
        """Raw outputs (R, classes)."""
        logits: Tensor = self.model(**arguments, **self.unsaved).logits
        return logits

    def raw(self, arguments: Arguments) -> Tensor:
        """What relevance starts from: the model's own logits."""
        return self(arguments)

    def answered(self, raw: Tensor, arguments: Arguments) -> Tensor:
        """Raw outputs (R, classes) from the model's own logits."""
        return raw

    def states(self, arguments: Arguments) -> Tensor:
        """The last layer's states (R, width, d), before the head."""
        states: Tensor = self.model.base_model(**arguments, **self.unsaved)[0]
        return states

    def outputs(self, parts: Sequence[Rows]) -> Floats:
        """Raw outputs (k, classes) of all rows, in float64; call it under the guard.

        Rows that ask about fewer continuations than others end in NaN.
        """
        return self.computed(self.stacked(parts))

    def computed(self, rows: Rows) -> Floats:
        """Raw outputs (k, classes) of rows as they are forwarded, each row as a whole."""
        out = np.full((len(rows.lengths), self.columns(rows.asked)), np.nan)
        with torch.inference_mode():
            for batch in self.batches(rows):
                logits = self._blanked(rows, batch)[: batch.fresh]
                out[batch.rows[: batch.fresh], : logits.shape[1]] = logits.double().cpu().numpy()
        return out

    def stacked(self, parts: Sequence[Rows]) -> Rows:
        """All rows below each other, as they are forwarded."""
        parts = [self._dropped(p) for p in parts]
        return stack(parts, width=max(width(int(p.lengths.max())) for p in parts), pad=self.pad)

    def _dropped(self, rows: Rows) -> Rows:
        """Rows without the tokens that nobody sees, where that is known to be the same."""
        hidden = rows.visible.sum(axis=1) < rows.lengths
        if hidden.any() and rows.lengths.max() <= self.drops:
            return closed_up(rows)
        last = rows.visible[np.arange(len(rows.lengths)), rows.lengths - 1]
        if self.causal and not last.all():
            # Its own embedding would go on speaking where the answer is read.
            raise NotApplicable("this model reads its answer at the last token: it can't be hidden")
        return rows

    def _blanked(self, rows: Rows, batch: Batch) -> Tensor:
        arguments = self.arguments(rows, batch)
        with self.blanking(rows, batch, arguments):
            return self(arguments)

    @contextmanager
    def blanking(self, rows: Rows, batch: Batch, arguments: Arguments) -> Iterator[None]:
        """A forward in which the embeddings of a batch's blank positions are zero."""
        blank = rows.blank[batch.rows, : batch.width]
        if not blank.any():
            yield
            return
        seen = torch.from_numpy(~blank).to(self.device)[:, :, None]
        with edited(self.model, lambda found: found * spread(arguments, seen, True)):
            yield
