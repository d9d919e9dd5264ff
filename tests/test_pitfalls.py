"""What made other tools crash on a family, or tokens and scores come apart, with what is right.

Test names say the trigger. Sums of log-probabilities of continuations, chat templates and vision
have their own files.
"""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast
from transformers.modeling_outputs import SequenceClassifierOutput

import attrial
from attrial.ask import Attend, Slope
from attrial.example import Example
from attrial.masks import Floats
from attrial.models.pairing import digest
from attrial.models.text import TextClassifier
from attrial.subject import Subject
from attrial.target import Target
from tests import families, tiny
from tests.test_families import EXACT, alone, outcome
from tests.test_method_matrix import BagForSequenceClassification, bag

TARGET = Target(1)
MANY = [" ".join(tiny.WORDS[: 1 + i % len(tiny.WORDS)]) for i in range(16)]  # sixteen lengths


def full(c: TextClassifier, x: Example) -> Floats:
    (found,) = c.keep([(Subject(x, "delete", TARGET), np.ones((1, x.n), bool))])
    return np.asarray(found[0])


# Crashes on a family


def test_several_ends_of_text_and_no_padding_token(tmp_path: Path) -> None:
    """Chat models name a list of eos ids and no pad: a single id is taken, and no answer moves."""
    made, words = copy.deepcopy(families.model("llama")), copy.deepcopy(families.tokenizer("llama"))
    expected = alone("llama", np.array([0, *words(families.TEXT)["input_ids"]]))
    made.config.eos_token_id, made.config.pad_token_id, words.pad_token = [0, 5], None, None
    made.save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    c = TextClassifier.load(tmp_path)
    assert c.forward.pad == words.eos_token_id
    assert np.abs(full(c, c.encode("x", [families.TEXT])) - expected).max() < EXACT


@pytest.mark.parametrize("family", ["bart", "t5", "xlnet", "deberta-v2", "modernbert"])
def test_no_attribute_of_the_architectures_name_is_needed(family: str) -> None:
    """A classifier of BART has no attribute ``bart``, and none but BERT's has ``model.bert``."""
    assert not hasattr(families.model(family), family)
    c = families.classifier(family)
    x = c.encode("x", [families.TEXT])
    assert np.abs(full(c, x) - alone(family, x.ids)).max() < EXACT
    assert not isinstance(outcome(c, "occlusion"), str)


class KeywordForSequenceClassification(BagForSequenceClassification):  # type: ignore[no-untyped-call]
    """It calls its table of words by keyword."""

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None
    ) -> SequenceClassifierOutput:
        seen = self.words(input=input_ids)
        if attention_mask is not None:
            seen = seen * attention_mask[:, :, None]
        return SequenceClassifierOutput(logits=self.out(torch.tanh(seen.sum(1))))


def test_an_embedding_that_is_called_by_keyword() -> None:
    """captum 150 and 373: a wrapper of embeddings fails where they are called with keywords."""
    it = bag()[0]
    assert isinstance(it, TextClassifier)
    plain, model = it, copy.deepcopy(it.forward.model)
    model.__class__ = KeywordForSequenceClassification
    c = TextClassifier.of(model, tiny.tokenizer(), batch_tokens=128)
    x = c.encode("x", [families.TEXT])
    ask = [(Subject(x, "delete", TARGET), Slope(np.ones((1, x.n))))]
    assert np.array_equal(c.slope(ask)[0].gradient, plain.slope(ask)[0].gradient)


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_attention_of_models_that_run_fused_kernels(family: str) -> None:
    """Under sdpa a model shows an empty tuple: weights are seen all the same, of every layer."""
    c = families.classifier(family)
    model = c.forward.model
    x = c.encode("x", [families.TEXT])
    assert model.config._attn_implementation == "sdpa"
    ids = torch.tensor(x.ids)[None]
    assert not model(input_ids=ids, output_attentions=True).attentions
    (found,) = c.attend([(Subject(x, "delete", TARGET), Attend())])
    assert found.weights.shape == (2, 4, len(x.ids), len(x.ids))
    assert np.allclose(found.weights.sum(-1), 1)
    zeroed = outcome(c, "value_zeroing")
    assert not isinstance(zeroed, str) and zeroed.std() > 0
    assert model.config._attn_implementation == "sdpa"


def test_one_copy_of_a_model_serves_all_methods() -> None:
    """DistilBERT and RoBERTa want a copy of the model's code for each method (Chefer 54, 58)."""
    for family in ("distilbert", "roberta"):
        c = families.classifier(family)
        before = digest(c.forward.model)
        gradient = outcome(c, "input_x_gradient")
        for name in ("chefer", "lrp_attention", "attention_rollout", "integrated_gradients"):
            assert not isinstance(outcome(c, name), str)
        assert digest(c.forward.model) == before
        assert np.array_equal(outcome(c, "input_x_gradient"), gradient)


