"""Attention of two stacks: the parts are the model's own, and methods compose them as they say."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from attrial import algebra, plugin_call
from attrial.ask import Attend, Attention, attend
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Floats
from attrial.models.switch import switched
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import encoder_decoders as made

FAMILIES = pytest.mark.parametrize("family", made.FAMILIES)
EXACT = 1e-5
FIELDS = ("encoder_attentions", "decoder_attentions", "cross_attentions")


def asked(family: str, x: Example, ask: Attend) -> tuple[Attention, Attention, Attention]:
    """The three parts of an answer."""
    (reply,) = made.translator(family).attend([(Subject(x, "mask", Target(0)), ask)])
    assert reply.decoder is not None and reply.cross is not None
    return reply, reply.decoder, reply.cross


def eager(family: str, x: Example) -> tuple[list[list[Tensor]], Tensor]:
    """Attentions that transformers itself shows, and the log-odds of two words after the prefix."""
    model = made.model(family)
    with switched(model, "eager"):
        out = model(
            input_ids=torch.from_numpy(x.ids[None]),
            decoder_input_ids=torch.tensor([x.prefix]),
            output_attentions=True,
        )
    last = out.logits[0, -1].double()
    (first,), (second,) = x.options
    return [list(getattr(out, field)) for field in FIELDS], last[first] - last[second]


@FAMILIES
@pytest.mark.parametrize("options", [made.PAIR, made.LONGER], ids=["one token", "several"])
def test_parts_are_the_models_own(family: str, options: tuple[str, ...]) -> None:
    x = made.example(family, options)
    shown, _ = eager(family, made.example(family))
    for got, expected in zip(asked(family, x, Attend()), shown, strict=True):
        whole = torch.cat(expected).detach().numpy()
        assert got.weights.shape == whole.shape
        assert got.weights == pytest.approx(whole, abs=EXACT)
        assert np.ptp(whole) > 0.1
    for got, expected in zip(asked(family, x, Attend(fuse="max")), shown, strict=True):
        assert got.weights == pytest.approx(torch.cat(expected).amax(1).detach().numpy(), abs=EXACT)


@FAMILIES
def test_gradients_are_autograds(family: str) -> None:
    x = made.example(family)
    shown, contrast = eager(family, x)
    flat = [layer for part in shown for layer in part]
    expected = iter(torch.autograd.grad(contrast, flat))
    for got, part in zip(asked(family, x, Attend(gradient=True)), shown, strict=True):
        gradient = torch.cat([next(expected) for _ in part]).numpy()
        assert got.gradient is not None
        assert got.gradient == pytest.approx(gradient, abs=1e-4 * float(np.abs(gradient).max()))
        assert np.abs(gradient).max() > 1e-3


@FAMILIES
def test_gradients_of_longer_continuations_reach_the_source(family: str) -> None:
    """Options of several tokens are read in copies of the row, whose gradients add up."""
    x = made.example(family, made.LONGER)
    it, step = made.translator(family), 1e-3
    encoder, _, cross = asked(family, x, Attend(gradient=True))
    scaled = [
        it.attend([(Subject(x, "mask", Target(0)), Attend(gradient=True, scale=s))])[0]
        for s in (1 - step, 1 + step)
    ]
    assert encoder.gradient is not None and cross.gradient is not None
    assert cross.weights.shape[-2:] == (len(x.prefix), len(x.ids))
    assert np.abs(encoder.gradient).max() > 1e-4
    assert all(np.abs(np.asarray(s.gradient) - encoder.gradient).max() > 0 for s in scaled)


@FAMILIES
def test_scaling_one_layer_scales_the_decoders_looks(family: str) -> None:
    x = made.example(family)
    whole, half = asked(family, x, Attend()), asked(family, x, Attend(scale=0.5, layer=1))
    assert half[2].weights[1] == pytest.approx(whole[2].weights[1] / 2, abs=EXACT)
    assert half[2].weights[0] == pytest.approx(whole[2].weights[0], abs=EXACT)
    assert half[0].weights == pytest.approx(whole[0].weights, abs=EXACT)


@FAMILIES
def test_rows_of_both_inputs_sum_to_one(family: str) -> None:
    x = made.example(family)
    encoder, decoder, cross = (p.weights for p in asked(family, x, Attend()))
    d, s = algebra.rollout_encoder_decoder(encoder, decoder, cross)
    assert d.shape[0] == s.shape[0] == len(x.prefix) and s.shape[1] == len(x.ids)
    assert (d.sum(1) + s.sum(1)) == pytest.approx(1, abs=1e-6)
    assert s.min() > 0 and s.sum(1).min() > 0.1 and d.sum(1).min() > 0.01
    steps = algebra.joined(encoder, decoder, cross)
    assert steps.sum(-1) == pytest.approx(1, abs=1e-6)
    product = np.linalg.multi_dot(list(steps[::-1]))
    assert product[: len(d)] == pytest.approx(np.hstack([d, s]), abs=1e-9)


def slow_rollout(encoder: Floats, decoder: Floats, cross: Floats) -> Floats:
    """X by walking: what each position of each layer holds, as shares of named inputs."""
    t, s = cross.shape[1:]
    source = [{j: 1.0} for j in range(s)]
    for layer in encoder:
        source = [_blend([(0.5, source[i])] + [(0.5 * layer[i, j], source[j]) for j in range(s)])
                  for i in range(s)]  # fmt: skip
    said = [{-1 - i: 1.0} for i in range(t)]
    for own, looks in zip(decoder, cross, strict=True):
        said = [_blend([(0.5, said[i])] + [(0.5 * own[i, j], said[j]) for j in range(t)])
                for i in range(t)]  # fmt: skip
        said = [_blend([(0.5, said[i])] + [(0.5 * looks[i, j], source[j]) for j in range(s)])
                for i in range(t)]  # fmt: skip
    return np.array([said[-1].get(j, 0.0) for j in range(s)])


def _blend(parts: list[tuple[float, dict[int, float]]]) -> dict[int, float]:
    out: dict[int, float] = {}
    for weight, held in parts:
        for name, share in held.items():
            out[name] = out.get(name, 0.0) + weight * share
    return out


def scores(family: str, call: str, x: Example) -> Floats:
    """A method's scores of the source words."""
    subject = Subject(x, "mask", Target(0))
    (got,) = answer(Value(made.translator(family)), [(subject, plugin_call.method(call)(x, 0))])
    return np.asarray(got.result)


