"""Answers of classifiers against second derivations: transformers alone, differences, captum."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients
from scipy.special import log_softmax
from transformers import PreTrainedModel

from attrial.ask import Attend, Slope, Slopes
from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example
from attrial.masks import Bools, Floats, everything
from attrial.models.embedding import Baselines, table
from attrial.models.gradients import path
from attrial.models.reading import read
from attrial.models.text import TextClassifier
from attrial.target import FUNCTIONS, Target
from attrial.value import Subject
from tests import tiny

EVERY_FAMILY = pytest.mark.parametrize("family", list(tiny.FAMILIES))
EXACT = 2e-6
TARGET = Target(1)
GAUSS = np.polynomial.legendre.leggauss(20)
SHARES, WEIGHTS = (GAUSS[0] + 1) / 2, GAUSS[1] / 2


def precise(family: str = "bert") -> TextClassifier:
    """In float64, where equality is sharp."""
    return TextClassifier.of(tiny.model(family).double(), tiny.tokenizer(family), batch_tokens=128)


def weight(model: PreTrainedModel) -> torch.Tensor:
    return torch.as_tensor(table(model).weight).detach()


def raw(model: PreTrainedModel, **given: torch.Tensor) -> Floats:
    with torch.no_grad():
        return np.asarray(model(**given).logits[0].double().numpy())


def segments(x: Example, c: TextClassifier) -> dict[str, torch.Tensor]:
    given = {"token_type_ids": torch.tensor(x.types)[None]}
    return given if "token_type_ids" in c.forward.takes else {}


def by_ids(c: TextClassifier, x: Example, kept: Bools, token: int | None) -> Floats:
    """Removed tokens exchanged for another one."""
    assert token is not None
    ids = torch.tensor([i if stays else token for i, stays in zip(x.ids, kept, strict=True)])[None]
    places = torch.arange(len(x.ids))[None] + c.forward.offset  # else a pad would shift RoBERTa's
    return raw(c.forward.model, input_ids=ids, position_ids=places, **segments(x, c))


def by_text(c: TextClassifier, x: Example, kept: Bools) -> Floats:
    """The text without the words, tokenised anew: the same ids in this vocabulary."""
    left = [name for i, name in enumerate(x.players) if kept[x.owner == i].all()]
    encoded = c.encoder.tokenizer(" ".join(left), return_tensors="pt")
    return raw(c.forward.model, **encoded)


def by_mask(c: TextClassifier, x: Example, kept: Bools) -> Floats:
    return raw(
        c.forward.model,
        input_ids=torch.tensor(x.ids)[None],
        attention_mask=torch.tensor(kept)[None].long(),
        **segments(x, c),
    )


def by_embedding(c: TextClassifier, x: Example, kept: Bools) -> Floats:
    model = c.forward.model
    with torch.no_grad():
        embedded = table(model)(torch.tensor(x.ids)[None])
    return raw(model, inputs_embeds=embedded * torch.tensor(kept)[None, :, None], **segments(x, c))


SLOW: dict[str, Callable[[TextClassifier, Example, Bools], Floats]] = {
    "mask": lambda c, x, kept: by_ids(c, x, kept, c.vocabulary.mask),
    "pad": lambda c, x, kept: by_ids(c, x, kept, c.vocabulary.pad),
    "unk": lambda c, x, kept: by_ids(c, x, kept, c.vocabulary.unk),
    "delete": by_text,
    "attention_off": by_mask,
    "zero": by_embedding,
}


@EVERY_FAMILY
@pytest.mark.parametrize("removal", list(SLOW))
def test_keep_agrees_with_transformers_alone(family: str, removal: str) -> None:
    c = tiny.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    masks = tiny.masks(x.n, 12)
    (outputs,) = c.keep([(Subject(x, removal, TARGET), masks)])
    slow = np.stack([SLOW[removal](c, x, kept) for kept in x.to_positions(masks)])
    assert np.abs(outputs - slow).max() <= EXACT * np.abs(slow).max()
    assert np.ptp(slow[:, 0]) > tiny.TEETH


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
def test_a_pair_of_texts_is_told_apart_as_transformers_does(family: str) -> None:
    c = tiny.classifier(family)
    x = c.encode("pair", ["the plot was good", "not very bright acting"])
    encoded = c.encoder.tokenizer(
        "the plot was good", "not very bright acting", return_tensors="pt"
    )
    (outputs,) = c.keep([(Subject(x, "mask", TARGET), everything(x.n))])
    slow = raw(c.forward.model, **encoded)
    assert np.abs(outputs[0] - slow).max() <= EXACT * np.abs(slow).max()
    assert (x.types.max() == 1) == (family == "bert")


def test_many_asks_come_back_in_their_order_through_small_portions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    c = tiny.classifier()
    xs = [c.encode(str(i), [text]) for i, text in enumerate((tiny.TEXT, *tiny.OTHERS))]
    asks = [(Subject(x, "delete", TARGET), tiny.masks(x.n, 9 + i)) for i, x in enumerate(xs)]
    at_once = c.keep(asks)
    monkeypatch.setattr("attrial.models.text.HELD_TOKENS", 100)
    for a, b in zip(at_once, c.keep(asks), strict=True):
        assert np.array_equal(a, b)
    assert c.predict(xs) == [int(o[0].argmax()) for o in at_once]
    assert (c.keep([]), c.slope([]), c.attend([]), c.predict([])) == ([], [], [], [])


def test_a_removal_that_cant_be_done_names_those_that_can() -> None:
    words = tiny.tokenizer()
    words.mask_token = None
    try:
        c = TextClassifier.of(tiny.model("bert"), words)
    finally:
        words.mask_token = tiny.BERT[4]
    x = c.encode("x", [tiny.TEXT])
    assert "mask" not in c.removals
    with pytest.raises(NotApplicable, match="mask token; this model can do attention_off, delete"):
        c.keep([(Subject(x, "mask", TARGET), everything(x.n))])


@pytest.mark.parametrize("function", list(FUNCTIONS))
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_targets_read_alike_in_torch_and_numpy(function: str, classes: int) -> None:
    logits = np.random.default_rng(0).normal(size=(7, classes)) * 5
    for index in range(classes):
        mine = read(torch.tensor(logits), torch.full((7,), index), function).numpy()
        assert mine == pytest.approx(Target(index, function).read(logits), abs=1e-12)


# Gradients


def slopes_at(
    c: TextClassifier, x: Example, points: Floats, *, target: Target = TARGET, baseline: str = "pad"
) -> Slopes:
    return c.slope([(Subject(x, "mask", target), Slope(points, baseline))])[0]


@EVERY_FAMILY
@pytest.mark.parametrize("function", list(FUNCTIONS))
def test_gradients_agree_with_differences(family: str, function: str) -> None:
    """Moving one player a little along its way changes the value by its slope."""
    c, step = precise(family), 1e-5
    x = c.encode("x", [tiny.TEXT])
    point = np.linspace(0.2, 0.9, x.n)
    shifts = np.concatenate([np.zeros((1, x.n)), np.eye(x.n), -np.eye(x.n)]) * step
    told = slopes_at(c, x, point + shifts, target=Target(2, function))
    expected = (told.values[1 : x.n + 1] - told.values[x.n + 1 :]) / (2 * step)
    found = x.to_players((told.gradient[0] * told.difference[0]).sum(axis=-1))
    assert found == pytest.approx(expected, abs=1e-7)
    assert np.abs(expected).max() > 1e-2


@EVERY_FAMILY
def test_paths_end_at_the_input_and_begin_at_the_removal(family: str) -> None:
    c = precise(family)
    x = c.encode("x", [tiny.TEXT])
    ends = np.stack([np.zeros(x.n), np.ones(x.n)])
    masks = ends.astype(bool)
    for baseline in ("mask", "pad", "unk", "zero"):
        told = slopes_at(c, x, ends, baseline=baseline)
        (outputs,) = c.keep([(Subject(x, baseline, TARGET), masks)])
        assert told.values == pytest.approx(TARGET.read(outputs), abs=1e-9)
        assert (told.difference[:, x.owner < 0] == 0).all()


def test_baselines_by_name() -> None:
    c = precise()
    vectors = weight(c.forward.model)
    baselines = Baselines(c.forward.model, c.vocabulary)
    expected = {
        "zero": torch.zeros(32, dtype=torch.float64),
        "mean": vectors.mean(dim=0),
        "mask": vectors[4],
        "pad": vectors[0],
        "unk": vectors[1],
        "reference": vectors[4],
    }
    for name, vector in expected.items():
        assert torch.allclose(baselines.vector(name), vector, atol=1e-12)
    with pytest.raises(NotApplicable, match="no baseline 'noise'"):
        baselines.vector("noise")


def gap(c: TextClassifier, shares: Floats, weights: Floats) -> float:
    """How far the scores' sum misses the way's whole rise."""
    x = c.encode("x", [tiny.TEXT])
    points = np.concatenate([shares, [0.0, 1.0]])[:, None].repeat(x.n, axis=1)
    told = slopes_at(c, x, points)
    tokens = np.einsum("k,ktd,td->t", weights, told.gradient[:-2], told.difference[0])
    assert np.abs(x.to_players(tokens)).max() > tiny.TEETH
    return float(abs(tokens.sum() - (told.values[-1] - told.values[-2])))


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_integrated_gradients_are_complete_with_twenty_gauss_points(family: str) -> None:
    assert gap(precise(family), SHARES, WEIGHTS) < 1e-5
    assert gap(precise(family), SHARES[:10], WEIGHTS[:10]) > 1e-3  # half of the way is not enough


def test_kinks_need_more_points_and_converge_too() -> None:
    """DistilBERT's head has a ReLU, where no rule is better than a fine grid."""
    c = precise("distilbert")
    few, many = (gap(c, (np.arange(k) + 0.5) / k, np.full(k, 1 / k)) for k in (20, 1000))
    assert many < 2e-3 < few


