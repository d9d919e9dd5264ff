"""What a language model writes by itself: greedy, fixed once, explained token by token."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import GenerationConfig, PreTrainedModel

import attrial
from attrial.errors import AttrialError
from attrial.models.causal import CausalModel
from tests import decoders, tiny, writers

PROMPT = "The keys to the cabinet"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return writers.saved(tmp_path_factory.mktemp("gpt2"))


def greedy(made: PreTrainedModel, ids: list[int], count: int) -> list[int]:
    """By transformers' own generation."""
    config = GenerationConfig(max_new_tokens=count, eos_token_id=[1, 2], pad_token_id=0)  # type: ignore[no-untyped-call]
    given = torch.tensor([ids])
    out = made.generate(  # type: ignore[operator]
        given, attention_mask=torch.ones_like(given), generation_config=config
    )
    return [int(i) for i in out[0, len(ids) :]]


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "gemma2"])
def test_what_is_written_is_transformers_greedy_text(family: str) -> None:
    c = writers.writer(family)
    c.forward.model.generation_config.eos_token_id = [1, 2]
    x = c.encode("x", [writers.PROMPT])
    said = c.generate(x, 6)
    assert list(said) == greedy(writers.model(family), x.ids.tolist(), 6)


@pytest.mark.parametrize("named", ["one", "list", "none"])
def test_writing_stops_at_any_end_that_the_config_names(named: str) -> None:
    c = writers.writer("llama")
    free = c.generate(c.encode("x", [writers.PROMPT]), 8)
    end = next(t for i, t in enumerate(free) if i >= 2)
    told = {"one": end, "list": [1, end], "none": None}[named]
    c.forward.model.generation_config.eos_token_id = told
    c.forward.model.config.eos_token_id = None
    said = c.generate(c.encode("x", [writers.PROMPT]), 8)
    assert said == (free if named == "none" else free[: free.index(end) + 1])


def test_each_column_is_the_explanation_of_that_token(folder: Path) -> None:
    """A column is what ``explain`` says of the token as a continuation of all that stood before."""
    found = attrial.explain_generation(folder, PROMPT, method="occlusion", max_new_tokens=3)
    assert found.prompt == 5 and found.scores.shape == (7, 3)
    assert found.sources[:5] == tuple(PROMPT.split()) and len(found.targets) == 3
    assert np.isnan(found.scores).tolist() == [[s >= 5 + t for t in range(3)] for s in range(7)]
    first = attrial.explain(folder, PROMPT, method="occlusion")
    assert first.target == found.targets[0]
    assert first.scores == pytest.approx(found.scores[:5, 0], abs=1e-6)
    assert first.probability == pytest.approx(found.probabilities[0])
    c = CausalModel.load(folder)
    made, x = writers.gpt2_bytes(), c.encode("x", [PROMPT])
    said = c.generate(x, 3)

    def odds(ids: list[int]) -> float:
        p = np.exp(writers.plain(made, ids, (said[2],)))
        return float(np.log(p) - np.log(1 - p))

    prompt = x.ids.tolist()
    whole, gone = odds([*prompt, *said[:2]]), odds([*prompt, said[0]])  # the second token hidden
    assert found.scores[6, 2] == pytest.approx(whole - gone, abs=1e-4)


def test_shapley_shares_out_what_the_prompt_and_earlier_tokens_add() -> None:
    c = writers.writer("llama")
    found = attrial.explain_generation(
        c, "the plot was", method="shapley", max_new_tokens=2, removal="delete"
    )
    x = c.encode("x", ["the plot was"])
    said = c.generate(x, 2)
    made = writers.model("llama")
    whole = [*x.ids.tolist(), said[0]]
    p, q = (np.exp(writers.plain(made, ids, (said[1],))) for ids in (whole, [0]))
    gain = np.log(p / (1 - p)) - np.log(q / (1 - q))
    assert float(found.scores[:, 1].sum()) == pytest.approx(gain, abs=1e-5)
    assert abs(gain) > 1e-2


def test_it_shows_as_text_and_as_a_page(folder: Path) -> None:
    found = attrial.explain_generation(folder, "<b>keys", method="occlusion", max_new_tokens=2)
    page, lines = found.html(), found.text().splitlines()
    assert "&lt;b&gt;keys" in page and "<b>keys" not in page and page.count("<td") == 4
    assert len(lines) == 3 + len(found.sources) and lines[2].count("p=") == 2
    assert lines[-1].count("+") + lines[-1].count("-") == 1  # the last source has one target


def test_tokens_of_a_continuation_add_up_to_what_is_said_of_the_whole(folder: Path) -> None:
    """log p(a b | prompt) = log p(a | prompt) + log p(b | prompt a), with or without a word."""
    asked = {"method": "occlusion", "function": "log_probability", "removal": "delete"}
    each = attrial.explain_generation(folder, PROMPT, continuation=" are small", **asked)  # type: ignore[arg-type]
    whole = attrial.explain(folder, PROMPT, continuation=" are small", **asked)  # type: ignore[arg-type]
    assert "".join(each.targets) == " are small" and len(each.targets) > 1 and each.given
    assert each.scores[:5].sum(axis=1) == pytest.approx(whole.scores, abs=1e-5)
    assert np.abs(each.scores[:5, 0] - whole.scores).max() > 1e-3  # one token isn't the whole
    assert "of the continuation" in each.caption


def test_a_translation_that_is_given_is_explained_word_by_word() -> None:
    found = attrial.explain_generation(
        "planted_translation",
        "bird boat bread bridge city",
        method="occlusion",
        continuation="zorat faldo tosa merin kula",
    )
    firsts = found.scores[: found.prompt].argmax(axis=0)
    assert firsts.tolist() == list(range(found.prompt))[::-1]  # the last word first


def test_what_cant_be_written_is_refused(folder: Path) -> None:
    with pytest.raises(AttrialError, match="it writes nothing"):
        attrial.explain_generation(tiny.classifier(), "a film")
    with pytest.raises(AttrialError, match="are more than the 64"):
        attrial.explain_generation(folder, PROMPT, max_new_tokens=64)
    with pytest.raises(AttrialError, match="it takes 1 or more"):
        attrial.explain_generation(folder, PROMPT, max_new_tokens=0)
    with pytest.raises(AttrialError, match="does not chat"):
        attrial.explain(decoders.classifier("gpt2"), "a film", chat=True)


def test_a_foil_is_what_the_continuation_is_set_against(folder: Path) -> None:
    found = attrial.explain(
        folder, PROMPT, method="shapley", removal="delete", continuation=" are", foil=" is"
    )
    made, c = writers.gpt2_bytes(), CausalModel.load(folder)
    x = c.encode("x", [PROMPT], options=(" are", " is"))

    def lead(ids: list[int]) -> float:
        return writers.plain(made, ids, x.options[0]) - writers.plain(made, ids, x.options[1])

    assert float(found.scores.sum()) == pytest.approx(lead(x.ids.tolist()) - lead([0]), abs=1e-5)
    assert found.target == " are" and found.removal == "delete"
    with pytest.raises(AttrialError, match="a foil stands against a continuation"):
        attrial.explain(folder, PROMPT, foil=" is")
    with pytest.raises(AttrialError, match="is a classifier: it continues no text"):
        attrial.explain(tiny.classifier(), "a film", continuation=" is")
