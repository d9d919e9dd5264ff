"""One forward of a classifier: rows become tensors of a fixed shape, and raw outputs come back."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from attrial.batching import Batch, plan, width
from attrial.errors import AttrialError, NotApplicable
from attrial.masks import Floats, Ints
from attrial.models.embedding import edited, table
from attrial.models.guard import guarded
from attrial.removal import Rows, stack

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
    """

    model: PreTrainedModel
    takes: frozenset[str]
    offset: int
    pad: int
    tokens: int
    replaceable: bool = True

    @property
    def device(self) -> torch.device:
        """Where the model lies."""
        return next(self.model.parameters()).device

    @property
    def classes(self) -> int:
        """How many raw outputs a row has."""
        return int(self.model.config.num_labels or 0)

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
        logits: Tensor = self.model(**arguments).logits
        return logits

    def outputs(self, parts: Sequence[Rows]) -> Floats:
        """Raw outputs (k, classes) of all rows, in float64; call it under the guard."""
        rows = stack(parts, width=max(width(int(p.lengths.max())) for p in parts), pad=self.pad)
        out = np.empty((len(rows.lengths), self.classes))
        with torch.inference_mode():
            for batch in plan(rows.lengths, tokens=self.tokens):
                logits = self._blanked(rows, batch)[: batch.fresh]
                out[batch.rows[: batch.fresh]] = logits.double().cpu().numpy()
        return out

    def _blanked(self, rows: Rows, batch: Batch) -> Tensor:
        arguments = self.arguments(rows, batch)
        blank = rows.blank[batch.rows, : batch.width]
        if not blank.any():
            return self(arguments)
        seen = torch.from_numpy(~blank).to(self.device)[:, :, None]
        with edited(self.model, lambda embeddings: embeddings * seen):
            return self(arguments)


def forward_of(model: PreTrainedModel, *, pad: int, tokens: int) -> Forward:
    """Find out what a model's forward takes, from its signature and by trying.

    Raises:
        AttrialError: If the model can't be told which positions to leave out, answers differently
            when it is padded, or makes position ids of its own that can't be found out.
    """
    takes = frozenset(inspect.signature(model.forward).parameters)
    if "attention_mask" not in takes:
        raise AttrialError(
            f"{type(model).__name__} takes no attention mask, so padding would change its answers"
        )
    with guarded(model), torch.inference_mode():
        offset = _offset(model) if "position_ids" in takes else 0
        forward = Forward(model, takes, offset, pad, tokens)
        _check_padding(forward)
        return replace(forward, replaceable=_replaceable(forward))


def _offset(model: PreTrainedModel) -> int:
    """Position id that the model gives the first token when left to itself."""
    tables = [m for m in model.modules() if isinstance(m, torch.nn.Embedding)]
    starts = sorted({0} | {m.padding_idx + 1 for m in tables if m.padding_idx is not None})
    ids = _probe(model)
    places = torch.arange(ids.shape[1], device=ids.device)[None]
    left_alone = model(input_ids=ids).logits
    for start in starts:
        if torch.equal(left_alone, model(input_ids=ids, position_ids=places + start).logits):
            return start
    raise AttrialError(f"{type(model).__name__} gives positions ids that can't be found out")


def _check_padding(forward: Forward) -> None:
    """Two more positions that nobody sees must not move the outputs by more than rounding does."""
    ids = _probe(forward.model).cpu().numpy()
    t = ids.shape[1]
    bare, padded = (_probe_outputs(forward, ids, t + more) for more in (0, 2))
    rounding = torch.finfo(forward.model.dtype).eps ** 0.5
    if (padded - bare).abs().max() > rounding * (1 + bare.abs().max()):
        raise AttrialError(
            f"{type(forward.model).__name__} answers differently when rows are padded"
        )


def _replaceable(forward: Forward) -> bool:
    try:
        with edited(forward.model, lambda embeddings: embeddings):
            forward({"input_ids": _probe(forward.model)})
    except NotApplicable:
        return False
    return True


def _probe_outputs(forward: Forward, ids: Ints, width: int) -> Tensor:
    seen = np.ones(ids.shape, bool)
    places = np.arange(ids.shape[1])[None]
    rows = Rows(ids, np.zeros_like(ids), places, seen, ~seen, np.array([ids.shape[1]]))
    stacked = stack([rows], width=width, pad=forward.pad)
    return forward(forward.arguments(stacked, Batch(width, np.array([0]), 1)))


def _probe(model: PreTrainedModel) -> Tensor:
    """Six ids (1, 6) spread over the vocabulary, none of them padding."""
    weight = table(model).weight
    assert isinstance(weight, Tensor)
    pads = {model.config.pad_token_id}
    ids = [i for i in np.linspace(0, len(weight) - 1, 12).astype(int).tolist() if i not in pads]
    return torch.tensor([ids[-6:]], device=weight.device)
