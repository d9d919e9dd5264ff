"""Fading, suppressed and infilled players against second derivations by transformers and numpy."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoModelForMaskedLM, PreTrainedModel

from attrial import testing
from attrial.ask import Infill, Soften, Suppress
from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example
from attrial.filling import by_content, by_seed, corpus_of
from attrial.masks import Floats, Scores, all_but_each
from attrial.models.masked import MaskedFiller, filler_of, load_filler
from attrial.models.text import TextClassifier
from attrial.plugin_call import method
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import tiny

EXACT = 2e-6
FAMILIES = pytest.mark.parametrize("family", list(tiny.FAMILIES))


def subject(c: TextClassifier, text: str = tiny.TEXT, removal: str = "mask") -> Subject:
    return Subject(c.encode("text", [text]), removal, Target(1))


def raw(c: TextClassifier, x: Example, **given: torch.Tensor) -> Floats:
    segments = {"token_type_ids": torch.tensor(x.types)[None]}
    told = segments if "token_type_ids" in c.forward.takes else {}
    with torch.no_grad():
        return np.asarray(c.forward.model(**given, **told).logits[0].double().numpy())


@FAMILIES
def test_shares_of_one_change_nothing_and_shares_of_zero_blank_all(family: str) -> None:
    c = tiny.classifier(family)
    s = subject(c)
    n = s.example.n
    whole, blank = c.soften([(s, Soften(np.stack([np.ones(n), np.zeros(n)])))])[0]
    full = c.keep([(s, np.ones((1, n), bool))])[0][0]
    none = c.keep([(replace(s, removal="zero"), np.zeros((1, n), bool))])[0][0]
    assert np.abs(whole - full).max() < EXACT
    assert np.abs(blank - none).max() < EXACT
    assert np.abs(whole - blank).max() > tiny.TEETH / 10


@FAMILIES
def test_softened_embeddings_are_those_that_numpy_drops(family: str) -> None:
    c = tiny.classifier(family)
    s = subject(c)
    x = s.example
    shares = np.linspace(0.1, 0.9, x.n)
    (found,) = c.soften([(s, Soften(shares[None], seed=5))])[0]
    embedded = c.forward.model.get_input_embeddings()(torch.tensor(x.ids)[None])[0].detach()
    drawn = np.random.default_rng([5, 0]).random(tuple(embedded.shape))
    for place, owner in enumerate(x.owner):
        for d in range(embedded.shape[1]):
            if owner >= 0 and drawn[place, d] >= shares[owner]:
                embedded[place, d] = 0.0
    expected = raw(c, x, inputs_embeds=embedded[None])
    assert np.abs(found - expected).max() < EXACT


def test_a_fading_row_is_the_same_in_any_company() -> None:
    c = tiny.classifier()
    s, other = subject(c), subject(c, tiny.OTHERS[2])
    shares = np.random.default_rng(0).random((5, s.example.n))
    alone = c.soften([(s, Soften(shares, seed=3))])[0]
    company = c.soften(
        [(other, Soften(np.full((3, other.example.n), 0.5))), (s, Soften(shares, 3))]
    )
    assert np.array_equal(alone, company[1])
    assert not np.array_equal(alone, c.soften([(s, Soften(shares, seed=4))])[0])


def test_a_linear_function_loses_what_the_shares_say() -> None:
    point = np.random.default_rng(1).normal(size=(4, 50))

    def total(at: Floats) -> Scores:
        return np.asarray(at.sum(axis=(1, 2)))

    game = testing.smooth(total, np.ones_like, point, np.zeros_like(point))
    shares = np.array([1.0, 0.5, 0.25, 0.0])
    s = Subject(game.example, "game", game.target)
    found = game.soften([(s, Soften(np.tile(shares, (4000, 1))))])[0][:, 0]
    expected = float(shares @ point.sum(axis=1))
    error = found.std() / np.sqrt(len(found))
    assert abs(found.mean() - expected) < 4 * error
    assert error < 0.1  # so that the line above can fail


def eager_with_factor(c: TextClassifier, x: Example, factor: Floats) -> Floats:
    """One layer after the other by hand: BERT's own modules, but scores scaled by key."""
    model: Any = c.forward.model
    bert = model.bert
    h = bert.embeddings(
        input_ids=torch.tensor(x.ids)[None], token_type_ids=torch.tensor(x.types)[None]
    )
    scale = torch.tensor(factor, dtype=h.dtype)
    for layer in bert.encoder.layer:
        own = layer.attention.self
        heads = own.num_attention_heads
        q, k, v = (
            f(h)[0].reshape(len(x.ids), heads, -1).transpose(0, 1)
            for f in (own.query, own.key, own.value)
        )
        context = torch.zeros_like(q)
        for head in range(heads):
            scores = (q[head] @ k[head].T) / q.shape[-1] ** 0.5 * scale[None, :]
            context[head] = scores.softmax(dim=-1) @ v[head]
        attended = layer.attention.output(context.transpose(0, 1).reshape(h.shape), h)
        h = layer.output(layer.intermediate(attended), attended)
    logits = model.classifier(bert.pooler(h))[0]
    return np.asarray(logits.detach().double().numpy())


