"""What a model's forward takes and does, found out from its signature and by trying."""

import inspect
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from attrial.batching import Batch
from attrial.errors import AttrialError, NotApplicable
from attrial.masks import Ints
from attrial.models.embedding import edited, table
from attrial.models.forward import Forward
from attrial.models.guard import guarded
from attrial.models.loading import quiet
from attrial.models.sided import LeftForward, TwoStacks
from attrial.models.tap import capture
from attrial.models.threads import suited
from attrial.removal import Rows, closed_up, stack

PROBED = 128  # tokens of the rows on which leaving hidden ones out is tried
ROUNDED = 16  # times the spacing of numbers: moves up to here may be rounding
SEEN = 1000  # times that: moves above it can't be rounding


def forward_of(
    model: PreTrainedModel,
    *,
    pad: int,
    tokens: int,
    kinds: Sequence[type[Forward]] | None = None,
) -> Forward:
    """Find out what a model's forward takes and can do, from its signature and by trying.

    It is of the first of the kinds that fits; of those of classifiers, if none are given.

    Raises:
        AttrialError: If the model can't be told which positions to leave out, answers differently
            when it is padded, or makes position ids of its own that can't be found out.
    """
    two = model.config.is_encoder_decoder and "decoder_attention_mask" in _takes(model)
    own: Sequence[type[Forward]] = (TwoStacks,) if two else (Forward, LeftForward)
    forward = plain_forward(model, pad=pad, tokens=tokens, kinds=kinds or own)
    with quiet(), suited(model), guarded(model), torch.inference_mode():
        forward = replace(forward, causal=_causal(forward))
        return replace(forward, replaceable=_replaceable(forward), drops=_drops(forward))


def plain_forward(
    model: PreTrainedModel,
    *,
    pad: int,
    tokens: int,
    kinds: Sequence[type[Forward]] = (Forward,),
) -> Forward:
    """What a model's forward takes; it need not be a classifier's. Raises like ``forward_of``.

    It is the first of the kinds under which padding changes nothing.
    """
    if model.config.is_encoder_decoder and Forward in kinds:
        raise AttrialError(f"{type(model).__name__} has a decoder; an encoder is needed here")
    takes = _takes(model)
    if "attention_mask" not in takes:
        raise AttrialError(
            f"{type(model).__name__} takes no attention mask, so padding would change its answers"
        )
    with quiet(), suited(model), guarded(model), torch.inference_mode():
        first = kinds[0](model, takes, 0, pad, tokens)
        offset = _offset(first) if "position_ids" in takes else 0
        forwards = [kind(model, takes, offset, pad, tokens) for kind in kinds]
        forward = next((f for f in forwards if _stands_padding(f)), None)
    if forward is None:
        raise AttrialError(f"{type(model).__name__} answers differently when rows are padded")
    return forward


def _takes(model: PreTrainedModel) -> frozenset[str]:
    """Parameters of the forward, without segments where there are none.

    Some models look segment ids up among the words' embeddings, so that zeros aren't nothing.
    """
    takes = frozenset(inspect.signature(model.forward).parameters)
    segments = getattr(model.config, "type_vocab_size", 0)
    return takes if segments else takes - {"token_type_ids"}


def _offset(forward: Forward) -> int:
    """Position id that the model gives the first token when left to itself."""
    model = forward.model
    tables = [m for m in model.modules() if isinstance(m, torch.nn.Embedding)]
    starts = sorted({0} | {m.padding_idx + 1 for m in tables if m.padding_idx is not None})
    ids = _probe(model)
    places = torch.arange(ids.shape[1], device=ids.device)[None]
    left_alone = forward({"input_ids": ids})
    for start in starts:
        if torch.equal(left_alone, forward({"input_ids": ids, "position_ids": places + start})):
            return start
    raise AttrialError(f"{type(model).__name__} gives positions ids that can't be found out")


def _stands_padding(forward: Forward) -> bool:
    """Whether arguments and positions that nobody sees move the outputs by rounding alone."""
    ids = _probe(forward.model)
    bare = forward({"input_ids": ids})
    padded = _padded(forward, ids.cpu().numpy())[:, : bare.shape[1]]  # a head may speak a token
    rounding = torch.finfo(forward.model.dtype).eps ** 0.5
    return bool((padded - bare).abs().max() <= rounding * (1 + bare.abs().max()))