@FAMILIES
def test_rollout_reads_x_at_the_last_position(family: str) -> None:
    x = made.example(family)
    shown, _ = eager(family, x)
    parts = [torch.cat(part).mean(1).detach().double().numpy() for part in shown]
    expected = x.to_players(slow_rollout(parts[0], parts[1], parts[2]))
    assert scores(family, "attention_rollout", x) == pytest.approx(expected, abs=EXACT)
    assert np.ptp(expected) > 1e-3
    ratio = scores(family, "attention_rollout(null='uniform')", x) / expected
    alone = [np.tril(np.ones_like(p)) if i == 1 else np.ones_like(p) for i, p in enumerate(parts)]
    even = [p / p.sum(-1, keepdims=True) for p in alone]
    by_chance = x.to_players(slow_rollout(even[0], even[1], even[2]))
    assert ratio == pytest.approx(1 / by_chance, rel=1e-4)


@FAMILIES
def test_raw_attention_is_the_decoders_last_look(family: str) -> None:
    x = made.example(family)
    shown, _ = eager(family, x)
    expected = x.to_players(shown[2][1][0].mean(0)[-1].detach().numpy())
    assert scores(family, "attention", x) == pytest.approx(expected, abs=EXACT)


@FAMILIES
def test_products_with_gradients_read_the_decoders_looks(family: str) -> None:
    x = made.example(family)
    shown, contrast = eager(family, x)
    looks = shown[2][1]
    (gradient,) = torch.autograd.grad(contrast, looks)
    rows = (looks * gradient)[0].mean(0)[-1].detach().numpy()
    got = scores(family, "attention_x_gradient", x)
    assert got == pytest.approx(x.to_players(rows), abs=1e-4 * float(np.abs(rows).max()))
    heads = gradient[0].mean((-2, -1))
    cam = torch.tensordot(heads, looks[0], dims=1).relu()[-1].detach().numpy()
    got = scores(family, "attention_grad_cam", x)
    assert got == pytest.approx(x.to_players(cam), abs=1e-4 * max(1e-6, float(np.abs(cam).max())))


