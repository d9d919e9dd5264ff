"""What must not matter to an answer: company, padding, budgets, modes, kernels, names of classes.

Every equality stands beside a control that breaks it, on models whose answers depend on every word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import (
    AutoConfig,
    ModernBertForSequenceClassification,
    PreTrainedModel,
)

from attrial.ask import Slope
from attrial.batching import Batch
from attrial.example import Example
from attrial.masks import Floats, all_but_each, everything
from attrial.models.embedding import edited, lookup
from attrial.models.guard import guarded
from attrial.models.text import TextClassifier
from attrial.removal import in_place, stack
from attrial.target import Target
from attrial.value import Subject
from tests import tiny

EVERY_FAMILY = pytest.mark.parametrize("family", list(tiny.FAMILIES))
REMOVALS = ("attention_off", "delete", "mask", "pad", "unk", "zero")
ROUNDING = 2e-6  # of float32, relative to the size of the outputs
TARGET = Target(0)


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def examples(c: TextClassifier) -> list[Example]:
    return [c.encode(str(i), [text]) for i, text in enumerate((tiny.TEXT, *tiny.OTHERS))]


def scale(outputs: Floats) -> float:
    return float(np.abs(outputs).max())


def full(c: TextClassifier, x: Example) -> Floats:
    return c.keep([(Subject(x, "mask", TARGET), everything(x.n))])[0]


def by_transformers(model: PreTrainedModel, family: str, text: str) -> Floats:
    """Raw outputs of one text, unpadded, with everything but ids left to transformers."""
    with torch.no_grad():
        given = tiny.tokenizer(family)(text, return_tensors="pt")
        return np.asarray(model(**given).logits.double().numpy())


def at_width(c: TextClassifier, x: Example, width: int, **changed: torch.Tensor) -> Floats:
    """Raw outputs of one example padded to a width, some arguments exchanged."""
    rows = stack([in_place(x, 1)], width=width, pad=c.forward.pad)
    arguments = c.forward.arguments(rows, Batch(width, np.array([0]), 1)) | changed
    with guarded(c.forward.model), torch.no_grad():
        return np.asarray(c.forward(arguments).double().numpy())


@EVERY_FAMILY
def test_random_models_have_teeth(family: str) -> None:
    assert tiny.moves(tiny.model(family), family).abs().median() >= tiny.TEETH


@EVERY_FAMILY
def test_full_inputs_answer_as_transformers_alone_does(family: str) -> None:
    c = tiny.classifier(family)
    for x in examples(c):
        alone = by_transformers(c.forward.model, family, x.text[0])
        assert np.abs(full(c, x) - alone).max() <= ROUNDING * scale(alone)


@EVERY_FAMILY
def test_wrong_positions_would_be_seen(family: str) -> None:
    c = tiny.classifier(family)
    x = examples(c)[0]
    shifted = replace(c, forward=replace(c.forward, offset=c.forward.offset + 1))
    assert np.abs(full(shifted, x) - full(c, x)).max() > 0.01


@EVERY_FAMILY
def test_padding_with_the_mask_moves_nothing_and_without_it_does(family: str) -> None:
    c = tiny.classifier(family)
    x = examples(c)[0]
    narrow, wide = at_width(c, x, len(x.ids)), at_width(c, x, 32)
    unmasked = at_width(c, x, 32, attention_mask=torch.ones((1, 32), dtype=torch.int64))
    assert np.abs(wide - narrow).max() <= ROUNDING * scale(narrow)
    assert np.abs(unmasked - narrow).max() > 0.01


@EVERY_FAMILY
def test_pads_get_no_gradient_at_all(family: str) -> None:
    c = tiny.classifier(family)
    x = examples(c)[0]
    rows = stack([in_place(x, 1)], width=32, pad=c.forward.pad)
    arguments = c.forward.arguments(rows, Batch(32, np.array([0]), 1))
    points = lookup(c.forward.model, arguments["input_ids"][0].numpy()).float()[None]
    points.requires_grad_()
    with guarded(c.forward.model), edited(c.forward.model, lambda embeddings: points):
        logits = c.forward(arguments)
    (gradient,) = torch.autograd.grad(logits[0, 0], points)
    assert (gradient[0, len(x.ids) :] == 0).all()
    assert (gradient[0, : len(x.ids)].abs().sum(dim=1) > 1e-4).all()


@EVERY_FAMILY
@pytest.mark.parametrize("removal", REMOVALS)
def test_company_and_place_change_no_bit(family: str, removal: str) -> None:
    check_company(tiny.classifier(family), removal)


@EVERY_FAMILY
def test_nor_do_they_where_two_threads_share_the_work(family: str, two_threads: None) -> None:
    check_company(tiny.classifier(family), "delete", alone=(7,))


def check_company(c: TextClassifier, removal: str, *, alone: Sequence[int] = (0, 1, 7, 29)) -> None:
    xs = examples(c)
    asks = [(Subject(x, removal, TARGET), tiny.masks(x.n, 30, seed=i)) for i, x in enumerate(xs)]
    together = c.keep(asks)
    backwards = c.keep([(s, m[::-1]) for s, m in asks[::-1]])[::-1]
    for (subject, masks), outputs, turned in zip(asks, together, backwards, strict=True):
        assert np.array_equal(outputs, turned[::-1])
        for k in alone:
            (lonely,) = c.keep([(subject, masks[k : k + 1])])
            assert np.array_equal(lonely[0], outputs[k])


def test_odd_shapes_would_be_seen() -> None:
    """The control of the test above: other shapes do change last bits."""
    c = tiny.classifier("bert", batch_tokens=1 << 12)
    small = tiny.classifier("bert", batch_tokens=16)
    x = examples(c)[0]
    asks = [(Subject(x, "mask", TARGET), tiny.masks(x.n, 200))]
    assert not np.array_equal(c.keep(asks)[0], small.keep(asks)[0])


@EVERY_FAMILY
def test_budgets_64_times_apart_agree(family: str) -> None:
    model = tiny.model(family)
    small, large = (
        TextClassifier.of(model, tiny.tokenizer(family), batch_tokens=b) for b in (32, 2048)
    )
    for removal in REMOVALS:
        asks = [
            (Subject(x, removal, TARGET), tiny.masks(x.n, 40, seed=i))
            for i, x in enumerate(examples(small))
        ]
        for a, b in zip(small.keep(asks), large.keep(asks), strict=True):
            assert np.abs(a - b).max() <= 1e-5 * scale(a)


@EVERY_FAMILY
def test_slopes_are_the_same_in_any_company(family: str) -> None:
    c = tiny.classifier(family)
    asks = [
        (
            Subject(x, "mask", Target(i % 3)),
            Slope(np.linspace(0, 1, 5)[:, None].repeat(x.n, 1), noise=0.1),
        )
        for i, x in enumerate(examples(c))
    ]
    together = c.slope(asks)
    for ask, answer in zip(asks, together, strict=True):
        (alone,) = c.slope([ask])
        assert np.array_equal(alone.gradient, answer.gradient)
        assert np.array_equal(alone.values, answer.values)
        assert np.array_equal(alone.difference, answer.difference)


@EVERY_FAMILY
def test_a_model_in_train_mode_answers_as_in_eval_and_stays_in_train_mode(family: str) -> None:
    c = tiny.classifier(family)
    model, x = c.forward.model, examples(c)[0]
    calm = full(c, x)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.3  # some families come without
    model.train()
    dropped = by_transformers(model, family, x.text[0])
    assert np.array_equal(full(c, x), calm)
    assert all(m.training for m in model.modules())
    assert np.abs(dropped - calm).max() > 0.01


@EVERY_FAMILY
def test_eager_and_sdpa_agree(family: str) -> None:
    c = tiny.classifier(family)
    model, x = c.forward.model, examples(c)[0]
    model.set_attn_implementation("eager")
    eager = by_transformers(model, family, x.text[0])
    mine = full(c, x)
    assert model.config._attn_implementation == "eager"
    assert np.abs(mine - eager).max() <= ROUNDING * scale(eager)


@EVERY_FAMILY
def test_renaming_classes_permutes_the_answers(family: str) -> None:
    c = tiny.classifier(family)
    x = examples(c)[0]
    subject, masks, order = Subject(x, "mask", TARGET), all_but_each(x.n), [2, 0, 1]
    (before,) = c.keep([(subject, masks)])
    head = [m for m in c.forward.model.modules() if isinstance(m, torch.nn.Linear)][-1]
    assert head.out_features == 3
    with torch.no_grad():
        head.weight.copy_(head.weight[order].clone())
        head.bias.copy_(head.bias[order].clone())
    (after,) = c.keep([(subject, masks)])
    assert np.abs(after - before[:, order]).max() <= ROUNDING * scale(before)
    assert np.abs(after - before).max() > 0.1


@EVERY_FAMILY
def test_hidden_tokens_may_be_left_out_where_trying_it_says_so(family: str) -> None:
    fast = tiny.classifier(family)
    slow = replace(fast, forward=replace(fast.forward, drops=0))
    assert fast.forward.drops == tiny.PLACES - 8 + fast.forward.offset
    asks = [
        (Subject(x, "attention_off", TARGET), tiny.masks(x.n, 20, seed=i))
        for i, x in enumerate(examples(fast))
    ]
    dropped, hidden = (np.concatenate(c.keep(asks)) for c in (fast, slow))
    assert np.abs(dropped - hidden).max() <= ROUNDING * scale(hidden)
    assert not np.array_equal(dropped, hidden)  # it did take another path


def test_windows_keep_their_hidden_tokens() -> None:
    """Behind a local window a token left out brings others near that were out of sight."""
    config = AutoConfig.for_model(
        "modernbert",
        vocab_size=tiny.VOCABULARY,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=32,
        local_attention=8,
        num_labels=3,
        pad_token_id=0,
        cls_token_id=2,
        sep_token_id=3,
        bos_token_id=2,
        eos_token_id=3,
        initializer_range=0.3,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = ModernBertForSequenceClassification(config)  # type: ignore[arg-type]
    assert TextClassifier.of(model, tiny.tokenizer()).forward.drops == 0


def _without_positions(model: PreTrainedModel) -> None:
    tables = [m for name, m in model.named_modules() if name.endswith("position_embeddings")]
    assert len(tables) == 1
    with torch.no_grad():
        tables[0].weight.zero_()


def _occlusion(c: TextClassifier, x: Example, removal: str) -> Floats:
    masks = np.concatenate([everything(x.n), all_but_each(x.n)])
    values = TARGET.read(c.keep([(Subject(x, removal, TARGET), masks)])[0])
    return np.asarray(values[0] - values[1:])


@EVERY_FAMILY
@pytest.mark.parametrize("removal", REMOVALS)
def test_equal_words_score_alike_only_where_positions_are_not_told(
    family: str, removal: str
) -> None:
    c = tiny.classifier(family)
    x = c.encode("twice", ["the film and the plot"])
    apart = _occlusion(c, x, removal)
    _without_positions(c.forward.model)
    alike = _occlusion(c, x, removal)
    assert x.players[0] == x.players[3] == "the"
    assert abs(alike[0] - alike[3]) <= 1e-5 * np.abs(alike).max()
    assert abs(apart[0] - apart[3]) > 1e-3