@EVERY_FAMILY
def test_captum_agrees_on_integrated_gradients(family: str) -> None:
    c = precise(family)
    model, x = c.forward.model, c.encode("x", [tiny.TEXT])
    told = slopes_at(c, x, SHARES[:, None].repeat(x.n, axis=1))
    mine = np.einsum("k,ktd,td->t", WEIGHTS, told.gradient, told.difference[0])
    given = segments(x, c)

    def value(embedded: torch.Tensor) -> torch.Tensor:
        more = {k: v.expand(len(embedded), -1) for k, v in given.items()}
        log_p = model(inputs_embeds=embedded, **more).logits.log_softmax(dim=-1)
        return torch.as_tensor(log_p[:, 1] - torch.log1p(-log_p[:, 1].exp()))

    vectors = weight(model)
    start = torch.tensor(
        [i if o < 0 else c.vocabulary.pad for i, o in zip(x.ids, x.owner, strict=True)]
    )
    theirs = IntegratedGradients(value).attribute(
        vectors[x.ids][None], vectors[start][None], n_steps=20, method="gausslegendre"
    )
    assert mine == pytest.approx(theirs[0].sum(dim=-1).detach().numpy(), abs=1e-6)


def test_noise_is_seeded_scaled_and_spares_special_tokens() -> None:
    c = precise()
    x = c.encode("x", [tiny.TEXT])
    subject, points = Subject(x, "mask", TARGET), np.ones((4, x.n))

    def noisy(noise: float, seed: int) -> Slopes:
        return c.slope([(subject, Slope(points, "zero", noise, seed))])[0]

    calm, once, again, other = noisy(0, 0), noisy(0.1, 0), noisy(0.1, 0), noisy(0.1, 1)
    assert np.ptp(calm.values) == 0
    assert np.array_equal(once.gradient, again.gradient)
    assert np.ptp(once.values) > 1e-3
    assert not np.array_equal(once.gradient, other.gradient)
    assert np.array_equal(once.difference, calm.difference)


