"""Registered methods on a random classifier, again: transformers alone, slow and plain."""

from functools import cache
from itertools import combinations, pairwise, product

import networkx
import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from attrial import plugin_call
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.masks import Floats, Scores
from attrial.models.text import TextClassifier
from attrial.target import Target
from attrial.value import Answer, Subject, Value, answer
from tests import tiny

EXACT = 1e-8
INDEX = 0  # the class that is explained, by its log-odds
TEXT = "the plot is brighter and good"


@cache
def classifier() -> TextClassifier:
    """In float64, where equality is sharp; other words come from two sentences."""
    it = TextClassifier.of(tiny.model("bert").double(), tiny.tokenizer(), batch_tokens=256)
    return it.filled_by(corpus_of([it.encode(text, [text]) for text in (TEXT, tiny.TEXT)]))


@cache
def example() -> Example:
    x = classifier().encode("x", [TEXT])
    assert x.n == 6 and len(x.ids) == 9  # "brighter" is two tokens of one player
    return x


def attempt(call: str, *, family: str = "bert", seed: int = 0) -> Answer[Scores]:
    subject = Subject(example(), "mask", Target(INDEX))
    asker = plugin_call.method(call)(example(), seed)
    it = classifier() if family == "bert" else tiny.classifier(family)
    return answer(Value(it), [(subject, asker)])[0]


def attribute(call: str, *, seed: int = 0) -> Scores:
    got = attempt(call, seed=seed)
    assert got.result is not None
    return got.result


def model() -> PreTrainedModel:
    return classifier().forward.model


def words() -> torch.Tensor:
    """The table of word embeddings."""
    return torch.as_tensor(model().get_input_embeddings().weight).detach()


def value(embedded: torch.Tensor) -> torch.Tensor:
    return tiny.log_odds(model()(inputs_embeds=embedded[None]).logits[0])


def value_and_slope(embedded: torch.Tensor) -> tuple[float, Floats]:
    point = embedded.clone().requires_grad_()
    out = value(point)
    (gradient,) = torch.autograd.grad(out, point)
    return float(out.detach()), gradient.numpy()


def players(tokens: Floats) -> Scores:
    """Tokens (t,) summed into players; special ones left out."""
    sums = np.zeros(example().n)
    for token, owner in zip(tokens, example().owner, strict=True):
        if owner >= 0:
            sums[owner] += token
    return sums


def input_and_mask() -> tuple[torch.Tensor, torch.Tensor]:
    """Embeddings (t, d) of the input, and of the input with every player masked."""
    ids = torch.tensor(example().ids)
    masked = torch.where(torch.tensor(example().owner >= 0), tiny.tokenizer().mask_token_id, ids)
    return words()[ids], words()[masked]


def test_gradients() -> None:
    end, _ = input_and_mask()
    _, slope = value_and_slope(end)
    expected = {
        "gradient_norm": np.sqrt((slope**2).sum(1)),
        "gradient_norm(order=1)": np.abs(slope).sum(1),
        "input_x_gradient": (slope * end.numpy()).sum(1),
    }
    for call, tokens in expected.items():
        np.testing.assert_allclose(attribute(call), players(tokens), atol=EXACT, err_msg=call)


def test_gradient_sum_behind_the_norm_on_the_embeddings() -> None:
    leaves: list[torch.Tensor] = []

    def begin(module: torch.nn.Module, args: object, output: torch.Tensor) -> torch.Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    handle = model().get_submodule("bert.embeddings").register_forward_hook(begin)
    out = value(input_and_mask()[0])
    handle.remove()
    (gradient,) = torch.autograd.grad(out, leaves)
    expected = players(np.abs(gradient[0].numpy().sum(1)))
    np.testing.assert_allclose(attribute("gradient_sum_abs"), expected, atol=EXACT)


def test_integrated_gradients() -> None:
    """Simpson's rule on 400 parts, an odd number of points in all: as sharp as 20 of Gauss."""
    end, start = input_and_mask()
    total, parts = np.zeros(end.shape), 400
    for step in range(parts + 1):
        weight = (1 if step in (0, parts) else 4 if step % 2 else 2) / (3 * parts)
        total += weight * value_and_slope(start + step / parts * (end - start))[1]
    expected = players((total * (end - start).numpy()).sum(1))
    got = attempt("integrated_gradients(steps=80)")
    assert got.result is not None
    np.testing.assert_allclose(got.result, expected, atol=1e-6)
    change = float((value(end) - value(start)).detach())
    assert got.result.sum() == pytest.approx(change, abs=1e-6)
    assert got.notes["completeness_gap"] == pytest.approx(abs(got.result.sum() - change), abs=1e-9)


def noise(seed: int, row: int, shape: tuple[int, ...]) -> Floats:
    drawn = np.random.default_rng([seed, row]).standard_normal(shape)
    drawn[example().owner < 0] = 0
    return drawn


