"""Methods on layers and relevance, again: one encoder and one decoder written out in numpy.

Nothing here but arrays of weights: no module runs, and each head, query and key has its turn.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import torch
from scipy.special import erf

from attrial import plugin_call
from attrial.masks import Floats, Scores
from attrial.models.layers import matrices
from attrial.models.propagation import Rule
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests.attended import attended
from tests.test_relevance import explicit
from tests.test_replicates import EXACT, attribute, classifier, example, model, players

Weights = Mapping[str, Floats]


def arrays(state: Mapping[str, torch.Tensor]) -> Weights:
    return {name: tensor.detach().double().numpy() for name, tensor in state.items()}


def normed(x: Floats, gain: Floats, bias: Floats, eps: float) -> Floats:
    """Layer norm (t, d), a position at a time."""
    rows = [(row - row.mean()) / np.sqrt(row.var() + eps) * gain + bias for row in x]
    return np.stack(rows)


@dataclass(frozen=True)
class Block:
    """One layer in arrays: its states, values by head, weights, and what follows the heads.

    Attributes:
        x: (t, d) into the layer.
        values: (H, t, size).
        weights: (H, t, t).
        out: (H, size, d) what heads are put together by.
        bias: (d,) of that.
        gain: (d,) of a layer norm on the sum; None where there is none.
        rest: From attention's output with bias (t, d) to the layer's output (t, d).
    """

    x: Floats
    values: Floats
    weights: Floats
    out: Floats
    bias: Floats
    gain: Floats | None
    rest: Callable[[Floats], Floats]

    def attended(self, without: int | None = None) -> Floats:
        """Attention's output (t, d), with one key's values at zero if asked for."""
        total = np.tile(self.bias, (len(self.x), 1))
        for h, rows in enumerate(self.weights):
            for i, row in enumerate(rows):
                for j, weight in enumerate(row):
                    if j != without:
                        total[i] += weight * (self.values[h, j] @ self.out[h])
        return total

    def part(self, i: int, j: int) -> Floats:
        """What query i gets from key j, all heads together (d,)."""
        heads = zip(self.weights, self.values, self.out, strict=True)
        total: Floats = np.sum([a[i, j] * (v[j] @ o) for a, v, o in heads], axis=0)
        return total

    def whole(self, i: int, j: int) -> Floats:
        """The same with the residual in its own part, at the scale of the norm."""
        both = self.part(i, j) + (i == j) * self.x[i]
        if self.gain is None:
            return np.asarray(both)
        spread = np.sqrt((self.attended()[i] + self.x[i]).var() + 1e-12)
        scaled: Floats = (both - both.mean()) / spread * self.gain
        return scaled


def softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


def heads_of(x: Floats, size: int) -> Floats:
    """(t, H size) -> (H, t, size)."""
    return np.stack([x[:, start : start + size] for start in range(0, x.shape[1], size)])


def attends(q: Floats, k: Floats, *, causal: bool = False) -> Floats:
    """Weights (H, t, t) a query at a time."""
    out = np.zeros((len(q), q.shape[1], q.shape[1]))
    for h in range(len(q)):
        for i in range(q.shape[1]):
            seen = i + 1 if causal else q.shape[1]
            scores = [q[h, i] @ k[h, j] / np.sqrt(q.shape[2]) for j in range(seen)]
            out[h, i, :seen] = softmax(np.array(scores))
    return out


def bert_block(w: Weights, number: int, x: Floats, size: int) -> Block:
    stem = f"bert.encoder.layer.{number}."

    def linear(name: str, x: Floats) -> Floats:
        return np.asarray(x @ w[f"{stem}{name}.weight"].T + w[f"{stem}{name}.bias"])

    def norm(name: str, x: Floats) -> Floats:
        return normed(x, w[f"{stem}{name}.weight"], w[f"{stem}{name}.bias"], 1e-12)

    q, k, v = (heads_of(linear(f"attention.self.{n}", x), size) for n in ("query", "key", "value"))
    dense, bias = (w[f"{stem}attention.output.dense.{n}"].T for n in ("weight", "bias"))
    gain = w[f"{stem}attention.output.LayerNorm.weight"]

    def rest(attended: Floats) -> Floats:
        y = norm("attention.output.LayerNorm", attended + x)
        inner = linear("intermediate.dense", y)
        gelu = inner * (1 + erf(inner / np.sqrt(2))) / 2
        return norm("output.LayerNorm", linear("output.dense", gelu) + y)

    return Block(x, v, attends(q, k), dense.reshape(len(v), size, -1), bias, gain, rest)


@cache
def bert() -> list[Block]:
    """The layers of the classifier that all replicates share, on its example."""
    w = arrays(model().state_dict())
    ids, stem = example().ids, "bert.embeddings."
    x = w[f"{stem}word_embeddings.weight"][ids] + w[f"{stem}token_type_embeddings.weight"][0]
    x = x + w[f"{stem}position_embeddings.weight"][: len(ids)]
    x = normed(x, w[f"{stem}LayerNorm.weight"], w[f"{stem}LayerNorm.bias"], 1e-12)
    blocks = []
    for number in range(2):
        blocks.append(bert_block(w, number, x, 8))
        x = blocks[-1].rest(blocks[-1].attended())
    return blocks


def gpt2_block(w: Weights, number: int, x: Floats, size: int) -> Block:
    stem = f"transformer.h.{number}."

    def linear(name: str, x: Floats) -> Floats:
        return np.asarray(x @ w[f"{stem}{name}.weight"] + w[f"{stem}{name}.bias"])

    def norm(name: str, x: Floats) -> Floats:
        return normed(x, w[f"{stem}{name}.weight"], w[f"{stem}{name}.bias"], 1e-5)

    q, k, v = (
        heads_of(part, size) for part in np.split(linear("attn.c_attn", norm("ln_1", x)), 3, 1)
    )

    def rest(attended: Floats) -> Floats:
        y = attended + x
        inner = linear("mlp.c_fc", norm("ln_2", y))
        bent = np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3))
        return np.asarray(y + linear("mlp.c_proj", inner * (1 + bent) / 2))

    dense = w[f"{stem}attn.c_proj.weight"].reshape(len(v), size, -1)
    weights = attends(q, k, causal=True)
    return Block(x, v, weights, dense, w[f"{stem}attn.c_proj.bias"], None, rest)


def cells(block: Block, kind: str) -> Floats:
    """One layer's matrix (t, t) of a kind."""
    t = len(block.x)
    out = np.zeros((t, t))
    whole = block.rest(block.attended())
    y = np.array([[block.whole(i, j) for j in range(t)] for i in range(t)])
    goal = y.sum(axis=1) + offset(block)
    for j in range(t):
        turned = block.rest(block.attended(without=j))
        for i in range(t):
            a, b, away = whole[i], turned[i], np.abs(goal[i] - y[i, j]).sum()
            out[i, j] = {
                "norm": np.linalg.norm(block.part(i, j)),
                "norm_residual": np.linalg.norm(y[i, j]),
                "alti": max(0.0, np.abs(goal[i]).sum() - away),
                "value_zeroing": 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b),
            }[kind] * (block.weights[:, i, j].any() or i == j)
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def offset(block: Block) -> Floats:
    """What no key gives (t, d): the bias, at the norm's scale. These norms have no bias."""
    if block.gain is None:
        return np.tile(block.bias, (len(block.x), 1))
    sums = block.attended() + block.x
    centred = (block.bias - block.bias.mean()) * block.gain
    return np.stack([centred / np.sqrt(row.var() + 1e-12) for row in sums])