def test_noise_of_a_share_has_that_share_of_the_spread() -> None:
    c = precise()
    x = c.encode("x", [tiny.TEXT])
    ask = Slope(np.ones((200, x.n)), "zero", 0.25, 3)
    laid = path(
        Subject(x, "mask", TARGET), ask, c.forward, Baselines(c.forward.model, c.vocabulary)
    )
    noise = torch.stack([laid.point(row) - laid.end for row in range(200)]).numpy()
    spread = float(laid.end.max() - laid.end.min())
    assert noise[:, x.owner >= 0].std() == pytest.approx(0.25 * spread, rel=0.02)
    assert (noise[:, x.owner < 0] == 0).all()


# Attention


def eager(c: TextClassifier, x: Example) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    model = c.forward.model
    model.set_attn_implementation("eager")
    shown = model(input_ids=torch.tensor(x.ids)[None], output_attentions=True, **segments(x, c))
    return shown.logits, shown.attentions


@EVERY_FAMILY
def test_attention_and_its_gradient_agree_with_eager(family: str) -> None:
    c = precise(family)
    x = c.encode("x", [tiny.TEXT])
    (told,) = c.attend([(Subject(x, "mask", TARGET), Attend(gradient=True))])
    logits, attentions = eager(c, x)
    log_p = logits.log_softmax(dim=-1)[0]
    value = log_p[1] - torch.log1p(-log_p[1].exp())
    theirs = torch.autograd.grad(value, attentions)
    assert told.weights.shape == (2, 4, len(x.ids), len(x.ids))
    assert told.gradient is not None
    assert told.weights == pytest.approx(torch.cat(attentions).detach().numpy(), abs=1e-9)
    assert told.gradient == pytest.approx(torch.cat(theirs).numpy(), abs=1e-9)
    assert np.abs(told.gradient).max() > 1e-2


