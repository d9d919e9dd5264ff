"""Text into players, and the ways in which a classifier is loaded or refused."""

import inspect
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
from tokenizers.models import BPE
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
)

from attrial.errors import AttrialError
from attrial.example import Example
from attrial.models.encode import Encoder
from attrial.models.pairing import budget, digest
from attrial.models.text import TextClassifier
from tests import tiny


def encoder(*, limit: int = tiny.PLACES) -> Encoder:
    return Encoder(tiny.tokenizer(), limit, True)


def tokens(x: Example, player: int) -> list[str]:
    names = tiny.tokenizer().convert_ids_to_tokens(x.ids[x.owner == player].tolist())
    assert isinstance(names, list)
    return names


def test_words_are_cut_at_white_space_and_own_their_pieces() -> None:
    x = encoder().encode("x", ["The acting,\n wasn't  brighter "])
    assert x.players == ("The", "acting,", "wasn't", "brighter")
    assert tokens(x, 1) == ["act", "##ing", "[UNK]"]
    assert tokens(x, 2) == ["[UNK]", "[UNK]", "[UNK]"]
    assert tokens(x, 3) == ["bright", "##er"]
    assert [x.text[0][a:b] for a, b in x.spans] == list(x.players)
    assert x.owner[0] == x.owner[-1] == -1
    assert (x.read, x.truncated, x.truth) == (0, 0, None)


def test_tokens_are_players_of_one_position_each() -> None:
    x = encoder().encode("x", ["the acting"], players="tokens")
    assert x.players == ("the", "act", "ing")
    assert x.owner.tolist() == [-1, 0, 1, 2, -1]
    assert x.spans == ((0, 3), (4, 7), (7, 10))


def test_a_pair_has_two_segments_and_players_of_both_texts() -> None:
    x = encoder().encode("x", ["the film", "film was good"])
    assert x.players == ("the", "film", "film", "was", "good")
    assert x.types.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert x.owner.tolist() == [-1, 0, 1, -1, 2, 3, 4, -1]
    assert x.spans[2:] == ((0, 4), (5, 8), (9, 13))


def test_special_tokens_are_found_by_place_never_by_id() -> None:
    """A text may speak of [MASK]; that word is a player like every other, spelled in pieces."""
    x = encoder().encode("x", ["the [MASK] film"])
    assert x.players == ("the", "[MASK]", "film")
    assert x.owner.tolist() == [-1, 0, 1, 1, 1, 2, -1]
    assert tiny.tokenizer().mask_token_id not in x.ids


WORD = st.sampled_from([*tiny.WORDS, "acting", "brighter", "film,", "x-y", "Not!"])


@given(st.lists(st.tuples(WORD, st.sampled_from([" ", "  ", "\n", "\t "])), min_size=1, max_size=9))
def test_every_position_but_specials_belongs_to_one_word(cut: list[tuple[str, str]]) -> None:
    text = "".join(word + gap for word, gap in cut)
    x = encoder(limit=200).encode("x", [text])
    assert x.players == tuple(word for word, _ in cut)
    assert sorted(set(x.owner[1:-1].tolist())) == list(range(len(cut)))
    assert (np.diff(x.owner[1:-1]) >= 0).all()
    joined = [encoder().encode("w", [word]).ids[1:-1].tolist() for word, _ in cut]
    assert x.ids[1:-1].tolist() == [i for ids in joined for i in ids]


def byte_pairs(*, trim: bool) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer without a single merge, whose spaces are tokens of their own."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(BPE({c: i for i, c in enumerate([*alphabet, "<s>", "</s>"])}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=trim)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.RobertaProcessing(
        ("</s>", 257), ("<s>", 256), trim_offsets=trim, add_prefix_space=False
    )
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend, cls_token="<s>", sep_token="</s>", model_max_length=99
    )


@pytest.mark.parametrize("trim", [True, False])
def test_a_token_of_white_space_belongs_to_the_word_after_it(trim: bool) -> None:
    x = Encoder(byte_pairs(trim=trim), 99, False).encode("x", ["so bön ", "ja"])
    assert x.players == ("so", "bön", "ja")
    assert x.owner.tolist() == [-1, 0, 0, 1, 1, 1, 1, 1, 1, -1, -1, 2, 2, -1]
    assert x.types.max() == 0


def test_long_texts_are_cut_and_lost_words_counted() -> None:
    text = " ".join(["the", "film", "was", "acting"] * 5)
    x = encoder(limit=12).encode("x", [text])
    assert len(x.ids) == 12
    assert x.players == tuple(text.split()[:8])  # of "acting" a piece is left out twice
    assert x.truncated == 12
    halved = encoder(limit=11).encode("x", [text])
    assert halved.players == x.players
    assert tokens(halved, 7) == ["act"]
    assert halved.truncated == 13


