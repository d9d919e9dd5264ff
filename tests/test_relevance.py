"""Relevance propagation by operation: conservation, and explicit propagation layer by layer."""

import copy
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoConfig, BertForSequenceClassification, PreTrainedModel

from attrial.errors import AttrialError, NotApplicable
from attrial.models.propagation import Propagation, Rule
from attrial.models.relevance import relevance
from attrial.models.shares import Propagated
from tests.attended import TAPPED, WORDS, Attended, attended

CLOSE = 1e-5
RULES: tuple[Rule, ...] = ("conservative", "attention")
STACKED = tuple(f for f in TAPPED if f not in ("t5", "bart"))


def first(outputs: Tensor) -> Tensor:
    return outputs[:, 0]


def embeddings(model: PreTrainedModel, family: str) -> nn.Module:
    net: Any = model
    where = net.vit.embeddings if family == "vit" else net.get_input_embeddings()
    assert isinstance(where, nn.Module)
    return where


def explained(family: str, rule: Rule, it: Attended | None = None) -> Propagated:
    it = it or attended(family)
    at = embeddings(it.model, family)
    return relevance(it.model, it.run, at=at, read=first, rule=rule)


def biased(it: Attended) -> Attended:
    """A copy whose biases are not the zeros that they are made with."""
    model = copy.deepcopy(it.model)
    torch.manual_seed(0)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.data += torch.randn_like(parameter) * 0.3
    return Attended(model, it.batch, it.visible)


def has_no_bias(model: PreTrainedModel) -> bool:
    named = model.named_parameters()
    return not any(name.endswith("bias") and bool(p.any()) for name, p in named)


@pytest.mark.parametrize("family", STACKED)
def test_the_conservative_rule_conserves(family: str) -> None:
    it = attended(family)
    assert has_no_bias(it.model)
    found = explained(family, "conservative")
    arrived = float(found.relevance.sum()) + found.fixed
    logits = it.run().detach()[:, 0].double()
    assert abs(arrived - float(logits.sum())) <= CLOSE * max(1.0, float(logits.abs().max()))
    torch.testing.assert_close(found.start, logits)
    # Conservation tells something: neither the other rule nor the plain gradient has it.
    assert abs(explained(family, "attention").conserved - 1) > 0.01
    assert abs(plain(family) - float(logits.sum())) > 1e-3


def plain(family: str) -> float:
    """Sum of gradient times input over the same embeddings, without rules."""
    it, leaves = attended(family), list[Tensor]()

    def hook(module: nn.Module, args: object, output: Tensor) -> Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    handle = embeddings(it.model, family).register_forward_hook(hook)
    (gradient,) = torch.autograd.grad(first(it.run()).sum(), leaves)
    handle.remove()
    return float((gradient * leaves[0]).detach().sum())


@pytest.mark.parametrize("family", ["bert", "gpt2", "vit"])
def test_biases_absorb_relevance(family: str) -> None:
    found = explained(family, "conservative", biased(attended(family)))
    assert abs(found.conserved - 1) > 0.01


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("family", STACKED)
def test_outputs_are_as_without_rules(family: str, rule: Rule) -> None:
    it = attended(family) if family in ("llama", "qwen3", "gemma2") else biased(attended(family))
    expected = it.run().detach()
    found = explained(family, rule, it)
    assert float((found.outputs - expected).abs().max()) <= 1e-6 * max(
        1, float(expected.abs().max())
    )
    assert found.relevance.shape == found.outputs.shape[:1] + it.visible.shape[1:]
    assert float(found.relevance[~it.visible].abs().sum()) == 0.0  # padding takes nothing


@pytest.mark.parametrize(
    "act", ["gelu", "gelu_new", "gelu_fast", "quick_gelu", "relu", "relu2", "mish", "silu"]
)
def test_an_activation_is_one_operation_however_it_is_built(act: str) -> None:
    torch.manual_seed(0)
    it = attended("bert")
    config: Any = AutoConfig.for_model("bert", hidden_act=act, **WORDS)
    model = BertForSequenceClassification(config).double().train(False)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.data *= 4
    found = explained("bert", "conservative", Attended(model, it.batch, it.visible))
    assert abs(found.conserved - 1) <= CLOSE


