"""Causal language models behind the questions: continuations of one token and of several."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from attrial.ask import Attend, Relevance, Slope, Soften, Suppress
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.masks import Bools, Floats, everything
from attrial.models.causal import CausalModel
from attrial.models.continuing import Continuing, log_probabilities
from attrial.subject import Subject
from attrial.target import Target
from tests import decoders, tiny, writers

FAMILIES = pytest.mark.parametrize("family", list(writers.FAMILIES))
KINDS = pytest.mark.parametrize("kind", list(writers.KINDS))
EXACT = 1e-5


def asked(c: CausalModel, kind: str) -> Example:
    return c.encode("x", [writers.PROMPT], options=writers.KINDS[kind])


def keep(c: CausalModel, x: Example, removal: str, masks: Bools) -> Floats:
    return c.keep([(Subject(x, removal, Target(0)), masks)])[0]


@FAMILIES
@KINDS
def test_outputs_are_the_plain_models_log_probabilities(family: str, kind: str) -> None:
    c = writers.writer(family)
    x = asked(c, kind)
    made, ids = writers.model(family), x.ids.tolist()
    (full,) = keep(c, x, "delete", everything(x.n))
    assert np.abs(full - writers.expected(made, ids, x.options)).max() < EXACT
    # Negative controls: no anchor; the continuation one token too late.
    assert np.abs(full - writers.expected(made, ids[1:], x.options)).max() > 1e-3
    assert np.abs(full - writers.expected(made, ids[:-1], x.options)).max() > 1e-3
    assert isinstance(c.forward, Continuing) and c.forward.causal


@FAMILIES
@KINDS
@pytest.mark.parametrize("removal", ["delete", "unk"])
def test_rows_are_those_of_the_model_alone(family: str, kind: str, removal: str) -> None:
    c = writers.writer(family)
    x = asked(c, kind)
    masks = tiny.masks(x.n, 5)
    made = writers.model(family)
    for row, stays in zip(keep(c, x, removal, masks), x.to_positions(masks), strict=True):
        left = x.ids[stays] if removal == "delete" else np.where(stays, x.ids, 2)
        assert np.abs(row - writers.expected(made, left.tolist(), x.options)).max() < EXACT
    # Negative control: the same tokens the other way round.
    turned = writers.expected(made, [x.ids[0], *x.ids[:0:-1]], x.options)
    assert np.abs(keep(c, x, removal, masks)[0] - turned).max() > 1e-3


@FAMILIES
@pytest.mark.parametrize("kind", ["two", "words"])
def test_hidden_tokens_are_hidden_and_the_continuation_follows_the_last_one_kept(
    family: str, kind: str
) -> None:
    """Against transformers' own mask and position ids, read at the last token that is kept."""
    c = writers.writer(family)
    x = asked(c, kind)
    masks = tiny.masks(x.n, 6)
    masks[2] = [True] * (x.n - 2) + [False] * 2
    made = writers.model(family)
    for row, stays in zip(keep(c, x, "attention_off", masks), x.to_positions(masks), strict=True):
        last = int(np.flatnonzero(stays)[-1])
        for found, option in zip(row, x.options, strict=True):
            ids = x.ids[: last + 1].tolist()
            seen = torch.tensor([[*stays[: last + 1], *[True] * len(option)]]).long()
            places = torch.arange(len(ids) + len(option))[None]
            alone = writers.plain(made, ids, option, attention_mask=seen, position_ids=places)
            assert abs(found - alone) < EXACT
    # Negative control: the words of the first two rows, all and none, were they not hidden.
    all_seen, none = keep(c, x, "attention_off", masks[:2])
    assert np.abs(all_seen - none).max() > 1e-3


@KINDS
def test_zeroed_words_are_zero_vectors(kind: str) -> None:
    c = writers.writer("llama")
    x = asked(c, kind)
    masks = tiny.masks(x.n, 4)
    made = writers.model("llama")
    words = made.get_input_embeddings()
    for row, stays in zip(keep(c, x, "zero", masks), x.to_positions(masks), strict=True):
        found = []
        for option in x.options:
            left = torch.tensor([*stays, *[True] * len(option)])[None, :, None]
            hook = words.register_forward_hook(lambda m, i, out, left=left: out * left)
            found.append(writers.plain(made, x.ids.tolist(), option))
            hook.remove()
        assert np.abs(row[: len(found)] - found).max() < EXACT


