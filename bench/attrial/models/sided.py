"""Forwards of classifiers that read rows otherwise: padded on the left, or through two stacks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attrial.batching import Batch
from attrial.errors import NotApplicable
from attrial.models.embedding import table
from attrial.models.forward import Arguments, Forward
from attrial.removal import Rows

ROLL = "attrial_roll"  # by how much each row is moved; taken out before the model is called


@dataclass(frozen=True, eq=False)
class LeftForward(Forward):
    """A forward that moves each row to the end of its batch, where a head reads the last position.

    Whoever replaces word embeddings from outside sees rows that begin at the first position.
    """

    @property
    def last(self) -> bool:
        """Whether the answer is read at the last token: such heads know no other."""
        return True

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch, and by how much its rows are moved."""
        found = super().arguments(rows, batch)
        space = torch.from_numpy(batch.width - rows.lengths[batch.rows])[:, None].to(self.device)
        return found | {ROLL: space}

    def __call__(self, arguments: Arguments) -> Tensor:
        """Raw outputs (R, classes)."""
        if ROLL not in arguments:
            return super().__call__(arguments)
        by = arguments[ROLL]
        moved = {name: _rolled(t, by) for name, t in arguments.items() if name != ROLL}
        with _straight(table(self.model), moved["input_ids"], by):
            return super().__call__(moved)


def _rolled(rows: Tensor, by: Tensor) -> Tensor:
    """Rows (R, w, ...), each moved to the right by its own number (R, 1), round the end."""
    w = rows.shape[1]
    places = (torch.arange(w, device=rows.device)[None] - by) % w
    return rows[torch.arange(len(rows), device=rows.device)[:, None], places]


@contextmanager
def _straight(words: nn.Module, ids: Tensor, by: Tensor) -> Iterator[None]:
    """Hooks between these two see word embeddings of rows that were not moved."""

    def moved(output: Tensor, by: Tensor) -> Tensor:
        # Some models look up one position of all rows after the other: those are left alone.
        return _rolled(output, by) if output.shape[:2] == ids.shape else output

    def back(module: nn.Module, given: object, output: Tensor) -> Tensor:
        return moved(output, -by)

    def forth(module: nn.Module, given: object, output: Tensor) -> Tensor:
        return moved(output, by)

    handles = (
        words.register_forward_hook(back, prepend=True),
        words.register_forward_hook(forth),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@dataclass(frozen=True, eq=False)
class TwoStacks(Forward):
    """A forward whose decoder reads the text once more, one position later, and speaks at its end.

    What is hidden is hidden from both stacks. At the end the decoder stands on the token before.
    """

    @property
    def twice(self) -> bool:
        """Both stacks read the text."""
        return True

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch of (R, width) positions."""
        found = super().arguments(rows, batch)
        seen = found["attention_mask"]
        shifted = torch.cat([torch.ones_like(seen[:, :1]), seen[:, :-1]], dim=1)
        return found | {"decoder_attention_mask": shifted}

    def _blanked(self, rows: Rows, batch: Batch) -> Tensor:
        if rows.blank[batch.rows].any():
            raise NotApplicable(f"{type(self.model).__name__} looks words up in both stacks")
        return super()._blanked(rows, batch)

    def _dropped(self, rows: Rows) -> Rows:
        k = torch.arange(len(rows.lengths)).numpy()
        if not rows.visible[k, (rows.lengths - 2).clip(0)].all():
            # Its own embedding would go on speaking where the answer is read.
            raise NotApplicable(
                f"{type(self.model).__name__} reads its answer where its decoder stands on the "
                "last word: that word can't be hidden"
            )
        return rows
