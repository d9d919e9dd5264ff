"""Rows that go on from what others left say what whole rows say, under every removal."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM

from attrial.example import Example
from attrial.masks import Bools, Floats, all_but_each, everything
from attrial.models import past, shared_prefix
from attrial.models import remembering as trial
from attrial.models.causal import CausalModel
from attrial.models.continuing import Continuing
from attrial.models.loading import DTYPES
from attrial.models.past import Past
from attrial.models.remembering import remembering
from attrial.models.shared_prefix import CHUNK
from attrial.removal import Rows
from attrial.subject import Subject
from attrial.target import Target
from tests import decoders, tiny, writers

TEXT = " ".join([writers.PROMPT] * 4)
ONE, SEVERAL = (" dull", " bright"), (" dull and good", " bright", " very very bad story")
EXACT = 1e-5
FAMILIES = pytest.mark.parametrize("family", list(writers.FAMILIES))
OPTIONS = pytest.mark.parametrize("options", [ONE, SEVERAL], ids=["one token", "several"])
REMOVALS = ("unk", "delete", "attention_off", "zero")


def example(c: CausalModel, options: tuple[str, ...] = ONE) -> Example:
    return c.encode("x", [TEXT], options=options)


def masks(x: Example) -> Bools:
    """Rows that part from the full input everywhere, some of them behind a shared beginning."""
    late = np.ones((4, x.n), bool)
    late[:, x.n - 6 :] = tiny.masks(6, 4)
    last = everything(x.n)
    last[0, -1] = False
    return np.concatenate([everything(x.n), all_but_each(x.n)[::9], late, last, tiny.masks(x.n, 2)])


def keep(c: CausalModel, x: Example, removal: str, rows: Bools) -> Floats:
    return c.keep([(Subject(x, removal, Target(0)), rows)])[0]


def whole(c: CausalModel) -> CausalModel:
    """The same model, which computes whole rows."""
    assert isinstance(c.forward, Continuing)
    return replace(c, forward=replace(c.forward, remembered=0))


def apart(c: CausalModel, removal: str, options: tuple[str, ...] = ONE) -> float:
    x = example(c, options)
    rows = masks(x)
    one, two = keep(whole(c), x, removal, rows), keep(c, x, removal, rows)
    return float(np.abs(one - two).max())


@FAMILIES
def test_rows_that_share_say_what_whole_rows_say(family: str) -> None:
    c = writers.writer(family)
    assert isinstance(c.forward, Continuing) and c.forward.remembered > 0
    for removal in REMOVALS:
        assert apart(c, removal, ONE if removal == "delete" else SEVERAL) < EXACT


@pytest.mark.parametrize("count", [1, 2, 3])
@OPTIONS
def test_any_number_of_continuations(options: tuple[str, ...], count: int) -> None:
    """A single one has what is anything else beside it, also behind a shared beginning."""
    c = writers.writer("gpt2")
    asked = (*options, " story")[:count]
    x = example(c, asked)
    found = keep(c, x, "unk", masks(x))
    assert found.shape[1] == max(2, count) and np.isfinite(found).all()
    assert apart(c, "unk", asked) < EXACT


@pytest.mark.parametrize("family", ["gpt2", "mistral", "gemma2"])
def test_rows_that_share_are_the_plain_models(family: str) -> None:
    c, alone = writers.writer(family), writers.model(family)
    x = example(c, SEVERAL)
    rows = masks(x)
    for row, stays in zip(keep(c, x, "delete", rows), x.to_positions(rows), strict=True):
        ids = x.ids[stays].tolist()
        assert np.abs(row - writers.expected(alone, ids, x.options)).max() < EXACT


@OPTIONS
def test_less_is_computed(options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions that a model is called with, over leave-one-out rows of the last players."""
    c = writers.writer("llama", batch_tokens=64)
    x = example(c, options)
    rows = all_but_each(x.n)[-8:]
    cells: list[int] = []
    c.forward.model.register_forward_pre_hook(
        lambda m, args, given: cells.append(given["input_ids"].numel()), with_kwargs=True
    )
    keep(whole(c), x, "unk", rows)
    before = sum(cells)
    keep(c, x, "unk", rows)
    assert sum(cells) - before < 0.6 * before