@FAMILIES
@KINDS
def test_slopes_are_those_of_torch_alone(family: str, kind: str) -> None:
    c = writers.writer(family)
    x = asked(c, kind)
    shares = np.linspace(0.2, 1.0, x.n)[None]
    (found,) = c.slope([(Subject(x, "delete", Target(0)), Slope(shares, baseline="mean"))])
    made = writers.model(family)
    words = made.get_input_embeddings()
    assert isinstance(words, torch.nn.Module)
    with torch.no_grad():
        table = words(torch.arange(made.config.vocab_size))
        end, start = words(torch.tensor(x.ids)), table.mean(dim=0)
    left = torch.tensor([1.0 if o < 0 else shares[0, o] for o in x.owner]).float()[:, None]
    at = (start + left * (end - start)).requires_grad_()
    scores = torch.stack([_score(made, words, at, option) for option in x.options])
    odds = scores[0] - (scores[1:].logsumexp(0) if len(scores) > 1 else (-scores[0].exp()).log1p())
    (gradient,) = torch.autograd.grad(odds, at)
    assert found.values[0] == pytest.approx(float(odds.detach()), abs=1e-4)
    scale = float(gradient.abs().max())
    assert scale > 1e-3
    assert np.abs(found.gradient[0] - gradient.numpy()).max() < 1e-4 * scale


def _score(
    made: torch.nn.Module, words: torch.nn.Module, at: torch.Tensor, option: tuple[int, ...]
) -> torch.Tensor:
    """Log-probability of a continuation of embeddings, by torch alone."""
    with torch.no_grad():
        tail = words(torch.tensor(option))
    ids = torch.zeros((1, len(at) + len(option)), dtype=torch.long)
    whole = torch.cat([at, tail])[None]
    hook = words.register_forward_hook(lambda module, inputs, output: whole)
    logits = made(input_ids=ids).logits[0].double().log_softmax(-1)
    hook.remove()
    return torch.stack([logits[len(at) - 1 + j, t] for j, t in enumerate(option)]).sum()


@FAMILIES
@pytest.mark.parametrize("kind", ["two", "words"])
def test_attention_is_the_prompts_and_gradients_come_from_all_continuations(
    family: str, kind: str
) -> None:
    c = writers.writer(family)
    x = asked(c, kind)
    subject, t = Subject(x, "delete", Target(0, "log_odds")), len(x.ids)
    (found,) = c.attend([(subject, Attend(gradient=True))])
    made = writers.model(family)
    made.set_attn_implementation("eager")
    weights, scores = [], []
    for option in x.options:
        out = made(input_ids=torch.tensor([[*x.ids, *option]]), output_attentions=True)
        weights.append(out.attentions)
        logits = out.logits[0].double().log_softmax(-1)
        scores.append(torch.stack([logits[t - 1 + j, o] for j, o in enumerate(option)]).sum())
    odds = scores[0] - torch.stack(scores[1:]).logsumexp(0)
    flat = [w for layers in weights for w in layers]
    pulled = torch.autograd.grad(odds, flat, allow_unused=True)
    layers = len(weights[0])
    for i in range(layers):
        own = weights[0][i][0, :, :t, :t].detach().numpy()
        assert np.abs(found.weights[i] - own).max() < EXACT
        grads = [pulled[j * layers + i] for j in range(len(weights))]
        total = sum(g[0, :, :t, :t].numpy() for g in grads if g is not None)
        assert found.gradient is not None and np.abs(total).max() > 1e-4
        assert np.abs(found.gradient[i] - total).max() < 1e-4 * max(1.0, np.abs(total).max())


@FAMILIES
def test_company_and_order_change_no_bit(family: str) -> None:
    c = writers.writer(family)
    texts = (writers.PROMPT, "the story", "a dull plot was acting and the film is very very bad")
    pairs = [(t, o) for t in texts for o in writers.KINDS.values()]
    asks = []
    for i, (text, options) in enumerate(pairs):
        x = c.encode(str(i), [text], options=options)
        asks.append((Subject(x, "delete", Target(0)), tiny.masks(x.n, 5, seed=i)))
    alone = [c.keep([ask])[0] for ask in asks]
    together = c.keep(asks[::-1])[::-1]
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))
    assert [a.shape[1] for a in alone[:4]] == [2, 2, 3, 2]