@EVERY_FAMILY
def test_attention_rows_sum_to_one_and_fuse_head_by_head(family: str) -> None:
    c = tiny.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    subject = Subject(x, "mask", TARGET)
    asks = [Attend(), *(Attend(fuse=fuse) for fuse in ("mean", "max", "min"))]
    heads, mean, high, low = (a.weights for a in c.attend([(subject, ask) for ask in asks]))
    assert heads.sum(axis=-1) == pytest.approx(1.0, abs=1e-5)
    assert mean == pytest.approx(heads.mean(axis=1), abs=1e-6)
    assert np.array_equal(high, heads.max(axis=1))
    assert np.array_equal(low, heads.min(axis=1))
    assert np.ptp(heads) > 0.05


def test_scaled_attention_is_what_the_layers_go_on_with() -> None:
    c = precise()
    x = c.encode("x", [tiny.TEXT])
    subject = Subject(x, "mask", TARGET)
    full, half, none = (
        c.attend([(subject, Attend(gradient=True, scale=s))])[0] for s in (1.0, 0.5, 0.0)
    )
    assert half.weights[0] == pytest.approx(full.weights[0] / 2, abs=1e-12)
    assert (none.weights == 0).all()
    assert full.gradient is not None and half.gradient is not None
    assert np.abs(full.gradient - half.gradient).max() > 1e-3


def test_fused_gradients_and_unknown_fusions_are_refused() -> None:
    c = tiny.classifier()
    subject = Subject(c.encode("x", [tiny.TEXT]), "mask", TARGET)
    with pytest.raises(AttrialError, match="before the product"):
        c.attend([(subject, Attend(fuse="mean", gradient=True))])
    with pytest.raises(AttrialError, match="did you mean mean"):
        c.attend([(subject, Attend(fuse="meen"))])


def test_classes_probabilities_sum_to_one() -> None:
    """The second derivation of probability, from the outputs that keep returns."""
    c = tiny.classifier()
    x = c.encode("x", [tiny.TEXT])
    (outputs,) = c.keep([(Subject(x, "mask", TARGET), tiny.masks(x.n, 5))])
    total = sum(Target(i, "probability").read(outputs) for i in range(3))
    assert total == pytest.approx(np.ones(5), abs=1e-12)
    assert np.exp(log_softmax(outputs, axis=1)).sum(axis=1) == pytest.approx(total)
    assert all(a != b for a, b in pairwise(c.labels))