@pytest.mark.parametrize("squared", [False, True])
def test_smooth_grad(squared: bool) -> None:
    end, _ = input_and_mask()
    spread = float(end.max() - end.min())
    slopes = []
    for row in range(12):
        moved = end + torch.from_numpy(0.2 * spread * noise(5, row, tuple(end.shape)))
        slopes.append(value_and_slope(moved)[1])
    power = 2 if squared else 1
    mean = (np.array(slopes) ** power).mean(0) ** (1 / power)
    got = attribute(f"smooth_grad(samples=12, noise=0.2, squared={squared})", seed=5)
    np.testing.assert_allclose(got, players(np.sqrt((mean**2).sum(1))), atol=EXACT)
    without = attribute("gradient_norm")
    assert np.abs(got - without).max() > 0.01 * np.abs(without).max()  # the noise does something


def drawn_start(seed: int, draw: int) -> torch.Tensor:
    """A baseline of random tokens, none of them special, at the players' positions."""
    end, _ = input_and_mask()
    special = set(tiny.tokenizer().all_special_ids)
    ordinary = [i for i in range(len(words())) if i not in special]
    ids = np.random.default_rng([seed, draw]).choice(ordinary, len(end))
    fixed = torch.tensor(example().owner < 0)[:, None]
    return torch.where(fixed, end, words()[torch.tensor(ids)])


def test_expected_gradients() -> None:
    end, _ = input_and_mask()
    samples, seed = 16, 3
    rng = np.random.default_rng(seed)
    ways = (rng.permutation(samples) + rng.random(samples)) / samples
    total, starts = np.zeros(end.shape), []
    for draw, way in enumerate(ways):
        start = drawn_start(seed, draw)
        _, slope = value_and_slope(start + way * (end - start))
        total += slope * (end - start).numpy() / samples
        starts.append(float(value(start).detach()))
    got = attribute(f"expected_gradients(samples={samples})", seed=seed)
    np.testing.assert_allclose(got, players(total.sum(1)), atol=EXACT)
    assert np.ptp(starts) > 0.01  # they are different baselines


def test_expected_gradients_sum_to_the_change_in_the_mean() -> None:
    whole = float(value(input_and_mask()[0]).detach())
    gaps = []
    for seed in range(10):
        got = attempt("expected_gradients(samples=60)", seed=seed)
        starts = [float(value(drawn_start(seed, draw)).detach()) for draw in range(60)]
        assert got.result is not None
        gaps.append(got.result.sum() - (whole - sum(starts) / 60))
        assert got.notes["completeness_gap"] == pytest.approx(abs(gaps[-1]), abs=EXACT)
    error = np.std(gaps) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) < 4 * error < 0.5


def test_sequential_integrated_gradients_are_occlusion_by_the_mask() -> None:
    end, start = input_and_mask()
    whole = float(value(end).detach())
    expected = []
    for player in range(example().n):
        own = torch.tensor(example().owner == player)[:, None]
        expected.append(whole - float(value(torch.where(own, start, end)).detach()))
    got = attribute("sequential_integrated_gradients(steps=60)")
    np.testing.assert_allclose(got, expected, atol=1e-5)
    np.testing.assert_allclose(attribute("occlusion"), expected, atol=EXACT)


@cache
def table() -> dict[frozenset[int], float]:
    """The value of every set of players kept, the others masked."""
    end, start = input_and_mask()
    found = {}
    for size in range(example().n + 1):
        for kept in combinations(range(example().n), size):
            stays = torch.tensor([o < 0 or o in kept for o in example().owner])[:, None]
            with torch.no_grad():
                found[frozenset(kept)] = float(value(torch.where(stays, end, start)))
    return found


def test_values_of_sets() -> None:
    v, n = table(), example().n
    everyone = set(range(n))
    shapley, banzhaf, sobol = np.zeros(n), np.zeros(n), np.zeros(n)
    weight = [1 / (n * len(list(combinations(range(n - 1), s)))) for s in range(n)]
    for i, (s, _) in product(range(n), v.items()):
        if i not in s:
            rise = v[s | {i}] - v[s]
            shapley[i] += weight[len(s)] * rise
            banzhaf[i] += rise / 2 ** (n - 1)
            sobol[i] += rise**2 / 2 ** (n - 1) / 4 / np.var(list(v.values()))
    for call, expected in {"shapley": shapley, "banzhaf": banzhaf, "sobol": sobol}.items():
        np.testing.assert_allclose(attribute(call), expected, atol=EXACT, err_msg=call)
    np.testing.assert_allclose(attribute("kernel_shap"), shapley, atol=EXACT)
    change = v[frozenset(everyone)] - v[frozenset()]
    assert shapley.sum() == pytest.approx(change, abs=1e-9)
    assert np.abs(shapley - banzhaf).max() > 1e-3