def test_one_token_answers_alike_alone_and_beside_a_longer_one() -> None:
    """Read at the row's end, or in a copy with what follows: every question agrees."""
    c = writers.writer("llama")
    alone, beside = (
        c.encode("x", [writers.PROMPT], options=o) for o in (writers.ONE, writers.WORDS[::-1])
    )
    beside = replace(beside, options=(*alone.options, *beside.options))
    one, two = (Subject(x, "delete", Target(0, "logit")) for x in (alone, beside))
    n, shares = alone.n, np.linspace(0, 1, alone.n)[None]
    for ask in (Slope(shares, noise=0.1), Slope(np.ones((1, n)), at="layers")):
        a, b = c.slope([(one, ask)])[0], c.slope([(two, ask)])[0]
        assert np.abs(a.gradient - b.gradient).max() < EXACT
    for rule in ("conservative", "attention", "deep_lift"):
        p, q = (c.relevance([(s, Relevance(rule))])[0] for s in (one, two))
        assert np.abs(p.tokens - q.tokens).max() < 1e-4 * np.abs(p.tokens).max()
        assert np.abs(p.tokens).max() > 1e-3
    faded = [c.soften([(s, Soften(shares, 3))])[0][:, 0] for s in (one, two)]
    lower = [c.suppress([(s, Suppress(shares))])[0][:, 0] for s in (one, two)]
    assert np.abs(faded[0] - faded[1]).max() < EXACT
    assert np.abs(lower[0] - lower[1]).max() < EXACT


@KINDS
def test_interventions_that_change_nothing_give_the_full_answer(kind: str) -> None:
    c = writers.writer("gpt2")
    x = asked(c, kind)
    c = c.filled_by(corpus_of([x]))  # type: ignore[assignment]
    subject, ones = Subject(x, "infill", Target(0)), np.ones((1, x.n))
    full = keep(c, x, "delete", everything(x.n))
    (soft,) = c.soften([(subject, Soften(ones))])
    (held,) = c.suppress([(subject, Suppress(0 * ones))])
    drawn = keep(c, x, "infill", everything(x.n))
    for found in (soft, held, drawn):
        assert np.abs(found - full).max() < EXACT
    (none,) = c.soften([(subject, Soften(0 * ones))])
    assert np.abs(none - full).max() > 1e-2


def test_anything_else_is_exact_where_a_continuation_is_nearly_certain() -> None:
    logits = torch.tensor([[[60.0, 0.0, 0.0]], [[1.0, 2.0, 0.5]]])
    found = log_probabilities(logits, torch.tensor([[[0]], [[1]]]))
    assert found[0, 1] == pytest.approx(np.log(2) - 60)
    p = np.exp(2) / (np.exp(1) + np.exp(2) + np.exp(0.5))
    assert found[1].tolist() == pytest.approx([np.log(p), np.log(1 - p)])
    steps = torch.tensor([[[40.0, 0.0], [0.0, 30.0]]])
    both = log_probabilities(steps, torch.tensor([[[0, 1]]]))
    assert both[0, 1] == pytest.approx(np.log(np.exp(-40) + np.exp(-30)), rel=1e-9)


def longrope() -> PreTrainedModel:
    """A random Phi-3 that reads all positions four times as slowly in texts of more than 32."""
    rope = {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "short_factor": [1.0] * 4,
        "long_factor": [4.0] * 4,
        "original_max_position_embeddings": 32,
    }
    sizes = decoders.SIZES | {"num_key_value_heads": 2, "original_max_position_embeddings": 32}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model("phi3", **sizes, rope_parameters=rope)
        made: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    for parameter in made.parameters():
        if parameter.ndim > 1:
            parameter.data *= 6
    return made.eval()  # type: ignore[no-untyped-call, no-any-return]


def test_frequencies_that_depend_on_length_stay_those_of_short_texts() -> None:
    """Phi-3's longrope writes its frequencies anew at each forward, by the longest row's length."""
    made, alone = longrope(), longrope()
    writers.plain(made, [0] * 40, (5,))  # whoever used it before left the others there
    c = CausalModel.of(made, decoders.tokenizer(), batch_tokens=256)
    long = c.encode("long", [" ".join([writers.PROMPT] * 6)], options=writers.TWO)
    assert c.limit == len(long.ids) == 32 and long.truncated
    x = c.encode("x", [writers.PROMPT], options=writers.TWO)
    asks = [(Subject(y, "unk", Target(0)), tiny.masks(y.n, 4)) for y in (long, x)]
    for (subject, masks), found in zip(asks, c.keep(asks), strict=True):
        y = subject.example
        for row, stays in zip(found, y.to_positions(masks), strict=True):
            with torch.no_grad():
                ids = torch.tensor([np.where(stays, y.ids, 2).tolist()])
                said = alone(input_ids=ids).logits[0, -1].double().log_softmax(-1)
            assert np.abs(row - said[[o[0] for o in y.options]].numpy()).max() < EXACT
    # Negative control: the same tokens at the beginning of a longer row are other tokens' states.
    with torch.no_grad():
        ids = torch.tensor([[*long.ids.tolist(), 5, 6]])
        short, longer = (alone(input_ids=i).logits[0, 31] for i in (ids[:, :32], ids))
    assert (short - longer).abs().max() > 1e-3