def test_of_a_pair_the_longer_text_is_cut() -> None:
    x = encoder(limit=10).encode("x", ["good film", " ".join(["the"] * 20)])
    assert x.players == ("good", "film", *["the"] * 5)
    assert x.truncated == 15


def test_players_that_overlap_evidence_are_true() -> None:
    text = "the acting was bad"
    spans = [(0, 6, 8), (0, 14, 18)]
    x = encoder().encode("x", [text], evidence=spans, label=1)
    assert x.truth is not None and x.label == 1
    assert x.truth.tolist() == [False, True, False, True]
    t = encoder().encode("x", [text], evidence=spans, players="tokens")
    assert t.truth is not None
    assert t.truth.tolist() == [False, True, True, False, True]
    none = encoder().encode("x", [text], evidence=())
    assert none.truth is not None and not none.truth.any()
    pair = encoder().encode("x", [text, text], evidence=[(1, 0, 3)])
    assert pair.truth is not None
    assert pair.truth.tolist() == [False] * 4 + [True] + [False] * 3


@pytest.mark.parametrize(
    ("texts", "evidence", "message"),
    [
        ([""], None, "example 'x': the text is empty"),
        ([" \n"], None, "example 'x': the text is empty"),
        (["a", ""], None, "example 'x': the text is empty"),
        ([5], None, "example 'x': a text is a string, not a value of type int"),
        ([None], None, "a string, not a value of type NoneType"),
        ([], None, "has 0 texts; one or two"),
        (["a", "b", "c"], None, "has 3 texts; one or two"),
        (["\u200b"], None, "leaves no token"),
        (["a film"], [(0, 3, 9)], r"evidence \(0, 3, 9\) lies outside"),
        (["a film"], [(0, 3, 3)], "lies outside"),
        (["a film"], [(1, 0, 1)], "lies outside"),
    ],
)
def test_faulty_examples_are_told_in_one_line(
    texts: Sequence[str], evidence: list[tuple[int, int, int]] | None, message: str
) -> None:
    with pytest.raises(AttrialError, match=message) as told:
        encoder().encode("x", texts, evidence=evidence)
    assert "\n" not in str(told.value)


def test_unknown_players_are_answered_with_near_ones() -> None:
    with pytest.raises(AttrialError, match="no players 'word'; did you mean words"):
        encoder().encode("x", ["a film"], players="word")


def test_a_tokenizer_without_special_tokens_is_refused() -> None:
    bare = byte_pairs(trim=True)
    bare.backend_tokenizer.post_processor = processors.ByteLevel()
    with pytest.raises(AttrialError, match="adds no special tokens"):
        Encoder(bare, 99, False).encode("x", ["a film"])


# Loading


def saved(folder: Path, family: str = "bert") -> Path:
    tiny.model(family).save_pretrained(folder)
    tiny.tokenizer(family).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("family", list(tiny.FAMILIES))
def test_a_saved_classifier_is_the_same_when_loaded(family: str, tmp_path: Path) -> None:
    mine = tiny.classifier(family)
    loaded = TextClassifier.load(saved(tmp_path / "fine-tuned", family))
    assert loaded.spec == mine.spec.model_copy(update={"name": "fine-tuned"})
    assert (loaded.labels, loaded.limit) == (mine.labels, mine.limit)
    assert loaded.vocabulary == mine.vocabulary
    a, b = (c.encode("x", [tiny.TEXT]) for c in (mine, loaded))
    assert a.digest == b.digest
    assert mine.predict([a]) == loaded.predict([b])


def test_the_digest_is_of_the_weights() -> None:
    model = tiny.model("bert")
    before = digest(model)
    assert before == digest(tiny.model("bert")) != digest(tiny.model("bert", seed=1))
    with torch.no_grad():
        next(model.parameters())[0, 0] += 1e-6
    assert digest(model) != before


def test_weights_are_read_as_asked_whatever_the_checkpoint_says(tmp_path: Path) -> None:
    tiny.model("bert").to(torch.float16).save_pretrained(tmp_path)  # type: ignore[arg-type]
    tiny.tokenizer().save_pretrained(tmp_path)
    assert TextClassifier.load(tmp_path).spec.dtype == "float32"
    assert TextClassifier.load(tmp_path, dtype="float64").spec.dtype == "float64"
    with pytest.raises(AttrialError, match="did you mean float32"):
        TextClassifier.load(tmp_path, dtype="flaot32")
    with pytest.raises(AttrialError, match="can't be moved to device 'gpu'"):
        TextClassifier.load(tmp_path, device="gpu")


