"""Decoders as classifiers: anchored at the start, read at the last token, padded at the end."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attrial import plugin_call, registry
from attrial.ask import Attend, Slope
from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.masks import Bools, Floats, Ints, all_but_each
from attrial.models.text import TextClassifier
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import decoders, tiny

FAMILIES = pytest.mark.parametrize("family", list(decoders.FAMILIES))
EXACT = 1e-5
WINDOWED = ("mistral", "gemma2")  # leaving tokens out moves the others into the window
TARGET = Target(1)


def raw(c: TextClassifier, ids: Ints, **given: torch.Tensor) -> Floats:
    with torch.no_grad():
        logits = c.forward.model(input_ids=torch.tensor(np.asarray(ids))[None], **given).logits
    return np.asarray(logits[0].double().numpy())


def kept_rows(x: Example, seed: int = 0) -> tuple[Bools, Bools]:
    masks = tiny.masks(x.n, 6, seed=seed)
    return masks, x.to_positions(masks)


@FAMILIES
def test_the_full_input_is_the_anchor_and_the_text(family: str) -> None:
    c = decoders.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    words = decoders.tokenizer()(tiny.TEXT)["input_ids"]
    assert x.ids.tolist() == [0, *words]
    assert x.owner[0] == -1 and x.read == len(x.ids) - 1 and x.owner[-1] == x.n - 1
    (full,) = c.keep([(Subject(x, "delete", TARGET), np.ones((1, x.n), bool))])
    assert np.abs(full[0] - raw(c, x.ids)).max() < EXACT
    assert np.abs(full[0] - raw(c, x.ids[1:])).max() > 1e-3  # the anchor counts


@FAMILIES
@pytest.mark.parametrize("removal", ["delete", "unk"])
def test_rows_are_those_of_the_model_alone(family: str, removal: str) -> None:
    c = decoders.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    masks, kept = kept_rows(x)
    found = c.keep([(Subject(x, removal, TARGET), masks)])[0]
    for row, stays in zip(found, kept, strict=True):
        left = x.ids[stays] if removal == "delete" else np.where(stays, x.ids, 2)
        assert np.abs(row - raw(c, left)).max() < EXACT
    turned = raw(c, x.ids[[0, *range(len(x.ids) - 1, 0, -1)]])  # the same tokens
    assert np.abs(found[0] - turned).max() > 1e-3


@FAMILIES
def test_hidden_tokens_are_hidden_from_the_readout_too(family: str) -> None:
    """Kept tokens at their own positions; the answer is read at the last one that is kept."""
    c = decoders.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    masks, kept = kept_rows(x)
    subject = Subject(x, "attention_off", TARGET)
    if family in WINDOWED:
        masks[:, -1] = True
        found = c.keep([(subject, masks)])[0]
        hidden = [torch.tensor(row)[None].long() for row in x.to_positions(masks)]
        places = torch.arange(len(x.ids))[None]
        expected = [raw(c, x.ids, attention_mask=m, position_ids=places) for m in hidden]
        assert np.abs(found - np.array(expected)).max() < EXACT
        with pytest.raises(NotApplicable, match="reads its answer at the last token"):
            c.keep([(subject, all_but_each(x.n)[-1:])])
        return
    found = c.keep([(subject, masks)])[0]
    for row, stays in zip(found, kept, strict=True):
        places = torch.tensor(np.flatnonzero(stays))[None]
        assert np.abs(row - raw(c, x.ids[stays], position_ids=places)).max() < EXACT


@FAMILIES
def test_slopes_are_those_of_torch_alone(family: str) -> None:
    c = decoders.classifier(family)
    x = c.encode("x", ["the plot was dull"])
    share = np.array([[1.0, 0.5, 1.0, 0.8]])
    (found,) = c.slope([(Subject(x, "delete", TARGET), Slope(share, baseline="mean"))])
    made = decoders.model(family)
    embeddings = made.get_input_embeddings()
    table = torch.as_tensor(embeddings.weight).detach()
    with_anchor = torch.tensor([1.0, *share[0]], dtype=torch.float32)[:, None]
    own = embeddings(torch.tensor(x.ids)).detach()
    start = embeddings(torch.arange(len(table))).detach().mean(dim=0)
    at = (start + with_anchor * (own - start)).requires_grad_()
    # Ids tell the head where the text ends, so the embeddings go in by a hook.
    hook = embeddings.register_forward_hook(lambda module, inputs, output: at[None])
    logits = made(input_ids=torch.tensor(x.ids)[None]).logits[0].double()
    hook.remove()
    odds = logits[1] - logits[[0, 2]].logsumexp(dim=0)
    (expected,) = torch.autograd.grad(odds, at)
    assert np.abs(found.gradient[0] - expected.numpy()).max() < EXACT * float(expected.abs().max())
    assert found.values[0] == pytest.approx(float(odds.detach()), abs=EXACT)


@FAMILIES
def test_attention_is_causal_and_the_models_own(family: str) -> None:
    c = decoders.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    (found,) = c.attend([(Subject(x, "delete", TARGET), Attend())])
    own = decoders.model(family)
    own.set_attn_implementation("eager")
    with torch.no_grad():
        shown = own(input_ids=torch.tensor(x.ids)[None], output_attentions=True).attentions
    weights = np.stack([w[0].numpy() for w in shown])
    assert np.abs(found.weights - weights).max() < EXACT
    assert np.abs(found.weights - weights[::-1]).max() > 1e-3  # layers in another order
    assert not np.triu(found.weights, 1).any()


@FAMILIES
def test_company_and_order_change_no_bit(family: str) -> None:
    c = decoders.classifier(family)
    asks = [
        (Subject(c.encode(str(i), [t]), "delete", TARGET), np.zeros((1, 0), bool))
        for i, t in enumerate((tiny.TEXT, *tiny.OTHERS))
    ]
    asks = [(s, tiny.masks(s.example.n, 5, seed=i)) for i, (s, _) in enumerate(asks)]
    alone = [c.keep([ask])[0] for ask in asks]
    together = c.keep(asks[::-1])[::-1]
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_padding_as_a_removal_is_refused_where_it_ends_the_text() -> None:
    c = decoders.classifier("llama")
    x = c.encode("x", [tiny.TEXT])
    assert "pad" not in c.removals and "mask" not in c.removals
    with pytest.raises(NotApplicable, match="can do attention_off, delete, unk, zero"):
        c.keep([(Subject(x, "pad", TARGET), np.ones((1, x.n), bool))])


def test_a_model_that_cant_find_the_end_is_refused() -> None:
    made = decoders.model("gpt2")
    made.config.pad_token_id = None
    with pytest.raises(AttrialError, match=r"no pad_token_id.*eos_token_id"):
        TextClassifier.of(made, decoders.tokenizer())


def test_a_long_text_is_cut_with_room_for_the_anchor() -> None:
    c = decoders.classifier("gpt2")
    x = c.encode("x", [" ".join(["film"] * 200)])
    assert len(x.ids) == c.limit and x.ids[0] == 0
    assert x.truncated == 200 - x.n


# The sum of a gradient over an embedding is zero wherever a layer norm takes its mean away: such a
# cell is undefined. Parallel residual streams have no one vector to compare with: not applicable.
UNDEFINED = {
    family: {"gradient_sum_abs": "the gradient sums to zero over every embedding"}
    for family in ("gpt2", "gpt_neox")
}
NOT_APPLICABLE = {"gpt_neox": {"alti": "there is no residual to share with"}}


@FAMILIES
@pytest.mark.parametrize("name", registry.plugins("methods"))
def test_every_method_explains_every_decoder(family: str, name: str) -> None:
    """Finite scores, one a word; another class gives others where a method says so."""
    c = decoders.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    c = c.filled_by(corpus_of([x]))
    method = plugin_call.method(name)
    subject = Subject(x, "delete", TARGET)
    other = replace(subject, target=Target(2))
    if name in NOT_APPLICABLE.get(family, {}):
        with pytest.raises(NotApplicable, match=NOT_APPLICABLE[family][name]):
            answer(Value(c), [(subject, method(x, 0))])
        return
    if name in UNDEFINED.get(family, {}):
        (got,) = answer(Value(c), [(subject, method(x, 0))])
        assert got.result is None and UNDEFINED[family][name] in str(got.undefined)
        return
    found = [answer(Value(c), [(s, method(x, 0))])[0] for s in (subject, other)]
    scores = [got.result for got in found]
    assert scores[0] is not None and scores[1] is not None, [got.undefined for got in found]
    assert scores[0].shape == (x.n,) and np.isfinite(scores[0]).all()
    if method.bound.constant("CLASS_SPECIFIC", False):
        assert np.abs(scores[0] - scores[1]).max() > 0
    else:
        assert np.array_equal(scores[0], scores[1])


def test_gpt2_under_left_padding_needs_explicit_positions() -> None:
    """Rows of the engine carry their positions; left to itself the model counts the padding too."""
    c = decoders.classifier("gpt2")
    x = c.encode("x", [tiny.TEXT])
    (full,) = c.keep([(Subject(x, "delete", TARGET), np.ones((1, x.n), bool))])
    padded = torch.tensor([[1] * 4 + x.ids.tolist()])
    seen = torch.tensor([[0] * 4 + [1] * len(x.ids)])
    places = torch.tensor([[0] * 4 + list(range(len(x.ids)))])
    with torch.no_grad():
        told = c.forward.model(input_ids=padded, attention_mask=seen, position_ids=places).logits
        alone = c.forward.model(
            input_ids=padded, attention_mask=seen, position_ids=torch.arange(padded.shape[1])[None]
        ).logits
    assert np.abs(told[0].numpy() - full[0]).max() < EXACT
    assert np.abs(alone[0].numpy() - full[0]).max() > 1e-2
