"""What a model and its tokenizer must agree on, and the hash of the weights that answered."""

import hashlib

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from attrial.batching import longest
from attrial.errors import AttrialError
from attrial.models.embedding import table
from attrial.models.forward import Forward
from attrial.models.loading import CLASSIFIER, ENDINGS
from attrial.models.probing import attends, places
from attrial.models.switch import can_switch
from attrial.record import ModelSpec
from attrial.removal import Vocabulary

SMALL = 2_000_000  # parameters outside of the embeddings
ON_CPU_SMALL, ON_CPU, ON_ACCELERATOR = 1024, 256, 16384


def check(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, kind: str = CLASSIFIER
) -> None:
    """Refuse what is not of a kind, or a tokenizer that is slow, empty or another model's.

    Raises:
        AttrialError: It says which.
    """
    if not isinstance(model, PreTrainedModel) or not type(model).__name__.endswith(ENDINGS[kind]):
        raise AttrialError(f"{type(model).__name__} is no {kind}")
    if kind == CLASSIFIER and model.config.get_text_config().pad_token_id is None:
        raise AttrialError(
            "the model's config has no pad_token_id, by which its head finds the end of a text; "
            "set it to a token that ends no text, such as tokenizer.eos_token_id"
        )
    if not tokenizer.is_fast:
        raise AttrialError(
            f"{type(tokenizer).__name__} doesn't know where in the text its tokens stand; "
            "load the fast one with AutoTokenizer.from_pretrained"
        )
    known = len(tokenizer)
    if known <= len(set(tokenizer.all_special_ids)):
        raise AttrialError("the tokenizer knows no words: the folder holds no vocabulary")
    rows = len(table(model).weight)  # type: ignore[arg-type]
    if known > rows:
        raise AttrialError(f"the tokenizer knows {known} tokens, the model {rows}: not a pair")


def limit(forward: Forward, tokenizer: PreTrainedTokenizerBase) -> int:
    """Tokens that both the tokenizer and the model's table of positions have room for."""
    known = places(forward.model)
    if known is None:  # relative positions have no end
        return int(tokenizer.model_max_length)
    room = known - forward.offset
    if "position_ids" not in forward.takes:
        room = longest(room)
    return int(min(tokenizer.model_max_length, room))


def segments(forward: Forward, tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether tokenizer and model both speak of segments, and of more than one."""
    told = "token_type_ids" in tokenizer.model_input_names and "token_type_ids" in forward.takes
    return told and int(getattr(forward.model.config, "type_vocab_size", 0)) > 1


def vocabulary(tokenizer: PreTrainedTokenizerBase) -> Vocabulary:
    """Tokens that can stand for removed ones."""
    return Vocabulary(
        tokenizer.mask_token_id,
        tokenizer.pad_token_id,
        tokenizer.unk_token_id,
        frozenset(tokenizer.all_special_ids),
    )


def padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """The id that fills rows up: the model's own, since heads look for the end by it."""
    own = model.config.get_text_config().pad_token_id
    known = own if own is not None else tokenizer.pad_token_id
    return int(known or 0)


def anchor(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """A token for the start of texts, where a tokenizer adds no special one."""
    if tokenizer.num_special_tokens_to_add(pair=False):
        return None
    known = (tokenizer.bos_token_id, tokenizer.cls_token_id, tokenizer.eos_token_id)
    return next((int(i) for i in known if i is not None), None)


def answers(forward: Forward) -> frozenset[str]:
    """Which questions a classifier can answer."""
    # What two stacks would show of a text that both read has no one matrix.
    seen = not forward.twice and attends(forward)
    replaceable, tapped = forward.replaceable, seen and can_switch(forward.model)
    can = {
        "keep": True,
        "slope": replaceable,
        "attend": seen,
        "relevance": replaceable,
        "soften": replaceable,
        "suppress": tapped,
        "layers": tapped and not forward.model.config.is_encoder_decoder,
    }
    return frozenset(question for question, able in can.items() if able)


def budget(model: PreTrainedModel) -> int:
    """Token positions of one batch that suit a model.

    By measurement on one and two CPU threads: a model of two layers of width 64 is fastest at 1024
    and slower beyond; one of six layers of width 384 gains 5 % from 256 to 1024, less than what its
    half-empty batches then cost.
    """
    if next(model.parameters()).device.type != "cpu":
        return ON_ACCELERATOR
    small = model.num_parameters(exclude_embeddings=True) < SMALL
    return ON_CPU_SMALL if small else ON_CPU


def spec(forward: Forward, name: str, revision: str | None) -> ModelSpec:
    """What names a model in a record: its name, weights, dtype and device."""
    model = forward.model
    weights, dtype = digest(model), str(model.dtype).removeprefix("torch.")
    device = None if forward.device.type == "cpu" else str(forward.device)
    return ModelSpec(name=name, revision=revision, weights=weights, dtype=dtype, device=device)


def digest(model: PreTrainedModel) -> str:
    """The sha256 of a model's parameters and saved buffers: names, types, shapes and bytes."""
    h = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        h.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}|".encode())
        h.update(flat.view(torch.uint8).numpy().tobytes())
    return h.hexdigest()
