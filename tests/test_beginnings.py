"""Rows that begin longer rows are read from those: what is read is what they say by themselves."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial.batching import plan
from attrial.example import Example
from attrial.masks import Floats, all_but_each, everything
from attrial.models import beginnings
from attrial.models.causal import CausalModel
from attrial.models.continuing import Continuing
from attrial.models.seq2seq import Seq2SeqModel
from attrial.removal import Rows
from attrial.subject import Subject
from attrial.target import Target
from tests import encoder_decoders as made
from tests import writers

Writer = CausalModel | Seq2SeqModel
EXACT = 1e-5
NEW = 5
REMOVALS = pytest.mark.parametrize("removal", ["unk", "delete", "attention_off", "zero"])


def steps(c: Writer, x: Example) -> list[Example]:
    """What stood before each of some tokens, which needn't be the model's own."""
    said = [5, 9, 4, 7, 6]
    return [replace(c.grown(x, said[:i]), options=((said[i],),), labels=("",)) for i in range(NEW)]


def forward(c: Writer, *, joined: bool) -> Continuing:
    assert isinstance(c.forward, Continuing)
    return replace(c.forward, joined=joined)


def asked(c: Writer, removal: str, *, joined: bool, calls: list[int] | None = None) -> list[Floats]:
    """Outputs of each step's full row and of rows that leave out one player."""
    it = replace(c, forward=forward(c, joined=joined))
    found = steps(it, it.encode("x", [writers.PROMPT]))
    rows = [np.concatenate([everything(s.n), all_but_each(s.n)]) for s in found]
    subjects = [Subject(s, removal, Target(0)) for s in found]
    seen: list[int] = [] if calls is None else calls
    hook = it.forward.model.register_forward_pre_hook(
        lambda m, args, given: seen.append(len(given["input_ids"])), with_kwargs=True
    )
    outputs = it.keep(list(zip(subjects, rows, strict=True)))
    hook.remove()
    return outputs


def apart(one: Sequence[Floats], two: Sequence[Floats]) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "gemma2", "opt"])
@REMOVALS
def test_steps_of_what_was_written_are_read_from_one_row(family: str, removal: str) -> None:
    whole, joined = list[int](), list[int]()
    c = writers.writer(family, batch_tokens=32)
    one = asked(c, removal, joined=False, calls=whole)
    two = asked(c, removal, joined=True, calls=joined)
    assert apart(one, two) < EXACT
    assert sum(joined) < 0.5 * sum(whole)


@pytest.mark.parametrize("family", made.FAMILIES)
@pytest.mark.parametrize("removal", ["unk", "delete", "attention_off"])
def test_decoders_steps_are_too(family: str, removal: str) -> None:
    c = made.translator(family)
    assert apart(asked(c, removal, joined=False), asked(c, removal, joined=True)) < EXACT


@pytest.mark.parametrize("family", ["gpt2", "mistral"])
def test_each_step_is_the_plain_models(family: str) -> None:
    c, alone = writers.writer(family), writers.model(family)
    x = c.encode("x", [writers.PROMPT])
    for step, found in zip(steps(c, x), asked(c, "unk", joined=True), strict=True):
        rows = np.concatenate([everything(step.n), all_but_each(step.n)])
        for row, stays in zip(found, step.to_positions(rows), strict=True):
            ids = np.where(stays, step.ids, 2).tolist()
            assert np.abs(row - writers.expected(alone, ids, step.options)).max() < EXACT


def test_a_place_too_early_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    c = writers.writer("llama")
    one = asked(c, "unk", joined=False)
    monkeypatch.setattr(Continuing, "ends", lambda self, rows: rows.lengths - 2)
    assert apart(one, asked(c, "unk", joined=True)) > 1e-3


@pytest.mark.parametrize(("removal", "part"), [("attention_off", "visible"), ("zero", "blank")])
def test_a_row_that_differs_in_what_is_hidden_is_no_beginning(
    removal: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were hidden or zeroed positions not looked at, a wrong row would be read."""
    c = writers.writer("mistral")
    one = asked(c, removal, joined=False)
    own = beginnings.hosts
    monkeypatch.setattr(
        beginnings, "hosts", lambda r: own(replace(r, **{part: np.ones_like(r.visible)}))
    )
    assert apart(one, asked(c, removal, joined=True)) > 1e-3


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=5), min_size=1, max_size=12))
def test_a_host_is_begun_by_its_guest_and_is_nobody_elses_beginning(texts: list[list[int]]) -> None:
    found = beginnings.hosts(_rows(texts))
    for i, host in enumerate(found.tolist()):
        assert texts[host][: len(texts[i])] == texts[i]
        assert not any(t[: len(texts[host])] == texts[host] != t for t in texts)
        assert found[host] == host


def _rows(texts: Sequence[Sequence[int]]) -> Rows:
    lengths = np.array([len(t) for t in texts])
    shape = (len(texts), int(lengths.max()))
    ids = np.zeros(shape, np.int64)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = text
    places = np.broadcast_to(np.arange(shape[1]), shape)
    seen = places < lengths[:, None]
    return Rows(ids, np.zeros_like(ids), places, seen, np.zeros(shape, bool), lengths)


def test_batches_are_cut_where_their_logits_would_be_too_many() -> None:
    (batch,) = plan([4] * 5, tokens=64)
    cut = list(beginnings._pieces(batch, beginnings.READ // 2))
    assert [(p.rows.tolist(), p.fresh) for p in cut] == [([0, 1], 2), ([2, 3], 2), ([4, 4], 1)]
    assert [len(p.rows) for p in beginnings._pieces(batch, 2 * beginnings.READ)] == [1] * 5
    assert [p.fresh for p in beginnings._pieces(batch, 1)] == [5]
