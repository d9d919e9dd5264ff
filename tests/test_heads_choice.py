"""Multiple choice: the choices are classes, and context and question are shared players."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from attrial import plugin_call, registry
from attrial.ask import Slope
from attrial.classifiers import filled
from attrial.errors import AttrialError, NotApplicable
from attrial.example import FIXED, Example
from attrial.masks import Floats, Masks
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import tiny
from tests.chosen import CASES, CHOICES, CONTEXT, QUESTION, called, chooser

FAMILIES = ["bert", "roberta", "distilbert", "electra"]


def example(family: str = "bert", texts: Sequence[str] = CASES[1]) -> Example:
    return chooser(family).encode("x", texts, options=CHOICES)


def alone(family: str, x: Example, kept: Masks) -> Floats:
    """Logits (k, 3) of the model alone, its call made by its tokenizer alone."""
    hidden = [np.flatnonzero(~row).tolist() for row in x.to_positions(kept)]
    with torch.no_grad():
        found = [chooser(family).forward.model(**called(family, x.text, h)).logits for h in hidden]
    return np.asarray(torch.cat(found).double().numpy())


@pytest.mark.parametrize("texts", CASES)
@pytest.mark.parametrize("family", FAMILIES)
def test_outputs_are_those_of_the_model_alone(family: str, texts: Sequence[str]) -> None:
    c, x = chooser(family), example(family, texts)
    kept = tiny.masks(x.n, 8)
    (found,) = c.keep([(Subject(x, "mask", Target(0)), kept)])
    np.testing.assert_allclose(found, alone(family, x, kept), atol=1e-5)
    assert np.ptp(found, axis=0).min() > 0.01 and np.ptp(found, axis=1).min() > 1e-3


def test_players_are_shared_and_choices_are_no_players() -> None:
    x = example()
    assert x.players == (*CONTEXT.split(), *QUESTION.split())
    assert x.owner.tolist() == [FIXED, 0, 1, 2, 3, 4, 5, FIXED, 6, 7, 8]
    assert (x.labels, x.explained) == (CHOICES, None)
    assert x.digest != chooser().encode("x", CASES[1], options=CHOICES[::-1]).digest
    assert chooser().encode("x", CASES[1], options=CHOICES, players="tokens").n == 9


def test_segments_tell_choices_from_the_context() -> None:
    """The control: in the first segment they'd get other logits."""
    c, x = chooser(), example(texts=CASES[0])
    kept = np.ones((1, x.n), bool)
    forward = c.fitted(c.forward, segments=False)
    wrong = forward.outputs([c._rows(Subject(x, "mask", Target(0)), kept)])
    assert np.abs(wrong - alone("bert", x, kept)).max() > 0.01


@pytest.mark.parametrize("family", FAMILIES)
def test_choices_keep_their_places_when_words_are_hidden(family: str) -> None:
    c, x = chooser(family), example(family)
    kept = np.ones((1, x.n), bool)
    kept[0, [1, x.n - 1]] = False  # the last word before the choices is among them
    (found,) = c.keep([(Subject(x, "attention_off", Target(0)), kept)])
    given = called(family, x.text)
    given["attention_mask"][..., np.flatnonzero(~x.to_positions(kept)[0])] = 0
    with torch.no_grad():
        told = c.forward.model(**given).logits.numpy()
    np.testing.assert_allclose(found, told, atol=1e-5)


def test_deleted_words_bring_choices_nearer() -> None:
    c, x = chooser(), example()
    kept = np.ones((1, x.n), bool)
    kept[0, [0, 8]] = False
    (found,) = c.keep([(Subject(x, "delete", Target(0)), kept)])
    shorter = called("bert", (CONTEXT.removeprefix("the "), "was the"))
    with torch.no_grad():
        told = c.forward.model(**shorter).logits.numpy()
    np.testing.assert_allclose(found, told, atol=1e-5)


@pytest.mark.parametrize("function", ["log_odds", "probability"])
def test_slopes_are_those_of_torch_alone(function: str) -> None:
    """Gradients of all three sequences by the embeddings that they share, summed."""
    c, x = chooser(), example()
    (found,) = c.slope(
        [(Subject(x, "mask", Target(1, function)), Slope(np.ones((1, x.n)), "zero"))]
    )
    model, given = c.forward.model, called("bert", x.text)
    words = model.get_input_embeddings()
    shared = words(given["input_ids"][0, 0, : len(x.ids)]).detach().requires_grad_()
    rest = words(given["input_ids"][0, :, len(x.ids) :]).detach()
    whole = torch.cat([shared.expand(3, -1, -1), rest], dim=1)[None]
    given.pop("input_ids")
    p = model(inputs_embeds=whole, **given).logits[0].double().softmax(dim=0)[1]
    value = p if function == "probability" else p.log() - (1 - p).log()
    (told,) = torch.autograd.grad(value, shared)
    np.testing.assert_allclose(found.gradient[0], told.numpy(), atol=1e-5)
    assert told.abs().max() > 1e-3


def test_company_and_order_change_no_bit() -> None:
    c = chooser()
    xs = [example(), c.encode("y", tiny.OTHERS[:1], options=("good", "very bad"))]
    xs += [c.encode(t, [t, QUESTION], options=CHOICES) for t in tiny.OTHERS]
    asks = [(Subject(x, "delete", Target(0)), tiny.masks(x.n, 5, seed=i)) for i, x in enumerate(xs)]
    together = c.keep(asks)
    for a, b in zip(together, c.keep(asks[::-1])[::-1], strict=True):
        np.testing.assert_array_equal(a, b)
    assert [part.shape[1] for part in together] == [3, 2, 3, 3, 3]
    for one, part in zip(asks, together, strict=True):
        np.testing.assert_allclose(c.keep([one])[0], part, atol=1e-6)


LACKING = {
    *("alti", "attention", "attention_attribution", "attention_flow", "attention_grad_cam"),
    *("attention_norm", "attention_rollout", "attention_x_gradient", "chefer", "value_zeroing"),
}


@pytest.mark.parametrize("name", sorted(registry.plugins("methods")))
def test_every_method_explains_it_or_is_listed(name: str) -> None:
    c, x = chooser(), example(texts=CASES[0])
    subject, method = Subject(x, "mask", Target(0)), plugin_call.method(name)
    asker = (subject, method(x, 0))
    if name in LACKING:
        with pytest.raises(NotApplicable, match=r"this model can't answer '(attend|layers)'"):
            answer(Value(filled(c, [x], None)), [asker])
        return
    (got,) = answer(Value(filled(c, [x], None)), [asker])
    assert got.result is not None and got.result.shape == (x.n,), got.undefined
    assert np.isfinite(got.result).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "two or more choices are needed"),
        (("good",), "two or more choices are needed"),
        (("good", "good"), "none said twice"),
        (("good", " "), "a choice is empty"),
        (("good", " ".join(["bad"] * 50)), "leave no room for the context"),
    ],
)
def test_faulty_choices_are_told_in_one_line(options: Sequence[str], message: str) -> None:
    with pytest.raises(AttrialError, match=message) as told:
        chooser().encode("x", CASES[1], options=options)
    assert "\n" not in str(told.value)


def test_a_long_context_is_cut_where_the_longest_choice_needs_room() -> None:
    x = chooser().encode("x", [" ".join(["the"] * 60), QUESTION], options=CHOICES)
    longest = max(map(len, x.options))
    assert len(x.ids) + longest == tiny.PLACES
    assert x.truncated == 60 - (x.n - 3) and x.players[-3:] == tuple(QUESTION.split())