def read(layers: list[Floats], share: float) -> Scores:
    """Players' shares of position 0, over every path."""
    row = np.eye(len(layers[0]))[0]
    for layer in reversed(layers):
        row = (1 - share) * row @ layer + share * row
    return players(row)


@pytest.mark.parametrize(
    ("call", "kind", "share"),
    [
        ("attention_norm", "norm", 0.5),
        ("attention_norm(form='norm_residual')", "norm_residual", 0.0),
        ("alti", "alti", 0.0),
        ("value_zeroing", "value_zeroing", 0.0),
    ],
)
def test_layers(call: str, kind: str, share: float) -> None:
    expected = read([cells(block, kind) for block in bert()], share)
    np.testing.assert_allclose(attribute(call), expected, atol=EXACT)
    assert np.abs(expected).max() > 0.01


def test_rollout_with_residuals_from_norms() -> None:
    row = np.eye(len(example().ids))[0]
    for block in reversed(bert()):
        a = block.attended()
        lengths = [np.sqrt((v**2).sum(axis=1)) for v in (block.x, a)]
        share = lengths[0] / (lengths[0] + lengths[1])
        row = (row * (1 - share)) @ block.weights.mean(axis=0) + row * share
    got = attribute("attention_rollout(residual='norms')")
    np.testing.assert_allclose(got, players(row), atol=EXACT)


def test_layers_of_a_decoder() -> None:
    own = copy.deepcopy(attended("gpt2").model).double()
    torch.manual_seed(0)
    for name, parameter in own.named_parameters():
        if name.endswith("bias"):
            parameter.data += 0.3 * torch.randn_like(parameter)
    w, ids = arrays(own.state_dict()), [5, 9, 30, 5, 11]
    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][: len(ids)]
    given = torch.tensor([ids])
    for number in range(own.config.num_hidden_layers):
        block = gpt2_block(w, number, x, 8)
        for kind in ("norm", "norm_residual", "alti", "value_zeroing"):
            got = matrices(own, lambda: own(input_ids=given), kind)[number]
            np.testing.assert_allclose(got, cells(block, kind), atol=EXACT, err_msg=kind)
        x = block.rest(block.attended())


@pytest.mark.parametrize(
    ("name", "rule"), [("lrp_conservative", "conservative"), ("lrp_attention", "attention")]
)
def test_relevance(name: str, rule: Rule) -> None:
    """Shares are passed from layer to layer, R_i = x_i w_ji / z_j R_j, without any gradient."""
    subject = Subject(example(), "mask", Target(0, "logit"))
    asker = plugin_call.method(name)(example(), 0)
    (got,) = answer(Value(classifier()), [(subject, asker)])
    with torch.no_grad():
        tokens = explicit(model(), torch.tensor(example().ids), rule).sum(dim=-1)
    assert got.result is not None
    np.testing.assert_allclose(got.result, players(tokens.numpy()), atol=EXACT, rtol=1e-6)
    assert np.abs(got.result).max() > 0.01