def run_under(
    rule: Rule, function: Callable[..., Tensor], *inputs: Tensor, r: Tensor
) -> list[Tensor]:
    """Relevance of each input of a function whose output has relevance r."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    with Propagation(rule):
        out = function(*leaves)
    gradients = torch.autograd.grad(out, leaves, r / out.detach())
    return [x.detach() * g for x, g in zip(leaves, gradients, strict=True)]


def test_linear_rule_and_what_a_bias_keeps() -> None:
    x, w = torch.tensor([1.0, 2, -1]), torch.tensor([[2.0, 1, 1]])
    for bias, kept in ((None, 3.0), (torch.tensor([1.0]), 3.0)):
        z = F.linear(x, w, bias)
        (share,) = run_under("conservative", lambda x, b=bias: F.linear(x, w, b), x, r=z)
        torch.testing.assert_close(share, torch.tensor([2.0, 2, -1]))
        assert float(share.sum()) == kept


def test_uniform_rule_of_a_product_of_matrices() -> None:
    a, v = torch.tensor([[0.25, 0.75]]), torch.tensor([[1.0, 2], [3, -1]])
    r_a, r_v = run_under("attention", torch.matmul, a, v, r=torch.tensor([[1.0, 1]]))
    torch.testing.assert_close(r_v, torch.tensor([[0.05, -1], [0.45, 1.5]]))
    torch.testing.assert_close(r_a, torch.tensor([[-0.95, 1.95]]))
    assert abs(float(r_a.sum()) - 1) < 1e-6 and abs(float(r_v.sum()) - 1) < 1e-6


def test_softmax_rule() -> None:
    z, r = torch.tensor([1.0, 0, -1], dtype=torch.float64), torch.tensor([0.4, 0.5, 0.1]).double()
    (share,) = run_under("attention", lambda z: z.softmax(dim=-1), z, r=r)
    expected = torch.tensor([-0.265241, 0, -0.009969], dtype=torch.float64)
    torch.testing.assert_close(share, expected, atol=0.5e-6, rtol=0)


def test_gradient_times_input_of_a_homogeneous_network() -> None:
    torch.manual_seed(0)
    w, v, x = torch.randn(16, 8), torch.randn(1, 16), torch.randn(8)

    def network(x: Tensor) -> Tensor:
        return F.linear(F.relu(F.linear(x, w)), v)

    (share,) = run_under("conservative", network, x, r=network(x))
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(network(x), x)
    torch.testing.assert_close(share, (gradient * x).detach(), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(share.sum(), network(x).detach()[0])


# An explicit second derivation: relevance is passed from layer to layer in shares of what each
# neuron receives, R_i = x_i w_ji / z_j R_j, without any gradient.


def through_linear(x: Tensor, w: Tensor, r: Tensor) -> Tensor:
    return x * ((r / (x @ w.T)) @ w)


def through_norm(x: Tensor, w: Tensor, eps: float, r: Tensor) -> Tensor:
    """Layer norm as the linear map that it is at a fixed scale, position by position."""
    d = x.shape[-1]
    centre = torch.eye(d, dtype=x.dtype) - 1 / d
    rows = []
    for x_i, r_i in zip(x, r, strict=True):
        scale = 1 / ((centre @ x_i).square().mean() + eps).sqrt()
        rows.append(through_linear(x_i[None], torch.diag(w * scale) @ centre, r_i[None])[0])
    return torch.stack(rows)


def through_attention(q: Tensor, k: Tensor, v: Tensor, r: Tensor, rule: Rule) -> list[Tensor]:
    """One head: relevance of queries, keys and values (T, d)."""
    z = q @ k.T / q.shape[1] ** 0.5
    a = z.softmax(dim=-1)
    flows = a[:, :, None] * v[None] / (a @ v)[:, None] * r[:, None]  # (query, key, d)
    if rule == "conservative":
        return [torch.zeros_like(q), torch.zeros_like(k), flows.sum(dim=0)]
    r_a = flows.sum(dim=2) / 2
    r_z = z * (r_a - a * r_a.sum(dim=1, keepdim=True))
    pairs = q[:, None] * k[None] / q.shape[1] ** 0.5 / z[:, :, None] * r_z[:, :, None] / 2
    return [pairs.sum(dim=1), pairs.sum(dim=0), flows.sum(dim=0) / 2]


def through_block(layer: nn.Module, x: Tensor, rule: Rule, r: Callable[[Tensor], Tensor]) -> Tensor:
    """One BERT layer on x (T, d); ``r`` gives the relevance of its output, layers above first."""
    block: Any = layer
    own, out = block.attention.self, block.attention.output
    heads = own.num_attention_heads
    parts = [own.query, own.key, own.value]
    q, k, v = (F.linear(x, part.weight).chunk(heads, dim=-1) for part in parts)
    size = q[0].shape[1] ** 0.5
    context = torch.cat(
        [(a @ b.T / size).softmax(dim=-1) @ c for a, b, c in zip(q, k, v, strict=True)], dim=-1
    )
    mixed = F.linear(context, out.dense.weight)
    x1 = F.layer_norm(mixed + x, x.shape[-1:], out.LayerNorm.weight, eps=out.LayerNorm.eps)
    inner = F.linear(x1, block.intermediate.dense.weight)
    wide = F.gelu(inner)
    narrow = F.linear(wide, block.output.dense.weight)
    last = block.output.LayerNorm
    above = r(F.layer_norm(narrow + x1, x.shape[-1:], last.weight, eps=last.eps))
    both = through_norm(narrow + x1, last.weight, last.eps, above)
    to_wide = through_linear(wide, block.output.dense.weight, both * narrow / (narrow + x1))
    to_x1 = through_linear(x1, block.intermediate.dense.weight, to_wide)
    to_x1 = to_x1 + both * x1 / (narrow + x1)
    both = through_norm(mixed + x, out.LayerNorm.weight, out.LayerNorm.eps, to_x1)
    to_context = through_linear(context, out.dense.weight, both * mixed / (mixed + x))
    flows = [
        through_attention(*qkv, rule)
        for qkv in zip(q, k, v, to_context.chunk(heads, dim=-1), strict=True)
    ]
    total = both * x / (mixed + x)
    for part, given in zip(parts, zip(*flows, strict=True), strict=True):
        total = total + through_linear(x, part.weight, torch.cat(given, dim=-1))
    return total


def explicit(net: nn.Module, ids: Tensor, rule: Rule) -> Tensor:
    """Relevance (T, d) of the word embeddings for the first logit, for ids (T,)."""
    model: Any = net
    table, norm = model.bert.embeddings, model.bert.embeddings.LayerNorm
    words = table.word_embeddings.weight[ids]
    whole = (
        words + table.position_embeddings.weight[: len(ids)] + table.token_type_embeddings.weight[0]
    )

    def above(blocks: list[Any]) -> Callable[[Tensor], Tensor]:
        if not blocks:
            return head
        return lambda x: through_block(blocks[0], x, rule, above(blocks[1:]))

    def head(x: Tensor) -> Tensor:
        dense, classifier = model.bert.pooler.dense.weight, model.classifier.weight[:1]
        pooled = torch.tanh(F.linear(x[:1], dense))
        to_pooled = through_linear(pooled, classifier, F.linear(pooled, classifier))
        first = through_linear(x[:1], dense, to_pooled)
        return torch.cat([first, torch.zeros_like(x[1:])])

    x = F.layer_norm(whole, words.shape[-1:], norm.weight, eps=norm.eps)
    total: Tensor = through_norm(
        whole, norm.weight, norm.eps, above(list(model.bert.encoder.layer))(x)
    )
    total = total * words / whole
    return total


@pytest.mark.parametrize("rule", RULES)
def test_relevance_is_that_of_explicit_propagation(rule: Rule) -> None:
    it = attended("bert")
    model = copy.deepcopy(it.model).double()
    ids = it.batch["input_ids"][:1]
    found = relevance(
        model,
        lambda: model(input_ids=ids).logits,
        at=embeddings(model, "bert"),
        read=first,
        rule=rule,
    )
    with torch.no_grad():
        expected = explicit(model, ids[0], rule).sum(dim=-1)
    torch.testing.assert_close(found.relevance[0], expected, atol=1e-8, rtol=1e-6)
    other = relevance(
        model,
        lambda: model(input_ids=ids).logits,
        at=embeddings(model, "bert"),
        read=first,
        rule="attention" if rule == "conservative" else "conservative",
    )
    assert float((other.relevance[0] - expected).abs().max()) > 1e-2


def functions() -> list[object]:
    """What a careless implementation would patch."""
    return [
        F.layer_norm,
        F.softmax,
        F.gelu,
        nn.LayerNorm.forward,
        nn.Linear.forward,
        Tensor.__mul__,
    ]


def gradient(it: Attended) -> Tensor:
    where: Any = it.model.get_input_embeddings()
    found: Tensor
    (found,) = torch.autograd.grad(first(it.run()).sum(), where.weight)
    return found


def hooks(modules: Iterable[nn.Module]) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in modules)


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_left_behind(rule: Rule) -> None:
    it, stranger = biased(attended("gpt2")), biased(attended("bert"))
    before = functions(), gradient(it), gradient(stranger), hooks(it.model.modules())
    it.model.set_attn_implementation("sdpa")
    explained("gpt2", rule, it)
    assert it.model.config._attn_implementation == "sdpa"
    assert all(p.requires_grad for p in it.model.parameters())
    it.model.set_attn_implementation("eager")
    after = functions(), gradient(it), gradient(stranger), hooks(it.model.modules())
    assert before[0] == after[0] and before[3] == after[3]
    assert torch.equal(before[1], after[1]) and torch.equal(before[2], after[2])


def test_an_error_inside_leaves_nothing_behind() -> None:
    it = attended("bert")

    def fail() -> Tensor:
        it.run()
        raise KeyError("by design")

    flags = [p.requires_grad for p in it.model.parameters()]
    with pytest.raises(KeyError, match="by design"):
        relevance(it.model, fail, at=embeddings(it.model, "bert"), read=first, rule="attention")
    assert [p.requires_grad for p in it.model.parameters()] == flags
    assert hooks(it.model.modules()) == hooks(attended("bert").model.modules())
    x = torch.ones(3, requires_grad=True)
    (found,) = torch.autograd.grad((x * x).sum(), x)
    assert torch.equal(found, 2 * torch.ones(3))  # no rule is in force any more


def test_what_can_t_be_propagated_says_so() -> None:
    q = torch.ones(1, 1, 2, 2, requires_grad=True)
    with pytest.raises(NotApplicable, match="fused"), Propagation("conservative"):
        F.scaled_dot_product_attention(q, q, q)
    it = attended("bert")
    with pytest.raises(NotApplicable, match="looked up 0 times"):
        relevance(it.model, it.run, at=nn.Linear(1, 1), read=first, rule="attention")
    model = copy.deepcopy(it.model).train()
    with pytest.raises(AttrialError, match="train mode"):
        relevance(model, it.run, at=embeddings(model, "bert"), read=first, rule="attention")