@cache
def shown() -> tuple[list[torch.Tensor], torch.Tensor]:
    """Attention weights (1, H, t, t) of each layer as transformers shows them, and the value."""
    own = tiny.model("bert").double()
    own.set_attn_implementation("eager")
    out = own(input_ids=torch.tensor(example().ids)[None], output_attentions=True)
    return list(out.attentions), tiny.log_odds(out.logits[0])


def fused() -> list[Floats]:
    return [layer[0].mean(0).detach().numpy() for layer in shown()[0]]


def mixed() -> list[Floats]:
    return [(layer + np.eye(len(layer))) / 2 for layer in fused()]


def test_rollout_is_a_sum_over_paths() -> None:
    layers, t = mixed(), len(example().ids)
    expected = np.zeros(t)
    for path in product(range(t), repeat=len(layers)):
        share = 1.0
        steps = pairwise((0, *path))  # the first position is read
        for layer, (i, j) in zip(reversed(layers), steps, strict=True):
            share *= layer[i, j]
        expected[path[-1]] += share
    np.testing.assert_allclose(attribute("attention_rollout"), players(expected), atol=EXACT)
    np.testing.assert_allclose(attribute("attention"), players(fused()[-1][0]), atol=EXACT)


def test_flow_by_networkx() -> None:
    layers, t = mixed(), len(example().ids)
    graph = networkx.DiGraph()
    for level, layer in enumerate(layers):
        for i, j in product(range(t), repeat=2):
            graph.add_edge((level + 1, i), (level, j), capacity=layer[i, j])
    top = (len(layers), 0)
    flows = np.array([networkx.maximum_flow_value(graph, top, (0, j)) for j in range(t)])
    got = attribute("attention_flow(normalise=False)")
    np.testing.assert_allclose(got, players(flows), atol=EXACT)
    np.testing.assert_allclose(
        attribute("attention_flow"), players(flows) / flows.sum(), atol=EXACT
    )


@cache
def attention_slopes() -> list[Floats]:
    layers, out = shown()
    return [g[0].numpy() for g in torch.autograd.grad(out, layers)]


def test_attention_and_its_gradients() -> None:
    weights = [layer[0].detach().numpy() for layer in shown()[0]]
    heads, t = len(weights[0]), len(example().ids)
    products = [a * g for a, g in zip(weights, attention_slopes(), strict=True)]
    last = sum(products[-1][h][0] for h in range(heads)) / heads
    np.testing.assert_allclose(attribute("attention_x_gradient"), players(last), atol=EXACT)
    total = np.eye(t)
    for layer in products:
        positive = np.zeros((t, t))
        for h in range(heads):
            positive += np.where(layer[h] > 0, layer[h], 0) / heads
        total = total + positive @ total
    for call in ("chefer", "chefer(rule='published')"):  # one stack has no cross attention
        np.testing.assert_allclose(attribute(call), players(total[0]), atol=EXACT)
    grades = [attention_slopes()[-1][h].mean() for h in range(heads)]
    cam = sum(g * w for g, w in zip(grades, weights[-1], strict=True))
    expected = players(np.maximum(cam[0], 0))
    np.testing.assert_allclose(attribute("attention_grad_cam"), expected, atol=EXACT)


@pytest.mark.parametrize("layer", [0, 1])
def test_attention_attribution(layer: int) -> None:
    """The layer's value vectors, not its attention, are scaled here: it is the same product."""
    own = tiny.model("bert").double()
    own.set_attn_implementation("eager")
    ids = torch.tensor(example().ids)[None]
    weights = shown()[0][layer][0].detach().numpy()
    values = own.get_submodule(f"bert.encoder.layer.{layer}.attention.self.value")
    total = np.zeros_like(weights)
    ends = []
    nodes, gauss = np.polynomial.legendre.leggauss(20)
    for at, weight in [*zip((nodes + 1) / 2, gauss / 2, strict=True), (0.0, 0.0), (1.0, 0.0)]:
        handle = values.register_forward_hook(lambda m, i, o, a=at: a * o)
        out = own(input_ids=ids, output_attentions=True)
        handle.remove()
        y = tiny.log_odds(out.logits[0])
        ends.append(float(y.detach()))
        if weight:  # dy/dA under values a v is a times the gradient in the weights a A
            (slope,) = torch.autograd.grad(y, out.attentions[layer])
            total += weight * slope[0].numpy() / at
    cells = (total * weights).sum(0)
    got = attribute(f"attention_attribution(layer={layer})")
    np.testing.assert_allclose(got, players(cells[0]), atol=EXACT)
    change = ends[-1] - ends[-2]
    assert cells.sum() == pytest.approx(change, abs=1e-3 * abs(change) + 1e-5)
    assert abs(change) > tiny.TEETH
