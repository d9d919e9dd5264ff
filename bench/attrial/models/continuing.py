"""One forward of a causal language model: how likely each continuation is after every row."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from attrial.batching import Batch, plan
from attrial.masks import Bools, Floats, Ints
from attrial.models.beginnings import read_at_hosts
from attrial.models.copies import OPTIONS, OWN, PLACES, PRIVATE, WIDTH, extent
from attrial.models.forward import Arguments, Forward
from attrial.models.past import Past, past_of
from attrial.models.shared_prefix import shared_outputs
from attrial.removal import NO_TOKEN, Rows, closed_up


@dataclass(frozen=True, eq=False)
class Continuing(Forward):
    """A forward whose raw outputs are log-probabilities (R, C) of the rows' C continuations.

    Each is the sum over its tokens, of the whole vocabulary. A single one has a second column: the
    log-probability of anything else. Continuations of one token are read at the rows' ends; longer
    ones are appended to copies of the rows, at the places after the last token that is kept. Rows
    that ask about none answer with the next token's logits (R, V).

    Attributes:
        joined: Whether rows that ask about one token each, and are beginnings of others, are read
            from those: for what a model wrote itself, token after token. The last bits of a row
            then depend on its company.
        remembered: Bytes of keys and values that a token leaves for later ones, where rows may go
            on from those of others; 0 where they can't.
    """

    joined: bool = False
    remembered: int = 0

    def columns(self, options: int) -> int:
        """How many raw outputs a row has that asks about so many continuations."""
        return max(2, options) if options else int(self.model.config.get_text_config().vocab_size)

    def batches(self, rows: Rows) -> list[Batch]:
        """A plan in which rows meet only those that ask about as many and as long continuations."""
        if rows.options is None:
            return plan(rows.lengths, tokens=self.tokens)
        found = []
        shapes = extent(rows.options)
        for count, length in np.unique(shapes, axis=0).tolist():
            here = np.flatnonzero((shapes == (count, length)).all(axis=1))
            budget = self.tokens // (count if length > 1 else 1)
            batches = plan(rows.lengths[here], tokens=budget)
            found += [Batch(b.width, here[b.rows], b.fresh) for b in batches]
        return found

    def arguments(self, rows: Rows, batch: Batch) -> Arguments:
        """What the model is called with for one batch, and where its logits are read."""
        ends = rows.lengths[batch.rows, None] - 1
        if rows.options is None:
            return super().arguments(rows, batch) | self._tensors({PLACES: ends})
        count, length = extent(rows.options[batch.rows[:1]])[0].tolist()
        options = rows.options[batch.rows, :count, :length]
        if length == 1:
            return super().arguments(rows, batch) | self._tensors({PLACES: ends, OPTIONS: options})
        longer = appended(rows, batch, options)
        ends = np.repeat(ends, count, axis=0)
        wide = longer.ids.shape[1]
        found: dict[str, Ints | Bools] = {
            PLACES: np.minimum(ends + np.arange(length), longer.lengths[:, None] - 1),
            OPTIONS: options,
            OWN: np.arange(wide) <= ends,
            WIDTH: np.zeros((1, batch.width), bool),
        }
        whole = Batch(wide, np.arange(len(longer.ids)), batch.fresh * count)
        return super().arguments(longer, whole) | self._tensors(found)

    def outputs(self, parts: Sequence[Rows]) -> Floats:
        """Raw outputs (k, C) of all rows, in float64; see ``Forward.outputs``."""
        rows = self.stacked(parts)
        one = rows.options is not None and rows.options.shape[1:] == (1, 1)
        if self.joined and one:
            return read_at_hosts(self, rows, self.ends(rows))
        return shared_outputs(self, parts, rows) if self.remembered else self.computed(rows)

    def going_on(self, arguments: Arguments, past: Past) -> tuple[Tensor, Past]:
        """Logits (R, m, V) of rows behind others, and what both leave for later ones."""
        cache = past.cache()
        return self._logits(arguments, {"cache": cache, "use_cache": True}), past_of(cache)

    def ends(self, rows: Rows) -> Ints:
        """(k,) the position of each row at which its next token is read."""
        return rows.lengths - 1

    def _tensors(self, arrays: Mapping[str, Ints | Bools]) -> Arguments:
        return {name: torch.from_numpy(np.array(a)).to(self.device) for name, a in arrays.items()}

    def __call__(self, arguments: Arguments) -> Tensor:
        """Raw outputs (R, C), in float64."""
        return self.answered(self.raw(arguments), arguments)

    def raw(self, arguments: Arguments) -> Tensor:
        """The model's logits (R', m, V) at the places that are read."""
        return self._logits(arguments, self.unsaved)

    def _logits(self, arguments: Arguments, saved: Mapping[str, object]) -> Tensor:
        given = {name: tensor for name, tensor in arguments.items() if name not in PRIVATE}
        at = arguments.get(PLACES)
        if at is None:  # called with ids alone
            at = torch.full((len(given["input_ids"]), 1), given["input_ids"].shape[1] - 1)
        with _read_at(self.model, at.to(self.device)):
            logits: Tensor = self.model(**given, **saved).logits
        return logits

    def answered(self, raw: Tensor, arguments: Arguments) -> Tensor:
        """Raw outputs (R, C) from the logits that were read."""
        if OPTIONS not in arguments:
            return raw[:, -1]
        return log_probabilities(raw, arguments[OPTIONS])

    def states(self, arguments: Arguments) -> Tensor:
        """The last layer's states (R', w', d), before the head."""
        return super().states({n: t for n, t in arguments.items() if n not in PRIVATE})

    def _dropped(self, rows: Rows) -> Rows:
        """Rows without tokens that nobody sees, where it is the same; at the end it always is."""
        hidden = rows.visible.sum(axis=1) < rows.lengths
        if hidden.any() and rows.lengths.max() <= self.drops:
            return closed_up(rows)
        behind = rows.visible[:, ::-1].argmax(axis=1)
        return replace(rows, lengths=rows.visible.shape[1] - behind)