def _causal(forward: Forward) -> bool:
    """Whether the first token's last state doesn't know what the last token is.

    Some models compute it among others, so that it moves by rounding: such a move is far smaller
    than that of the last token's own state. In a dtype too coarse to tell them apart, it must be
    none at all.
    """
    if forward.model.config.is_encoder_decoder:
        return False
    ids = _probe(forward.model)
    other = ids.clone()
    other[0, -1] = ids[0, 0]
    states, changed = (forward.states({"input_ids": i})[0].double() for i in (ids, other))
    moved = (changed - states).abs().reshape(len(states), -1).amax(dim=1)  # or a pooled state
    rounding = ROUNDED * torch.finfo(forward.model.dtype).eps * states.abs().max()
    return not moved[0] or bool(moved[0] <= rounding and moved[-1] > SEEN * rounding)


def _replaceable(forward: Forward) -> bool:
    if forward.twice:
        return False
    try:
        with edited(forward.model, lambda embeddings: embeddings):
            _padded(forward, _probe(forward.model).cpu().numpy())
    except NotApplicable:
        return False
    return True


def attends(forward: Forward) -> bool:
    """Whether a model shows the attention weights of all of its layers, found out by asking it."""
    ids = _probe(forward.model)
    with suited(forward.model), guarded(forward.model):
        try:
            capture(forward.model, lambda: forward({"input_ids": ids}))
        except NotApplicable:
            return False
    return True


def _drops(forward: Forward) -> int:
    """Try on long rows whether hidden tokens may be left out, and whether that can be seen here.

    Models that look at relative positions or through a window fail it, and those whose answers
    would not tell the difference stay on the slow path too.
    """
    if forward.model.config.is_encoder_decoder:
        return 0  # its decoder would stand on another token
    t = min(PROBED, (places(forward.model) or PROBED) - 8)
    rng = np.random.default_rng(0)
    ids = rng.choice(_probe(forward.model)[0].cpu().numpy(), (4, t))
    visible = rng.random((4, t)) < np.array([[0.9], [0.5], [0.5], [0.1]])
    visible[:, [0, -1]] = True
    hidden = replace(_whole(ids), visible=visible)
    dropped = closed_up(hidden)
    moved = replace(dropped, positions=np.broadcast_to(np.arange(t), (4, t)))
    truth, fast, wrong = (forward.outputs([rows]) for rows in (hidden, dropped, moved))
    rounding = 100 * torch.finfo(forward.model.dtype).eps * np.abs(truth).max()
    same = np.abs(fast - truth).max() <= rounding
    seen = np.abs(wrong - truth).max() > 10 * rounding
    return t if same and seen else 0


def _whole(ids: Ints) -> Rows:
    seen = np.ones(ids.shape, bool)
    places = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
    lengths = np.full(len(ids), ids.shape[1])
    return Rows(ids, np.zeros_like(ids), places, seen, ~seen, lengths)


def _padded(forward: Forward, ids: Ints) -> Tensor:
    """Outputs of one row (1, t) with two positions of padding."""
    width = ids.shape[1] + 2
    stacked = stack([_whole(ids)], width=width, pad=forward.pad)
    return forward(forward.arguments(stacked, Batch(width, np.array([0]), 1)))


def places(model: PreTrainedModel) -> int | None:
    """How many positions a model has room for; None where its config names no end.

    Of models that read all positions otherwise in longer texts, those of the shorter: else what is
    left of a text, and its company, would decide which model answers.
    """
    try:
        found = getattr(model.config, "max_position_embeddings", None)
    except NotImplementedError:  # some configs answer so that there is no end
        return None
    return min([int(found), *_switches(model.config)]) if found and found > 0 else None


def _switches(config: PreTrainedConfig) -> list[int]:
    """Lengths beyond which long factors scale a model's rotary positions."""
    own = getattr(config.get_text_config(), "rope_parameters", None) or {}
    kinds = [k for k in own.values() if isinstance(k, dict)] or [own]
    return [
        int(kind["original_max_position_embeddings"])
        for kind in kinds
        if kind.get("rope_type") == "longrope" and "original_max_position_embeddings" in kind
    ]


def _probe(model: PreTrainedModel) -> Tensor:
    """Six ids (1, 6) spread over the vocabulary: no padding, and an end where a head looks for it.

    Heads behind two stacks read at the one end of the text.
    """
    weight = table(model).weight
    assert isinstance(weight, Tensor)
    own = model.config.get_text_config()
    end = own.eos_token_id if own.is_encoder_decoder else None
    no = {own.pad_token_id, end}
    ids = [i for i in np.linspace(0, len(weight) - 1, 12).astype(int).tolist() if i not in no]
    return torch.tensor([ids[-6:] if end is None else [*ids[-5:], end]], device=weight.device)