def test_suppressed_attention_is_that_of_a_hand_written_layer() -> None:
    c = tiny.classifier()
    s = subject(c)
    x = s.example
    shares = np.zeros((2, x.n))
    shares[0, 3], shares[1, [0, 5]] = 0.9, (0.5, 1.0)
    found = c.suppress([(s, Suppress(shares))])[0]
    for row, share in zip(found, shares, strict=True):
        factor = np.array([1.0 if o < 0 else 1.0 - share[o] for o in x.owner])
        assert np.abs(row - eager_with_factor(c, x, factor)).max() < EXACT
    full = c.keep([(s, np.ones((1, x.n), bool))])[0][0]
    assert np.abs(found - full).max(axis=1).min() > 1e-3
    assert np.abs(eager_with_factor(c, x, np.ones(len(x.ids))) - full).max() < EXACT


@FAMILIES
def test_no_suppression_changes_nothing(family: str) -> None:
    c = tiny.classifier(family)
    s = subject(c)
    found = c.suppress([(s, Suppress(np.zeros((1, s.example.n))))])[0][0]
    full = c.keep([(s, np.ones((1, s.example.n), bool))])[0][0]
    assert np.abs(found - full).max() < EXACT


def masked_model(*, seed: int = 0) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = AutoConfig.for_model("bert", **tiny.SIZES, initializer_range=0.5)
        made: PreTrainedModel = AutoModelForMaskedLM.from_config(config)  # type: ignore[no-untyped-call]
    made.eval()  # type: ignore[no-untyped-call]
    return made


def filler(*, seed: int = 0) -> MaskedFiller:
    words = tiny.tokenizer()
    return filler_of(masked_model(seed=seed), words, words, "tiny")


def test_a_masked_model_draws_by_its_own_probabilities() -> None:
    c, f = tiny.classifier(), filler()
    x = subject(c).example
    kept = x.to_positions(all_but_each(x.n))[[3, 6]]
    uniform = by_seed(1, 2, len(x.ids))
    found = f.fill(x, kept, uniform)
    for row in range(2):
        ids = torch.tensor([i if k else f.mask for i, k in zip(x.ids, kept[row], strict=True)])
        with torch.no_grad():
            logits = f.forward.model(input_ids=ids[None]).logits[0].double()
        for place in range(len(x.ids)):
            weights = [
                0.0 if token in f.special else float(logits[place, token].exp())
                for token in range(logits.shape[1])
            ]
            drawn = int(np.searchsorted(np.cumsum(weights) / sum(weights), uniform[row, place]))
            assert found[row, place] == (x.ids[place] if kept[row, place] else drawn)