def appended(rows: Rows, batch: Batch, options: Ints) -> Rows:
    """A copy of each row for each continuation, which follows it but for its last token.

    Args:
        rows: Of which the batch takes some.
        batch: R rows and their width.
        options: (R, C, m) the continuations.

    Returns:
        R * C rows of width + m - 1 positions.
    """
    _, count, length = options.shape
    take, tails = np.repeat(batch.rows, count), options.reshape(-1, length)
    grow = [(0, 0), (0, length - 1)]
    ids, types, positions = (
        np.pad(a[take, : batch.width], grow) for a in (rows.ids, rows.types, rows.positions)
    )
    visible, blank = (np.pad(a[take, : batch.width], grow) for a in (rows.visible, rows.blank))
    ends = rows.lengths[take]
    last = positions[np.arange(len(take)), ends - 1]
    for j in range(length - 1):
        on = np.flatnonzero(tails[:, j + 1] != NO_TOKEN)
        at = (on, ends[on] + j)
        ids[at], types[at], positions[at], visible[at] = tails[on, j], 0, last[on] + 1 + j, True
    lengths = ends + (tails != NO_TOKEN).sum(axis=1) - 1
    return Rows(ids, types, positions, visible, blank, lengths)


@contextmanager
def _read_at(model: PreTrainedModel, places: Tensor) -> Iterator[None]:
    """A forward in which the last layer's states reach the head at some places (R, m) alone.

    Raises:
        RuntimeError: If the head doesn't run exactly once.
    """
    fired = 0
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    if not isinstance(head, nn.Module):
        raise RuntimeError("a causal language model without a head")

    def choose(module: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        nonlocal fired
        fired += 1
        rows = torch.arange(len(places), device=places.device)[:, None]
        return (args[0][rows, places], *args[1:])

    handle = head.register_forward_pre_hook(choose)
    try:
        yield
    finally:
        handle.remove()
    if fired != 1:
        raise RuntimeError(f"the head ran {fired} times a forward, not once")


def log_probabilities(logits: Tensor, options: Tensor) -> Tensor:
    """Log-probabilities (R, C) of continuations; of one, and of anything else: (R, 2).

    "Anything else" is summed over the steps at which it may part from the continuation, so that it
    is exact where the continuation is nearly certain.

    Args:
        logits: (R', m, V) next-token logits; R' is R where m is 1, else R * C.
        options: (R, C, m) token ids; negative ones are no part of the continuation.
    """
    scores = logits.double().reshape(len(options), -1, *logits.shape[1:])
    total = scores.logsumexp(dim=-1)
    there, ids = options >= 0, options.clamp(min=0)
    chosen = scores.expand(-1, options.shape[1], -1, -1).gather(-1, ids[..., None])[..., 0]
    steps = (chosen - total).masked_fill(~there, 0.0)
    found: Tensor = steps.sum(dim=-1)
    if options.shape[1] > 1:
        return found
    others = scores.scatter(-1, ids[..., None], -torch.inf).logsumexp(dim=-1) - total
    parts = (steps.cumsum(dim=-1) - steps + others).masked_fill(~there, -torch.inf)
    return torch.cat([found, parts.logsumexp(dim=-1)], dim=1)