def refused(place: Path | str, message: str) -> None:
    with pytest.raises(AttrialError, match=message) as told:
        TextClassifier.load(place)
    assert "\n" not in str(told.value)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere", f"no model folder {tmp_path}/nowhere")
    refused("./nowhere", "no model folder ./nowhere")
    refused("~/no/where", "no model folder ~/no/where")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "holds no model that can be read")
    (tmp_path / "config.json").write_text("{broken")
    refused(tmp_path, "holds no model that can be read")


def test_what_is_no_trained_classifier_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    body = AutoModel.from_pretrained(tmp_path)
    body.save_pretrained(tmp_path)
    refused(tmp_path, "is no text classifier: it is a BertModel")
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"architectures": None}))
    refused(tmp_path, "its file lacks classifier.bias, classifier.weight")


def test_pickled_and_broken_weights_are_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    weights = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"never opened")
    refused(tmp_path, "no file named model.safetensors")
    (tmp_path / "model.safetensors").write_bytes(weights[:100])
    refused(tmp_path, "holds no model that can be read")


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    tiny.model("bert").save_pretrained(tmp_path)
    refused(tmp_path, "knows no words: the folder holds no vocabulary")


def test_the_hub_out_of_reach_names_a_folder_as_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    refused("nobody/made-up-model", "Hub can't be reached .* local folder instead: --model DIR")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    refused("nobody/made-up-model", "Hub can't be reached .* local folder instead: --model DIR")


def test_loaded_objects_that_dont_fit_are_refused() -> None:
    words, model = tiny.tokenizer(), tiny.model("bert")
    with pytest.raises(AttrialError, match="BertModel is no text classifier"):
        TextClassifier.of(model.base_model, words)  # type: ignore[arg-type]
    with pytest.raises(AttrialError, match="str is no text classifier"):
        TextClassifier.of("bert", words)  # type: ignore[arg-type]
    model.resize_token_embeddings(9)
    with pytest.raises(AttrialError, match=f"knows {tiny.VOCABULARY} tokens, the model 9"):
        TextClassifier.of(model, words)


class Slow:
    """What a tokenizer without offsets tells of itself."""

    is_fast = False


def test_a_slow_tokenizer_is_refused() -> None:
    with pytest.raises(AttrialError, match="Slow doesn't know where in the text"):
        TextClassifier.of(tiny.model("bert"), Slow())  # type: ignore[arg-type]


def test_padding_that_is_seen_is_refused() -> None:
    model = tiny.model("bert")
    forward = model.forward

    def deaf(
        input_ids: torch.Tensor, attention_mask: object = None, position_ids: object = None
    ) -> object:
        return forward(input_ids=input_ids, position_ids=position_ids)

    model.forward = deaf
    with pytest.raises(AttrialError, match="answers differently when rows are padded"):
        TextClassifier.of(model, tiny.tokenizer())


def test_a_decoder_is_refused() -> None:
    model = tiny.model("bert")
    model.config.is_encoder_decoder = True
    with pytest.raises(AttrialError, match="has a decoder"):
        TextClassifier.of(model, tiny.tokenizer())


def test_a_model_without_segments_is_given_none() -> None:
    """GPT-2 would look zeros up among its words' embeddings."""
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 40, "pad_token_id": 0}
    config = AutoConfig.for_model("gpt2", vocab_size=tiny.VOCABULARY, num_labels=3, **sizes)
    model = AutoModelForSequenceClassification.from_config(config)  # type: ignore[no-untyped-call]
    c = TextClassifier.of(model, tiny.tokenizer("distilbert"))
    assert "token_type_ids" in inspect.signature(model.forward).parameters
    assert "token_type_ids" not in c.forward.takes
    assert c.answers >= {"keep", "slope", "attend", "relevance"}


def test_limits_leave_room_for_the_models_own_positions() -> None:
    assert tiny.classifier("roberta").limit == tiny.PLACES
    roomy = tiny.tokenizer("roberta")
    c = tiny.classifier("roberta")
    long = replace(c.encoder, tokenizer=roomy).encode("x", [" ".join(["film"] * 60)])
    assert len(long.ids) == c.limit
    assert c.predict([long]) in ([0], [1], [2])


def test_small_models_get_larger_batches() -> None:
    assert budget(tiny.model("bert")) == 1024
    assert TextClassifier.of(tiny.model("bert"), tiny.tokenizer()).forward.tokens == 1024
    assert tiny.classifier(batch_tokens=64).forward.tokens == 64