def test_an_explanation_shows_itself_in_every_form() -> None:
    """shap 1609: explaining a plain string ends in a missing attribute."""
    pair = (families.model("bert"), families.tokenizer("bert"))
    found = attrial.explain(pair, families.TEXT, method="occlusion")
    assert all(word in found.text() and word in found.html() for word in families.TEXT.split())
    assert "occlusion" in repr(found) and found._repr_html_()


# Tokens and scores that come apart


def test_removing_part_of_a_word_makes_no_other_word() -> None:
    """ferret and shap 3328: pieces go, and what is left is decoded and cut again otherwise."""
    c = families.classifier("bert")
    text = "brights acting filmers"
    x = c.encode("x", [text], players="tokens")
    assert x.players == ("bright", "s", "act", "ing", "film", "er", "s")
    left_out = ~np.eye(x.n, dtype=bool)
    found = c.keep([(Subject(x, "delete", TARGET), left_out)])[0]
    rows = [np.delete(x.ids, 1 + i) for i in range(x.n)]
    assert np.abs(found - [alone("bert", row) for row in rows]).max() < EXACT
    words = families.tokenizer("bert")
    again = [words(words.decode(row[1:-1]))["input_ids"] for row in rows]
    assert any(len(a) != len(b) or list(a) != list(b) for a, b in zip(again, rows, strict=True))


def test_a_tokenizer_that_pads_of_itself() -> None:
    """shap 4051: padded to 512, scores for 300. Padding to 30 and truncation to 6 touch nothing."""
    words: PreTrainedTokenizerFast = copy.deepcopy(families.tokenizer("bert"))
    words.backend_tokenizer.enable_padding(length=30, pad_id=0, pad_token="[PAD]")
    words.backend_tokenizer.enable_truncation(6)
    x = TextClassifier.of(families.model("bert"), words).encode("x", [families.TEXT])
    assert x.ids.tolist() == families.classifier("bert").encode("x", [families.TEXT]).ids.tolist()
    assert x.n == 5 and x.truncated == 0


@pytest.mark.parametrize("family", ["bert", "llama", "roberta"])
@pytest.mark.parametrize("text", ["film", "film ", "  the  plot\t", "the plot was "])
def test_space_at_the_end_and_texts_of_one_word(family: str, text: str) -> None:
    c = families.classifier(family)
    x = c.encode("x", [text])
    assert x.players == tuple(text.split())
    for method in ("occlusion", "attention", "integrated_gradients"):
        asked = attrial.explain(
            (c.forward.model, families.tokenizer(family)), text, method=method, removal="delete"
        )
        assert asked.scores.shape == (x.n,)


@pytest.mark.parametrize("special", ["[SEP]", "[CLS]", "[PAD]"])
def test_special_tokens_that_stand_in_the_text_are_players(special: str) -> None:
    """A mark of the template is fixed, one that was typed is a word of the text."""
    c = families.classifier("bert")
    x = c.encode("x", [f"a {special} film"])
    assert x.players == ("a", special, "film")
    assert (x.owner < 0).sum() == 2 and x.owner.tolist() == [-1, 0, 1, 1, 1, 2, -1]
    assert families.tokenizer("bert").convert_tokens_to_ids(special) not in x.ids[x.owner >= 0]


@pytest.mark.parametrize("family", ["roberta", "gpt2", "xlnet"])
def test_sixteen_lengths_in_one_batch(family: str) -> None:
    """A padded batch of 16: "attention has 512 positions, tokens 12" (bertviz 101, inseq 272).

    Weights have each example's own size, and masks its own number of players.
    """
    c = families.classifier(family)
    asks = [Subject(c.encode(str(i), [t]), "delete", TARGET) for i, t in enumerate(MANY)]
    attended = c.attend([(s, Attend(fuse="mean")) for s in asks])
    kept = c.keep([(s, np.ones((1, s.example.n), bool)) for s in asks])
    for subject, weights, outputs in zip(asks, attended, kept, strict=True):
        t = len(subject.example.ids)
        assert weights.weights.shape == (2, t, t)
        assert np.abs(outputs[0] - alone(family, subject.example.ids)).max() < EXACT


def test_texts_longer_than_the_model_are_cut_and_it_is_said() -> None:
    """transformers-interpret 95: long texts crash, and no truncation can be asked for."""
    pair = (families.model("bert"), families.tokenizer("bert"))
    found = attrial.explain(pair, " ".join(["film"] * 500), method="attention")
    room = families.classifier("bert").limit - 2
    assert found.scores.shape == (room,) and found.truncated == 500 - room


def test_words_of_many_pieces_get_one_score() -> None:
    c = families.classifier("bert")
    x = c.encode("x", ["brightersly filmings"])
    assert x.players == ("brightersly", "filmings") and len(x.ids) == 2 + 4 + 3
    for name in ("value_zeroing", "attention", "lrp_attention", "integrated_gradients"):
        pair = (c.forward.model, families.tokenizer("bert"))
        assert attrial.explain(pair, "brightersly filmings", method=name).scores.shape == (2,)
