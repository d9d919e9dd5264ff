"""Whether a causal model's rows may go on from what others left, found out by trying."""

from dataclasses import replace

import numpy as np
import torch

from attrial.masks import Ints
from attrial.models.continuing import Continuing
from attrial.models.guard import guarded
from attrial.models.past import Past, remembers
from attrial.models.probing import places
from attrial.models.shared_prefix import CHUNK
from attrial.models.threads import suited
from attrial.removal import Rows

TRIED = CHUNK + 8  # tokens of the rows that are tried
FINE = (torch.float32, torch.float64)  # dtypes in which the trial can tell right from wrong


def remembering(forward: Continuing) -> Continuing:
    """The forward, which goes on from what was read where that gives the same as whole rows.

    In bfloat16 and float16 they never may: what such rows part by in rounding is as large there as
    what would tell a wrong answer, so that no trial could prove it.

    Models that remember something else than keys and values of tokens, that have no room for the
    trial, or whose answers would not tell the difference go on computing whole rows.
    """
    room, fine = places(forward.model) or 2 * TRIED, forward.model.dtype in FINE
    able = fine and "cache" in forward.takes and remembers(forward.model)
    if not able or room < TRIED + 8:
        return forward
    with suited(forward.model), guarded(forward.model):
        going_on = replace(forward, remembered=_bytes(forward))
        return going_on if _same(forward, going_on) else forward


def _bytes(forward: Continuing) -> int:
    """What a token leaves."""
    ids = torch.arange(2, device=forward.device)[None]
    with torch.inference_mode():
        seen = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        _, past = forward.going_on(seen, Past())
    return past.bytes


def _same(forward: Continuing, able: Continuing) -> bool:
    rows = _tried(forward)
    other = replace(rows, ids=np.roll(rows.ids, 1, axis=1))
    truth, fast, wrong = (
        able.computed(able.stacked([rows])),
        able.outputs([rows]),
        able.computed(able.stacked([other])),
    )
    rounding = 100 * torch.finfo(forward.model.dtype).eps * np.abs(truth).max()
    same = np.abs(fast - truth).max() <= rounding
    return bool(same and np.abs(wrong - truth).max() > 10 * rounding)


def _tried(forward: Continuing) -> Rows:
    """Three rows that part from the full input at different places, and two continuations."""
    vocabulary = forward.columns(0)
    rng = np.random.default_rng(0)
    full: Ints = rng.integers(0, vocabulary, TRIED)
    ids = np.tile(full, (3, 1))
    ids[1, CHUNK + 2], ids[2, 1] = ids[1, 0], ids[2, 2]
    shape = ids.shape
    options = np.broadcast_to(rng.integers(0, vocabulary, (2, 3)), (3, 2, 3))
    seen, at = np.ones(shape, bool), np.broadcast_to(np.arange(TRIED), shape)
    lengths = np.array([TRIED, TRIED, TRIED - 2])
    seen = at < lengths[:, None]
    none = np.zeros(shape, np.int64)
    return Rows(ids, none, at, seen, none > 0, lengths, options, full=full)
