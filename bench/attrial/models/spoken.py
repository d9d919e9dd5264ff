"""What a decoder said before an answer: its fixed prefix, and words of its own that may be removed.

The latter are the last positions of a row. The encoder doesn't see them there; the decoder reads
them behind the prefix, with the embeddings that they have in the row, whatever became of those.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from attrial.errors import NotApplicable
from attrial.masks import Bools, Ints
from attrial.models.embedding import table
from attrial.removal import NO_TOKEN, Rows


@dataclass(frozen=True, eq=False)
class Before:
    """What the decoder reads before the options.

    Attributes:
        ids: (R, q) token ids, -1 behind the end.
        origin: (R, q) the position in its row where each stands, -1 for the prefix.
        seen: (R, q) whether it is attended to.
    """

    ids: Ints
    origin: Ints
    seen: Bools

    @property
    def lengths(self) -> Ints:
        """(R,) tokens before the options."""
        return np.asarray((self.ids != NO_TOKEN).sum(axis=1))

    def copied(self, copies: int) -> "Before":
        """Each row so many times."""
        take = np.repeat(np.arange(len(self.ids)), copies)
        return Before(self.ids[take], self.origin[take], self.seen[take])


def before(rows: Rows, take: Ints) -> Before:
    """Of the rows (R,) that are taken."""
    assert rows.prefix is not None
    prefix = rows.prefix[take]
    begun, said = (prefix != NO_TOKEN).sum(axis=1), spoken(rows)[take]
    starts = rows.lengths[take] - said
    shape = (len(take), max(prefix.shape[1], int((begun + said).max())))
    ids, origin = np.full(shape, NO_TOKEN), np.full(shape, -1)
    ids[:, : prefix.shape[1]] = prefix
    for j in range(int(said.max())):
        on = np.flatnonzero(said > j)
        origin[on, begun[on] + j] = starts[on] + j
        ids[on, begun[on] + j] = rows.ids[take[on], starts[on] + j]
    seen = np.take_along_axis(rows.visible[take], origin.clip(0), axis=1)
    return Before(ids, origin, seen | (origin < 0))


def spoken(rows: Rows) -> Ints:
    """(k,) how many of each row's last positions its decoder said."""
    return np.zeros(len(rows.lengths), np.int64) if rows.spoken is None else rows.spoken


def heard(rows: Rows) -> Bools:
    """(k, t) the visible positions that the encoder reads."""
    ends = (rows.lengths - spoken(rows))[:, None]
    return np.asarray(rows.visible & (np.arange(rows.visible.shape[1]) < ends))


@contextmanager
def carried(model: PreTrainedModel, origin: Tensor) -> Iterator[None]:
    """One forward whose decoder takes embeddings of some positions (R, t') from the encoder's."""
    held: list[Tensor] = []
    own = (origin >= 0)[:, :, None]

    def take(module: nn.Module, args: object, output: Tensor) -> None:
        held.append(output)

    def give(module: nn.Module, args: object, output: Tensor) -> Tensor:
        lines = torch.arange(len(origin), device=origin.device)[:, None]
        return torch.where(own, held[-1][lines, origin.clamp(min=0)], output)

    handles = (
        table(model).register_forward_hook(take),
        _decoders(model).register_forward_hook(give),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _decoders(model: PreTrainedModel) -> nn.Module:
    """The decoder's own table of embeddings."""
    module: nn.Module = model.get_decoder().get_input_embeddings()  # type: ignore[no-untyped-call]
    return module


def check_tied(model: PreTrainedModel) -> None:
    """Make sure that both stacks look up the same embeddings.

    Raises:
        NotApplicable: If they don't: the decoder's words then have none in the encoder's rows.
    """
    ids = torch.arange(min(64, len(table(model).weight)), device=next(model.parameters()).device)  # type: ignore[arg-type]
    with torch.no_grad():
        same = torch.equal(table(model)(ids), _decoders(model)(ids))
    if not same:
        raise NotApplicable(
            f"{type(model).__name__} has a table of embeddings for each stack: what its decoder "
            "said can't be players"
        )
