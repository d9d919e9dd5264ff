"""Heads that speak at every position: the labels of one word, and where an answer lies."""

from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from attrial import plugin_call, registry
from attrial.ask import Slope
from attrial.classifiers import filled
from attrial.errors import AttrialError
from attrial.example import FIXED, Example
from attrial.models.heads_models import AnswerModel, Headed, TokenModel
from attrial.models.heads_placed import END, START
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import headed, placed, tiny

FAMILIES = ["bert", "roberta", "distilbert", "electra"]


@cache
def labeller(family: str = "bert") -> tuple[TokenModel, Example]:
    c = placed.token_model(family)
    return c, c.encode("x", [tiny.TEXT], position=placed.WORD)


@cache
def finder(family: str = "bert", end: str = "start") -> tuple[AnswerModel, Example]:
    c = placed.answer_model(family)
    return c, c.encode("x", [placed.QUESTION, placed.CONTEXT], options=(end,))


CASES = ("token", "start", "end")


def case_of(name: str) -> tuple[TokenModel | AnswerModel, Example]:
    return labeller() if name == "token" else finder(end=name)


# What is asked about


def test_the_word_asked_about_stays_and_is_read_at_its_first_token() -> None:
    c, _ = labeller()
    x = c.encode("x", ["the brighter film"], position=1)
    assert x.players == ("the", "film")
    assert x.owner.tolist() == [FIXED, 0, FIXED, FIXED, 1, FIXED]  # bright ##er
    assert x.read == 2
    piece = c.encode("x", ["the brighter film"], position=2, players="tokens")
    assert piece.players == ("the", "bright", "film")
    assert (piece.read, piece.owner.tolist()) == (3, [FIXED, 0, 1, FIXED, 2, FIXED])


def test_of_an_answers_end_the_last_token_is_read() -> None:
    c, _ = finder()
    texts = ["good film", "the brighter plot"]
    first, last = (c.encode("x", texts, position=3, options=(e,)) for e in ("start", "end"))
    assert first.players == last.players == ("good", "film", "the", "plot")
    assert last.read == first.read + 1
    assert (first.options, last.options) == ((START,), (END,))
    assert (first.labels, last.labels) == (("start at 'bright'",), ("end at 'er'",))
    assert first.digest != last.digest


@pytest.mark.parametrize("family", FAMILIES)
def test_the_predicted_answer_is_the_best_span_of_the_context(family: str) -> None:
    c, x = finder(family)
    with torch.no_grad():
        found = c.forward.model(**placed.pair(family, headed.ids(family, *x.text)))
    told = tiny.tokenizer(family)(*x.text)
    inside = [i for i, text in enumerate(told.sequence_ids()) if text == 1]
    best = max(
        ((s, e) for s in inside for e in inside if s <= e),
        key=lambda span: float(found.start_logits[0, span[0]] + found.end_logits[0, span[1]]),
    )
    assert (x.read, finder(family, "end")[1].read) == best


# Outputs