@OPTIONS
@pytest.mark.parametrize("removal", ["unk", "delete"])
def test_company_doesnt_matter(options: tuple[str, ...], removal: str) -> None:
    c = writers.writer("gpt2")
    x, y = example(c, options), c.encode("y", [writers.PROMPT], options=options)
    rows = masks(x)
    crowd = keep(c, x, removal, rows)
    asks = [
        (Subject(y, removal, Target(0)), everything(y.n)),
        (Subject(x, removal, Target(0)), rows),
    ]
    assert np.array_equal(c.keep(asks)[1], crowd)
    for i in range(len(rows)):
        assert np.array_equal(keep(c, x, removal, rows[i : i + 1])[0], crowd[i])


def _shifted(self: Past, length: int) -> Past:
    return Past(tuple((k[:, :, 1 : length + 1], v[:, :, 1 : length + 1]) for k, v in self.layers))


def test_a_beginning_of_the_wrong_tokens_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    c = writers.writer("gpt2")
    own = shared_prefix.beginning
    monkeypatch.setattr(
        shared_prefix, "beginning", lambda f, ids, need: own(f, np.roll(ids, 1), need)
    )
    assert apart(c, "unk") > 1e-3


@pytest.mark.parametrize("removal", ["unk", "delete", "attention_off", "zero"])
def test_a_beginning_past_the_first_removed_token_would_be_seen(
    removal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    c = writers.writer("mistral")
    monkeypatch.setattr(shared_prefix, "agreed", lambda rows: rows.lengths)
    assert apart(c, removal) > 1e-3


@pytest.mark.parametrize("wrong", [lambda found, lengths: found, lambda found, lengths: found * 0])
def test_continuations_behind_the_wrong_tokens_would_be_seen(
    wrong: Callable[[Tensor, Tensor], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not moved to the ends in a window of 8; nothing left but the continuation itself."""
    c = writers.writer("mistral")
    monkeypatch.setattr(shared_prefix, "at_end", wrong)
    monkeypatch.setattr(past, "at_end", wrong)
    assert apart(c, "delete", SEVERAL) > 1e-3


def test_what_agrees_ends_at_the_first_difference() -> None:
    ids = np.tile(np.arange(6), (5, 1))
    ids[1, 3] = 9
    seen, blank, places = (
        np.ones((5, 6), bool),
        np.zeros((5, 6), bool),
        np.tile(np.arange(6), (5, 1)),
    )
    seen[2, 1], blank[3, 2], places[4, 4] = False, True, 5
    lengths = np.array([6, 6, 6, 6, 6])
    rows = Rows(ids, np.zeros_like(ids), places, seen, blank, lengths, full=np.arange(6))
    assert shared_prefix.agreed(rows).tolist() == [6, 3, 1, 2, 4]
    assert shared_prefix.agreed(replace(rows, lengths=lengths - 2)).tolist() == [4, 3, 1, 2, 4]
    assert shared_prefix.agreed(replace(rows, full=None)).tolist() == [0] * 5
    assert CHUNK > 1


def test_models_that_remember_something_else_compute_whole_rows() -> None:
    config = AutoConfig.for_model(
        "mamba", vocab_size=40, hidden_size=16, num_hidden_layers=1, state_size=4
    )
    assert not past.remembers(AutoModelForCausalLM.from_config(config))  # type: ignore[no-untyped-call]
    c = writers.writer("llama")
    assert isinstance(c.forward, Continuing)
    deaf = replace(c.forward, remembered=0, takes=c.forward.takes - {"cache"})
    assert remembering(deaf).remembered == 0


def test_a_model_whose_answers_dont_tell_computes_whole_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    c = writers.writer("llama")
    assert isinstance(c.forward, Continuing)
    plain = replace(c.forward, remembered=0)
    assert remembering(plain).remembered > 0
    monkeypatch.setattr(Past, "cut", _shifted)
    assert remembering(plain).remembered == 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_short_dtypes_compute_whole_rows_whatever_a_trial_says(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    c = CausalModel.of(writers.model("llama").to(DTYPES[dtype]), decoders.tokenizer())  # type: ignore[arg-type]
    assert isinstance(c.forward, Continuing)
    shares = dtype in ("float32", "float64")
    assert (c.forward.remembered > 0) is shares
    monkeypatch.setattr(trial, "_same", lambda forward, able: True)
    assert (remembering(replace(c.forward, remembered=0)).remembered > 0) is shares