def test_many_draws_have_the_masked_models_frequencies() -> None:
    c, f = tiny.classifier(), filler(seed=2)
    x = subject(c).example
    draws = 3000
    kept = np.repeat(x.to_positions(all_but_each(x.n))[[4]], draws, axis=0)
    (place,) = np.flatnonzero(~kept[0])
    found = f.fill(x, kept, by_seed(0, *kept.shape))[:, place]
    ids = torch.tensor(np.where(kept[0], x.ids, f.mask))[None]
    with torch.no_grad():
        logits = f.forward.model(input_ids=ids).logits[0, place]
    logits[sorted(f.special)] = -torch.inf
    p = logits.softmax(dim=-1).double().numpy()
    seen = np.bincount(found, minlength=len(p)) / draws
    assert np.abs(seen - p).max() < 4 * np.sqrt(p.max() / draws)
    assert not seen[sorted(f.special)].any()


def test_a_corpus_draws_its_players_tokens_as_often_as_they_occur() -> None:
    c = tiny.classifier()
    examples = [c.encode(str(i), [t]) for i, t in enumerate(tiny.OTHERS)]
    corpus = corpus_of(examples)
    tokens = [int(i) for x in examples for i, o in zip(x.ids, x.owner, strict=True) if o >= 0]
    x = subject(c).example
    kept = np.repeat(x.to_positions(np.zeros((1, x.n), bool)), 2000, axis=0)
    found = corpus.fill(x, kept, by_seed(0, *kept.shape))
    assert np.array_equal(found[:, x.owner < 0], np.tile(x.ids[x.owner < 0], (2000, 1)))
    drawn = found[:, x.owner >= 0].ravel()
    for token in set(tokens):
        share = tokens.count(token) / len(tokens)
        assert abs((drawn == token).mean() - share) < 4 * np.sqrt(share / len(drawn))
    assert corpus_of(examples[::-1]).name == corpus.name != corpus_of(examples[:2]).name


def test_the_removal_draws_by_content_and_the_question_by_seed() -> None:
    c = tiny.classifier()
    s = subject(c, removal="infill")
    c = c.filled_by(corpus_of([s.example, c.encode("o", [tiny.OTHERS[2]])]))
    masks = tiny.masks(s.example.n, 6)
    first, again = (c.keep([(s, masks)])[0] for _ in range(2))
    assert np.array_equal(first, again)
    assert np.array_equal(first[::-1], c.keep([(s, masks[::-1])])[0])
    seeded = [c.infill([(s, Infill(masks[1:], seed=k))])[0] for k in (0, 0, 1)]
    assert np.array_equal(seeded[0], seeded[1])
    assert not np.array_equal(seeded[0], seeded[2])
    kept = s.example.to_positions(masks)
    assert len(np.unique(by_content(s.example, kept)[:, 0])) == len(masks)


def test_without_a_filler_infilling_is_not_applicable() -> None:
    c = tiny.classifier()
    s = subject(c, removal="infill")
    assert "infill" not in c.answers
    with pytest.raises(NotApplicable, match="'infill' can't be done"):
        c.keep([(s, np.ones((1, s.example.n), bool))])
    with pytest.raises(NotApplicable, match="nothing to draw"):
        c.infill([(s, Infill(np.ones((1, s.example.n), bool)))])


def test_a_filler_with_other_tokens_or_without_weights_is_refused(tmp_path: object) -> None:
    with pytest.raises(AttrialError, match="not those of the classifier"):
        filler_of(masked_model(), tiny.tokenizer(), tiny.tokenizer("roberta"), "bert")
    folder = str(tmp_path)
    tiny.model("bert").save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    with pytest.raises(AttrialError, match="no trained masked language model"):
        load_filler(folder, tiny.tokenizer())