@FAMILIES
def test_chefer_follows_its_rules(family: str) -> None:
    """The strict rule, the published one by plain loops, and the two apart."""
    x = made.example(family)
    shown, contrast = eager(family, x)
    flat = [layer for part in shown for layer in part]
    found = iter(torch.autograd.grad(contrast, flat))
    relus = [[(a * next(found)).relu()[0].mean(0).detach().double().numpy() for a in part]
             for part in shown]  # fmt: skip
    inner = np.eye(len(x.ids))
    for b in relus[0]:
        inner = inner + b @ inner
    said, crossed = np.eye(len(x.prefix)), np.zeros((2, len(x.prefix), len(x.ids)))
    for own, looks in zip(relus[1], relus[2], strict=True):
        said, crossed = said + own @ said, crossed + own @ crossed
        crossed[0] += looks @ inner
        crossed[1] += slow_rule_ten(said, looks, inner)
    strict, published = (x.to_players(rows[-1]) for rows in crossed)
    assert scores(family, "chefer", x) == pytest.approx(strict, rel=1e-3, abs=1e-7)
    got = scores(family, "chefer(rule='published')", x)
    assert got == pytest.approx(published, rel=1e-3, abs=1e-7)
    assert np.abs(strict - published).max() > 0.01 * strict.max()


def slow_rule_ten(said: Floats, looks: Floats, inner: Floats) -> Floats:
    """(t, s): the sum over k and m of N(said)[k, i] looks[k, m] N(inner)[m, j]."""

    def scaled(relevance: Floats, i: int, j: int) -> float:
        beyond = sum(relevance[i]) - 1
        return float((relevance[i, j] - (i == j)) / (beyond or 1) + (i == j))

    (t, s), found = looks.shape, np.zeros(looks.shape)
    right = np.array([[scaled(inner, m, j) for j in range(s)] for m in range(s)])
    for i, j, k in product(range(t), range(s), range(t)):
        found[i, j] += scaled(said, k, i) * sum(looks[k, m] * right[m, j] for m in range(s))
    return found


@FAMILIES
def test_flow_of_one_layer_each_is_the_narrowest_cut(family: str) -> None:
    """No more flows than a word's own column and the row that is read let through."""
    x = made.example(family)
    encoder, decoder, cross = (p.weights for p in asked(family, x, Attend(fuse="mean")))
    got = scores(family, "attention_flow(normalise=False)", x)
    rolled = scores(family, "attention_rollout", x)
    assert (got >= rolled - 1e-9).all()  # a product of shares is a flow too
    first = 0.5 * np.eye(len(x.ids)) + 0.5 * encoder[0]
    assert (got <= x.to_players(np.minimum(1, first.sum(0))) + 1e-7).all()
    assert (got <= 1 + 1e-9).all() and np.ptp(got) >= 0 and decoder.shape[0] == len(cross)


def test_whoever_knows_one_stack_is_told_of_two() -> None:
    x = made.example("t5")
    subject = Subject(x, "mask", Target(0))
    with pytest.raises(NotApplicable, match="two stacks"):
        answer(Value(made.translator("t5")), [(subject, attend())])


@pytest.mark.parametrize(
    "call",
    [
        "attention_rollout(start=1)",
        "attention_rollout(residual=[0.5, 0.5])",
        "attention_rollout(residual='norms')",
        "attention_flow(residual=[0.5, 0.5])",
        "chefer(start=1)",
    ],
)
def test_options_of_one_stack_are_not_applicable(call: str) -> None:
    with pytest.raises(NotApplicable, match="two stacks"):
        scores("t5", call, made.example("t5"))


def test_another_prefix_is_another_answer() -> None:
    x = made.example("bart")
    shorter = replace(x, prefix=x.prefix[:-1])
    assert len(asked("bart", shorter, Attend())[1].weights[0, 0]) == len(x.prefix) - 1
    rolled = [scores("bart", "attention_rollout", e) for e in (x, shorter)]
    assert np.abs(rolled[0] - rolled[1]).max() > 1e-3