def rows(family: str, x: Example, kept: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Tensor:
    ids = torch.from_numpy(x.ids).repeat(len(kept), 1)
    ids[torch.from_numpy(~x.to_positions(kept))] = tiny.tokenizer(family).mask_token_id
    return ids


@pytest.mark.parametrize("family", FAMILIES)
def test_labels_are_those_of_the_model_alone(family: str) -> None:
    c, x = labeller(family)
    kept = tiny.masks(x.n, 12)
    (found,) = c.keep([(Subject(x, "mask", Target(0)), kept)])
    with torch.no_grad():
        alone = c.forward.model(input_ids=rows(family, x, kept)).logits
    np.testing.assert_allclose(found, alone[:, placed.WORD + 1].numpy(), atol=1e-5)
    assert np.abs(found - alone[:, placed.WORD].numpy()).max() > 0.01  # another word's differ
    assert c.labels == placed.NAMES


@pytest.mark.parametrize("end", ["start", "end"])
@pytest.mark.parametrize("family", FAMILIES)
def test_an_answers_place_is_as_likely_as_the_model_alone_holds_it(family: str, end: str) -> None:
    c, x = finder(family, end)
    kept = tiny.masks(x.n, 12)
    (found,) = c.keep([(Subject(x, "mask", Target(0)), kept)])
    one = placed.pair(family, headed.ids(family, *x.text))
    given = {name: part.expand(12, -1) for name, part in one.items()}
    with torch.no_grad():
        alone = c.forward.model(**given | {"input_ids": rows(family, x, kept)})
    p = (alone.start_logits if end == "start" else alone.end_logits).double().softmax(dim=1)
    p = p[:, x.read].numpy()
    np.testing.assert_allclose(found, np.stack([np.log(p), np.log1p(-p)], axis=1), atol=1e-5)
    assert np.ptp(p) > 0.01


@pytest.mark.parametrize("family", FAMILIES)
def test_the_word_that_is_read_moves_with_what_leaves_before_it(family: str) -> None:
    c, x = labeller(family)
    kept = np.ones((1, x.n), bool)
    kept[0, [0, 2]] = False
    (found,) = c.keep([(Subject(x, "delete", Target(0)), kept)])
    ids = torch.from_numpy(x.ids[x.to_positions(kept)[0]])[None]
    with torch.no_grad():
        alone = c.forward.model(input_ids=ids).logits[0]
    np.testing.assert_allclose(found[0], alone[placed.WORD - 1].numpy(), atol=1e-5)
    assert np.abs(found[0] - alone[placed.WORD + 1].numpy()).max() > 0.01  # had it not moved


@pytest.mark.parametrize("family", FAMILIES)
def test_hidden_words_are_no_place_of_an_answer(family: str) -> None:
    c, x = finder(family)
    kept = tiny.masks(x.n, 6, seed=1)
    (found,) = c.keep([(Subject(x, "attention_off", Target(0)), kept)])
    seen = torch.from_numpy(x.to_positions(kept))
    one = placed.pair(family, headed.ids(family, *x.text))
    given = {name: part.expand(6, -1) for name, part in one.items()}
    with torch.no_grad():
        logits = c.forward.model(**given, attention_mask=seen.long()).start_logits.double()
    p = logits.masked_fill(~seen, -torch.inf).softmax(dim=1)[:, x.read].numpy()
    np.testing.assert_allclose(found[:, 0], np.log(p), atol=1e-5)
    everywhere = logits.softmax(dim=1)[:, x.read].numpy()
    assert np.abs(np.log(everywhere) - found[:, 0]).max() > 0.01


@pytest.mark.parametrize("case", CASES)
def test_slopes_are_those_of_torch_alone(case: str) -> None:
    c, x = case_of(case)
    subject = Subject(x, "mask", Target(0, "log_odds"))
    (found,) = c.slope([(subject, Slope(np.ones((1, x.n)), "zero"))])
    model = c.forward.model
    one = placed.pair("bert", torch.from_numpy(x.ids)[None]) if case != "token" else {}
    embedded = model.get_input_embeddings()(torch.from_numpy(x.ids)[None]).detach()
    embedded.requires_grad_()
    out = model(inputs_embeds=embedded, token_type_ids=one.get("token_type_ids"))
    if case == "token":
        value = tiny.log_odds(out.logits[0, x.read])
    else:
        p = out[f"{case}_logits"][0].double().softmax(dim=0)[x.read]
        value = p.log() - (1 - p).log()
    (alone,) = torch.autograd.grad(value, embedded)
    np.testing.assert_allclose(found.gradient[0], alone[0].numpy(), atol=1e-5)
    assert alone.abs().max() > 1e-3


@pytest.mark.parametrize("case", CASES)
def test_company_and_order_change_no_bit(case: str) -> None:
    c, x = case_of(case)
    xs = [x, *_others(c)]
    asks = [(Subject(y, "delete", Target(0)), tiny.masks(y.n, 6, seed=i)) for i, y in enumerate(xs)]
    for a, b in zip(c.keep(asks), c.keep(asks[::-1])[::-1], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(c.keep(asks[:1])[0], c.keep(asks)[0], atol=1e-6)


def _others(c: Headed) -> list[Example]:
    if isinstance(c, TokenModel):
        return [c.encode(t, [t], position=0) for t in tiny.OTHERS]
    assert isinstance(c, AnswerModel)
    return [c.encode(t, ["was it good", t]) for t in tiny.OTHERS]


# Methods


@pytest.mark.parametrize("name", sorted(registry.plugins("methods")))
@pytest.mark.parametrize("case", CASES)
def test_every_method_explains_every_such_head(case: str, name: str) -> None:
    c, x = case_of(case)
    model = filled(c, [x], None)
    subject = Subject(x, "mask", Target(0))
    (got,) = answer(Value(model), [(subject, plugin_call.method(name)(x, 0))])
    assert got.result is not None, got.undefined
    assert got.result.shape == (x.n,) and np.isfinite(got.result).all()


# Faults


@pytest.mark.parametrize(
    ("texts", "position", "message"),
    [
        ([tiny.TEXT], None, "labels every word; say which one"),
        ([tiny.TEXT], 10, "no word 10; they are 0 to 9"),
        ([tiny.TEXT], -1, "no word -1"),
        ([" ".join(["the"] * 60)], 50, "word 50 was cut off; the model takes 40 tokens"),
        (["the"], 0, "nothing stands beside the word"),
    ],
)
def test_wrong_positions_are_told_in_one_line(
    texts: list[str], position: int | None, message: str
) -> None:
    with pytest.raises(AttrialError, match=message) as told:
        labeller()[0].encode("x", texts, position=position)
    assert "\n" not in str(told.value)


def test_an_answer_finder_says_what_it_takes() -> None:
    c, _ = finder()
    for texts, options, message in (
        (["a film"], (), "takes a question and a context"),
        ([placed.QUESTION, placed.CONTEXT], ("begin",), "an answer has no 'begin'; known are"),
        ([placed.QUESTION, placed.CONTEXT], ("start", "end"), "has no 'start and end'"),
    ):
        with pytest.raises(AttrialError, match=message):
            c.encode("x", texts, options=options)


def test_another_head_is_no_token_classifier() -> None:
    with pytest.raises(AttrialError, match="BertForSequenceClassification is no token classifier"):
        TokenModel.of(tiny.model("bert"), tiny.tokenizer())
