"""A masked language model that draws stand-ins for removed tokens."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from attrial.batching import Batch, plan, width
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Bools, Floats, Ints
from attrial.models.forward import Forward
from attrial.models.guard import guarded
from attrial.models.loading import fetched, quiet, source, where
from attrial.models.pairing import budget, digest
from attrial.models.probing import plain_forward
from attrial.removal import Rows, stack, with_token


@dataclass(frozen=True, eq=False)
class MaskedFiller:
    """Draws each stand-in from what the model expects there, all removed tokens being masked.

    Stand-ins of one row are drawn at once, each given what is kept and not given one another (Kim
    et al. 2020 draw so for one word). Special tokens are never drawn.

    Attributes:
        forward: The masked language model, and what its forward takes.
        mask: Id of its mask token.
        special: Ids that are no part of a text.
        place: Its name.
    """

    forward: Forward
    mask: int
    special: frozenset[int]
    place: str

    @cached_property
    def name(self) -> str:
        """The model, with the hash of its weights."""
        return f"{self.place} {digest(self.forward.model)[:16]}"

    def fill(self, x: Example, kept: Bools, uniform: Floats) -> Ints:
        """Ids (k, t) with a drawn token at each position that is not kept."""
        part = with_token(x, kept, self.mask, "mask token")
        rows = stack([part], width=width(len(x.ids)), pad=self.forward.pad)
        drawn = np.empty(kept.shape, np.int64)
        with guarded(self.forward.model), torch.inference_mode():
            for batch in plan(rows.lengths, tokens=self.forward.tokens):
                fresh = batch.rows[: batch.fresh]
                drawn[fresh] = self._drawn(rows, batch, uniform[fresh])
        return np.where(kept, x.ids, drawn)

    def _drawn(self, rows: Rows, batch: Batch, uniform: Floats) -> Ints:
        logits = self.forward(self.forward.arguments(rows, batch))
        here = logits[: batch.fresh, : uniform.shape[1]].double()
        here[..., sorted(self.special)] = -torch.inf
        cumulated = here.softmax(dim=-1).cumsum(dim=-1)
        # Scaled by the last sum, which rounding may leave below 1, so that no draw falls outside.
        at: Tensor = torch.from_numpy(uniform).to(here.device)[..., None] * cumulated[..., -1:]
        return np.asarray(torch.searchsorted(cumulated, at, right=True)[..., 0].cpu().numpy())


def load_filler(place: str | Path, tokenizer: PreTrainedTokenizerBase) -> MaskedFiller:
    """Load a masked language model from a folder or the Hub, to stand in for a tokenizer's tokens.

    Raises:
        AttrialError: If there is none there, or its tokens are not the classifier's.
    """
    src = source(place, None)
    with quiet():
        own = fetched(src, lambda: AutoTokenizer.from_pretrained(src.place, **where(src)))
        model, info = fetched(
            src,
            lambda: AutoModelForMaskedLM.from_pretrained(
                src.place,
                dtype=torch.float32,
                use_safetensors=True,
                output_loading_info=True,
                **where(src),
            ),
        )
    if info["missing_keys"]:
        raise AttrialError(
            f"{place} is no trained masked language model: its file lacks "
            f"{', '.join(sorted(info['missing_keys'])[:3])}"
        )
    model.eval()
    return filler_of(model, own, tokenizer, src.name)


def filler_of(
    model: PreTrainedModel,
    own: PreTrainedTokenizerBase,
    tokenizer: PreTrainedTokenizerBase,
    name: str,
) -> MaskedFiller:
    """A loaded masked language model as a filler of a classifier's inputs.

    Raises:
        AttrialError: If its tokens are not the classifier's, or it has no mask token.
    """
    if own.get_vocab() != tokenizer.get_vocab():
        raise AttrialError(f"{name} can't stand in: its tokens are not those of the classifier")
    if own.mask_token_id is None:
        raise AttrialError(f"{name} can't stand in: it has no mask token")
    forward = plain_forward(model, pad=own.pad_token_id or 0, tokens=budget(model))
    return MaskedFiller(forward, int(own.mask_token_id), frozenset(own.all_special_ids), name)