def test_a_saved_masked_model_is_loaded(tmp_path: object) -> None:
    folder = str(tmp_path)
    masked_model().save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    assert isinstance(tiny.tokenizer().backend_tokenizer, Tokenizer)
    loaded = load_filler(folder, tiny.tokenizer())
    assert loaded.name.split()[1] == filler().name.split()[1]


def attributed(name: str, c: TextClassifier, s: Subject, seed: int = 0) -> Scores:
    (got,) = answer(Value(c), [(s, method(name)(s.example, seed))])
    assert got.result is not None, got.undefined
    return got.result


def test_atman_is_the_drop_of_each_suppression() -> None:
    c = tiny.classifier()
    s = subject(c)
    found = attributed("atman(factor=0.8)", c, s)
    full = eager_with_factor(c, s.example, np.ones(len(s.example.ids)))
    for i in range(s.example.n):
        factor = np.where(s.example.owner == i, 0.2, 1.0)
        drop = s.target.read(full[None]) - s.target.read(
            eager_with_factor(c, s.example, factor)[None]
        )
        assert found[i] == pytest.approx(drop[0], abs=1e-5)


def test_words_that_are_alike_fade_together() -> None:
    c = tiny.classifier()
    s = subject(c, "good film good plot")
    alone, together = attributed("atman", c, s), attributed("atman(similarity=0.99)", c, s)
    assert together[0] == pytest.approx(together[2], abs=1e-5)  # both fade, whoever is asked
    assert abs(alone[0] - alone[2]) > 1e-4
    assert together[1] == pytest.approx(alone[1], abs=1e-6)


def test_input_marginalisation_of_one_possible_word_is_replacing_it() -> None:
    c = tiny.classifier()
    s = subject(c)
    c = c.filled_by(corpus_of([c.encode("only", ["bright"])]))
    found = attributed("input_marginalisation(samples=50)", c, s)
    (bright,) = (i for i, o in zip(*_only(c, "bright"), strict=True) if o >= 0)
    full = raw(c, s.example, input_ids=torch.tensor(s.example.ids)[None])
    for i in range(s.example.n):
        ids = np.where(s.example.owner == i, bright, s.example.ids)
        other = raw(c, s.example, input_ids=torch.tensor(ids)[None])
        drop = s.target.read(full[None]) - s.target.read(other[None])
        assert found[i] == pytest.approx(drop[0], abs=1e-5)


def _only(c: TextClassifier, word: str) -> tuple[list[int], list[int]]:
    x = c.encode("only", [word])
    return x.ids.tolist(), x.owner.tolist()


def test_reagent_on_an_additive_game_ranks_by_worth() -> None:
    """With sets of size m of n, E s_i = w_i m/n - (rest of the sum)(...): increasing in w_i."""
    worth = np.array([3.0, 1.0, 0.0, -2.0])
    game = testing.game(4, lambda masks: masks @ worth)
    found = testing.attribute("reagent(samples=20000, ratio=0.5)", game)
    expected = [reagent_by_counting(worth, i, size=2) for i in range(4)]
    assert found == pytest.approx(expected, abs=0.05)
    assert (np.diff(found) < 0).all()


def reagent_by_counting(worth: Floats, i: int, *, size: int) -> float:
    """The exact mean over all sets of a size of +drop inside and -drop outside."""
    total, count = 0.0, 0
    for bits in range(2 ** len(worth)):
        members = [j for j in range(len(worth)) if bits >> j & 1]
        if len(members) == size:
            drop = sum(worth[j] for j in members)
            total += drop if i in members else -drop
            count += 1
    return total / count


def test_a_toy_that_looks_at_one_word_loses_it_to_suppression() -> None:
    """First-token toy: with its score at 0 all four keys are alike, so the word has a quarter."""
    found = testing.attribute("atman(factor=1.0)", testing.toy("first_token"))
    assert found == pytest.approx([0, 0.75, 0, 0], abs=1e-9)
