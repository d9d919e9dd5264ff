"""The matrices hold the architectures and methods that they must, and these are what they seem."""

import copy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

import attrial_methods
from attrial import registry
from attrial.masks import Floats
from attrial.models.causal import CausalModel
from attrial.subject import Subject
from attrial.target import Target
from tests import (
    decoders,
    encoder_decoders,
    families,
    seen,
    test_families,
    test_families_vision,
    test_seq2seq_methods,
    tiny,
    writers,
)

ENCODERS = {
    *("bert", "roberta", "distilbert", "electra", "albert", "deberta-v2", "mpnet", "xlnet"),
    *("modernbert", "xlm-roberta"),
}
DECODERS = {
    *("gpt2", "gpt_neox", "opt", "llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3"),
}
BOTH = {"t5", "bart", "mbart"}
IMAGES = {"vit", "deit", "beit", "dinov2"}
EXACT, SEEN = 1e-5, 1e-3
GROUPED = ("llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3")
WINDOWED = ("mistral", "gemma2")
KINDS: dict[str, Callable[[str], PreTrainedModel]] = {
    "classifier": families.model,
    "decoder": decoders.model,
    "writer": writers.model,
}


def test_every_architecture_is_there_as_all_that_it_is() -> None:
    listed = ENCODERS | DECODERS | BOTH | IMAGES
    assert len(listed) >= 24 and listed <= {*families.FAMILIES, *seen.FAMILIES}
    assert set(writers.FAMILIES) == DECODERS
    assert {name for name, f in families.FAMILIES.items() if f.words == "decoder"} == DECODERS
    assert set(encoder_decoders.FAMILIES) == BOTH


def test_every_method_is_in_every_matrix() -> None:
    """The files are the list: whatever is added to the package is tried on every architecture."""
    files = Path(attrial_methods.__file__).parent.glob("*.py")
    own = {file.stem for file in files if not file.stem.startswith("_")}
    assert len(own) > 40 and own <= set(registry.plugins("methods"))
    assert set(test_families.METHODS) == set(test_seq2seq_methods.METHODS) == own
    cells = [*test_families.CELLS.values(), *test_families_vision.CELLS.values()]
    assert {name for row in cells for name in row} <= own


def logits(made: PreTrainedModel, ids: list[int]) -> Floats:
    with torch.no_grad():
        out = made(input_ids=torch.tensor([ids])).logits[0]
    return np.asarray((out if out.ndim == 1 else out[-1]).double().numpy())


def text(kind: str) -> list[int]:
    """The ids that a matrix of that kind explains."""
    words = {"classifier": families.TEXT, "decoder": tiny.TEXT, "writer": writers.PROMPT}[kind]
    return [0, *decoders.tokenizer()(words)["input_ids"]]


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("family", WINDOWED)
def test_windows_are_shorter_than_the_texts(family: str, kind: str) -> None:
    narrow, ids = KINDS[kind](family), text(kind)
    assert 0 < narrow.config.sliding_window < len(ids)
    config = copy.deepcopy(narrow.config)
    config.sliding_window = 64
    wide = type(narrow)(config)
    wide.eval()  # type: ignore[no-untyped-call]
    wide.load_state_dict(narrow.state_dict())
    assert np.abs(logits(narrow, ids) - logits(wide, ids)).max() > SEEN


@pytest.mark.parametrize("kind", ["classifier", "writer"])
@pytest.mark.parametrize("family", GROUPED)
def test_heads_are_grouped_and_it_matters_which_share(family: str, kind: str) -> None:
    made, ids = copy.deepcopy(KINDS[kind](family)), text(kind)
    before = logits(made, ids)
    assert made.config.num_attention_heads == 2 * made.config.num_key_value_heads == 4
    width = getattr(made.config, "head_dim", None) or 8
    for name, weight in made.named_parameters():
        if name.endswith(("k_proj.weight", "qkv_proj.weight")):
            first = 4 * width if "qkv" in name else 0  # behind the four queries
            keys = weight.data[first : first + 2 * width]
            keys.copy_(keys.roll(width, dims=0).clone())
    assert np.abs(logits(made, ids) - before).max() > SEEN


@pytest.mark.parametrize("family", list(writers.FAMILIES))
def test_writers_answer_alike_in_any_company_order_and_padding(family: str) -> None:
    asks = []
    words = copy.deepcopy(decoders.tokenizer())
    words.padding_side = "left" if words.padding_side == "right" else "right"
    own = writers.writer(family)
    other = CausalModel.of(writers.model(family), words, batch_tokens=512)
    for i, prompt in enumerate((writers.PROMPT, "a film", "the story is")):
        x = own.encode(str(i), [prompt], options=writers.WORDS)
        asks.append((Subject(x, "delete", Target(0)), tiny.masks(x.n, 4, seed=i)))
    alone = [own.keep([ask])[0] for ask in asks]
    together = other.keep(asks[::-1])[::-1]
    assert all(np.abs(a - b).max() < EXACT for a, b in zip(alone, together, strict=True))
    assert np.abs(alone[0] - together[1]).max() > SEEN  # another order would be seen
