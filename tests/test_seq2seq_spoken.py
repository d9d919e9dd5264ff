"""What a decoder said as players: removed, differentiated and attended to as plain models do."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import attrial
import attrial_tasks
from attrial import plugin_call
from attrial.ask import Attend, Relevance, Slope, Suppress
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Floats, everything
from attrial.models.embedding import table
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from attrial_tasks import planted_translation
from tests import encoder_decoders as made
from tests import families

FAMILIES = pytest.mark.parametrize("family", made.FAMILIES)
OPTIONS = pytest.mark.parametrize("options", [made.PAIR, made.LONGER], ids=["one token", "several"])
SAID = "not a bad plot"
EXACT = 1e-5


def example(family: str, options: tuple[str, ...] = made.PAIR, text: str = made.TEXT) -> Example:
    """A source, a fixed prefix, and words that were said after it, each a player."""
    it = made.translator(family)
    x = made.example(family, options, text)
    words = families.tokenizer(family)(SAID, add_special_tokens=False)["input_ids"]
    return replace(it.grown(x, words), options=x.options, labels=x.labels, explained=0)


def spoken(x: Example) -> list[int]:
    return [int(i) for i in x.ids[-x.spoken :]]


def chances(
    family: str, x: Example, said: list[int], heard: list[int] | None = None, **more: torch.Tensor
) -> Floats:
    """Log-probabilities after other words of the decoder, by transformers alone."""
    source = x.ids[: -x.spoken]
    told = replace(x, prefix=(*x.prefix, *said))
    if heard is None:
        with torch.no_grad():
            return np.asarray(made.chances(made.model(family), told, source, **more))
    found = []
    for option in x.options:
        row = [*told.prefix, *option]
        mask = torch.tensor([[1] * len(x.prefix) + heard + [1] * len(option)])
        with torch.no_grad():
            logits = made.plain(made.model(family), source, row, decoder_attention_mask=mask)
        start = len(told.prefix) - 1
        steps = [logits[start + j].log_softmax(-1)[t] for j, t in enumerate(option)]
        found.append(float(torch.stack(steps).sum()))
    return np.array(found)


def outputs(family: str, x: Example, removal: str, *gone: int) -> Floats:
    masks = np.ones((1, x.n), bool)
    masks[0, list(gone)] = False
    (found,) = made.translator(family).keep([(Subject(x, removal, Target(0)), masks)])
    return np.asarray(found[0])


@FAMILIES
@OPTIONS
def test_the_decoders_words_are_removed_where_they_stand(
    family: str, options: tuple[str, ...]
) -> None:
    x, words = example(family, options), families.tokenizer(family)
    said, at = spoken(x), x.n - 3
    whole = outputs(family, x, "mask")
    assert whole == pytest.approx(chances(family, x, said), abs=EXACT)
    for removal, token in (("mask", words.mask_token_id), ("unk", words.unk_token_id)):
        expected = chances(family, x, [said[0], token, *said[2:]])
        assert outputs(family, x, removal, at) == pytest.approx(expected, abs=EXACT)
        assert np.abs(expected - whole).max() > 1e-3
    expected = chances(family, x, [said[0], *said[2:]])
    assert outputs(family, x, "delete", at) == pytest.approx(expected, abs=EXACT)
    expected = chances(family, x, said, heard=[1, 0, 1, 1])
    assert outputs(family, x, "attention_off", at) == pytest.approx(expected, abs=EXACT)
    expected = chances(family, x, said[:-1])  # nobody speaks where nobody is heard
    assert outputs(family, x, "attention_off", x.n - 1) == pytest.approx(expected, abs=EXACT)


@FAMILIES
def test_source_words_leave_as_they_did(family: str) -> None:
    x = example(family)
    ids = x.ids[: -x.spoken].tolist()
    ids[2] = families.tokenizer(family).mask_token_id
    told = replace(x, prefix=(*x.prefix, *spoken(x)))
    with torch.no_grad():
        expected = made.chances(made.model(family), told, ids).numpy()
    assert outputs(family, x, "mask", int(x.owner[2])) == pytest.approx(expected, abs=EXACT)


@FAMILIES
@OPTIONS
def test_slopes_reach_both_stacks(family: str, options: tuple[str, ...]) -> None:
    x = example(family, options)
    target = Target(0)
    (got,) = made.translator(family).slope([(Subject(x, "mask", target), Slope(np.ones((1, x.n))))])
    model, source = made.model(family), torch.from_numpy(x.ids[None, : -x.spoken])
    points = table(model)(source).detach().requires_grad_()
    look = model.get_decoder().get_input_embeddings()  # type: ignore[no-untyped-call]
    after = look(torch.tensor([spoken(x)])).detach().requires_grad_()
    found = []
    for option in x.options:
        ends = [look(torch.tensor([ids])) for ids in (list(x.prefix), list(option))]
        rows = torch.cat([ends[0], after, ends[1]], dim=1)
        logits = model(inputs_embeds=points, decoder_inputs_embeds=rows).logits[0].double()
        start = len(x.prefix) + x.spoken - 1
        steps = [logits[start + j].log_softmax(-1)[t] for j, t in enumerate(option)]
        found.append(torch.stack(steps).sum())
    value = found[0] - torch.stack(found[1:]).logsumexp(0)
    expected = torch.cat(torch.autograd.grad(value, [points, after]), dim=1)[0].numpy()
    scale = float(np.abs(expected).max())
    assert got.gradient[0] == pytest.approx(expected, abs=1e-4 * scale)
    assert np.abs(expected[-x.spoken :]).max() > 1e-3 * scale


@FAMILIES
def test_company_changes_no_bit(family: str) -> None:
    it = made.translator(family)
    asks = [
        (Subject(x, removal, Target(0)), everything(x.n) & ~np.eye(x.n, dtype=bool))
        for options in (made.PAIR, made.LONGER)
        for text in (made.TEXT, *made.OTHERS)
        for x in (example(family, options, text), made.example(family, options, text))
        for removal in ("mask", "delete", "attention_off", "zero")
    ]
    together = it.keep(asks)
    for i in np.random.default_rng(0).permutation(len(asks))[:12]:
        assert np.array_equal(it.keep([asks[i]])[0], together[i])


@FAMILIES
def test_rollout_shares_all_but_the_fixed_positions(family: str) -> None:
    x = example(family)
    subject = Subject(x, "mask", Target(0))
    (reply,) = made.translator(family).attend([(subject, Attend(fuse="mean"))])
    assert reply.decoder is not None and reply.cross is not None
    assert reply.cross.weights[..., -x.spoken :].max() == 0  # the encoder doesn't read them
    got = scores(family, "attention_rollout", x)
    d, s = attrial.algebra.rollout_encoder_decoder(
        reply.weights, reply.decoder.weights, reply.cross.weights
    )
    fixed = x.owner < 0
    left = s[-1][fixed].sum() + d[-1][: len(x.prefix)].sum()
    assert got.sum() + left == pytest.approx(1, abs=1e-6)
    assert got[-x.spoken :].min() > 0


def scores(family: str, call: str, x: Example) -> Floats:
    asked = plugin_call.method(call)(x, 0)
    (got,) = answer(Value(made.translator(family)), [(Subject(x, "mask", Target(0)), asked)])
    return np.asarray(got.result)


@FAMILIES
@pytest.mark.parametrize("call", ["occlusion", "integrated_gradients", "lrp_conservative",
                                  "chefer", "attention_flow", "input_x_gradient"])  # fmt: skip
def test_methods_score_what_was_said(family: str, call: str) -> None:
    x = example(family)
    found = scores(family, call, x)
    assert found.shape == (x.n,) and np.isfinite(found).all() and np.ptp(found[-x.spoken :]) > 0


def test_what_has_no_place_for_them_says_so() -> None:
    x = example("t5")
    for call in ("attention", "attention_x_gradient", "attention_grad_cam", "atman"):
        with pytest.raises(NotApplicable, match="decoder"):
            scores("t5", call, x)
    subject = Subject(x, "mask", Target(0))
    with pytest.raises(NotApplicable, match="its own words"):
        made.translator("t5").suppress([(subject, Suppress(np.zeros((1, x.n))))])
    (got,) = made.translator("t5").relevance([(subject, Relevance("conservative"))])
    assert got.tokens.shape == x.ids.shape


def test_a_translation_is_a_matrix_with_its_sources_on_the_backward_diagonal() -> None:
    folder = Path(attrial_tasks.__file__).parent / "models" / "planted_translation"
    words = ["bird", "coin", "hill", "snow", "lamp"]
    found = attrial.explain_generation(str(folder), " ".join(words), method="occlusion")
    translation = dict(planted_translation.PAIRS)
    assert [t.strip() for t in found.targets[:5]] == [translation[w] for w in reversed(words)]
    assert len(found.targets) == 6 and min(found.probabilities) > 0.99  # and the end
    assert found.prompt == 5 and found.sources[:5] == tuple(words)
    assert [t.strip() for t in found.sources[5:]] == [t.strip() for t in found.targets[:5]]
    top = np.nanargmax(found.scores[:, :5], axis=0)
    assert top.tolist() == [4, 3, 2, 1, 0]
    for i in range(6):
        assert np.isnan(found.scores[5 + i :, i]).all()
        assert np.isfinite(found.scores[: 5 + i, i]).all()
