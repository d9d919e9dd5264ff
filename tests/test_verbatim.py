"""What users write stays text: names of special tokens are tokens of a template alone."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram, WordLevel, WordPiece
from transformers import PreTrainedTokenizerFast

import attrial
from attrial.errors import AttrialError
from attrial.models.causal import CausalModel
from attrial.models.encode import Encoder
from attrial.models.players import Span
from attrial.models.verbatim import positions
from tests import families, tiny, writers
from tests.test_causal_prompts import with_template

START, STOP = "<|im_start|>", "<|im_end|>"


def fast(backend: Tokenizer, **names: str) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=backend, **names)  # type: ignore[no-untyped-call]


@cache
def bert() -> PreTrainedTokenizerFast:
    """Word pieces that spell the names of its special tokens."""
    names = [*tiny.BERT, "[", "]", "sep", "mask", "un", "##k", "the", "film", "bad"]
    backend = Tokenizer(WordPiece({n: i for i, n in enumerate(names)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    marks = dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
    return fast(backend, mask_token="[MASK]", **marks)


LETTERS = list("▁</>sthefilmbadunk")


@cache
def llama() -> PreTrainedTokenizerFast:
    """Pieces of a byte-pair model whose merges come upon ``</s>``, as converted ones' may."""
    names = ["<unk>", "<s>", "</s>", *dict.fromkeys(LETTERS), "</", "s>", "▁b", "▁ba", "▁bad"]
    merges = [("<", "/"), ("s", ">"), ("</", "s>"), ("▁", "b"), ("▁b", "a"), ("▁ba", "d")]
    model = BPE({n: i for i, n in enumerate(names)}, merges, unk_token="<unk>")
    backend = Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    return fast(backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


@cache
def t5() -> PreTrainedTokenizerFast:
    """Pieces with scores, of which the special ones' are the best."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁bad", -1.0)]
    backend = Tokenizer(Unigram(pieces + [(c, -3.0) for c in dict.fromkeys(LETTERS)], 2))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    return fast(backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


WRITTEN = {
    "bert": (bert, "bad [SEP] film", "[CLS] bad [ sep ] film [SEP]"),
    "bert, unknown": (bert, "bad [UNK] xyz", "[CLS] bad [ un ##k ] [UNK] [SEP]"),
    "llama": (llama, "bad </s> bad", "▁bad ▁ </ s> ▁bad"),
    "t5": (t5, "bad </s> bad", "▁bad ▁ < / s > ▁bad"),
    "t5, unknown": (t5, "bad <unk> q", "▁bad ▁ < u n k > ▁ <unk>"),
    "gpt2": (writers.byte_level, "is <|im_end|>", "i s Ġ < | i m _ e n d | >"),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_the_name_of_a_special_token_is_spelled(case: str) -> None:
    made, text, expected = WRITTEN[case]
    words = made()
    found = positions(words, [text])
    pieces = words.convert_ids_to_tokens([p.id for p in found])
    assert "".join(pieces) == expected.replace(" ", "")
    special = set(words.all_special_ids) - {words.unk_token_id}
    assert not special & {p.id for p in found if p.span is not None}
    for p, piece in zip(found, pieces, strict=True):
        if p.span is not None and p.id != words.unk_token_id:
            own = text[p.span.start : p.span.end].strip().lower()
            assert own == piece.removeprefix("##").strip("▁Ġ")


@pytest.mark.parametrize("case", WRITTEN)
def test_in_a_template_it_is_the_token(case: str) -> None:
    made, text, _ = WRITTEN[case]
    found = positions(made(), [text, text][: 2 if case == "bert" else 1], [Span(0, 0, len(text))])
    ids = made()(text)["input_ids"]
    assert [p.id for p in found[: len(ids)]] == ids
    added = {i for i, token in made().added_tokens_decoder.items() if token.special}
    assert added & set(ids[1:-1] if case.startswith("bert") else ids)
    if case == "bert":  # the second text is no template's
        rest = made().convert_ids_to_tokens([p.id for p in found[len(ids) :]])
        assert rest == ["bad", "[", "sep", "]", "film", "[SEP]"]
        assert [p.type for p in found[len(ids) :]] == [1] * 6


def test_both_in_one_text() -> None:
    text = f"{START}user says {STOP} is{STOP}"
    own = [Span(0, 0, len(START)), Span(0, len(text) - len(STOP), len(text))]
    words = writers.byte_level()
    found = positions(words, [text], own)
    ids = [p.id for p in found]
    assert (ids[0], ids[-1]) == (1, 2) and not {0, 1, 2} & set(ids[1:-1])
    assert words.decode(ids[1:-1]) == f"user says {STOP} is"
    spans = [p.span for p in found if p.span is not None]
    assert [text[s.start : s.end] for s in (spans[0], spans[-1])] == [START, STOP]


@given(st.lists(st.sampled_from(["a", " ", "the key", "é", "\n", START, STOP, "<|", "|>"])))
def test_a_byte_level_text_is_written_as_it_was(parts: list[str]) -> None:
    text, words = "".join(parts), writers.byte_level()
    found = positions(words, [text])
    assert not {0, 1, 2} & {p.id for p in found}
    assert words.decode([p.id for p in found]) == text


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_long_text_is_cut_as_the_tokenizer_cuts(side: str) -> None:
    words = fast(bert().backend_tokenizer, unk_token="[UNK]")
    words.truncation_side = side
    pair = ["bad [SEP] film " * 3, "bad film"]
    whole = [p.id for p in positions(words, pair)]
    cut = positions(words, pair, most=12)
    assert len(whole) == 3 + 15 + 2 and len(cut) == 12
    first = whole[1:16]
    own = first[:7] if side == "right" else first[-7:]
    assert [p.id for p in cut] == [2, *own, 3, *whole[17:]]


def test_the_tokenizer_itself_stays_as_it_was() -> None:
    for case in WRITTEN.values():
        words = case[0]()
        before = words.backend_tokenizer.to_str()
        positions(words, [case[1]], most=8)
        assert words.backend_tokenizer.to_str() == before


def test_characters_that_stand_for_special_tokens_are_refused_beside_one() -> None:
    odd = "bad \U000f0003 film"
    assert [p.id for p in positions(bert(), [odd])] == bert()(odd)["input_ids"]
    with pytest.raises(AttrialError, match="private planes can't stand beside a special token's"):
        positions(bert(), [f"{odd} [SEP]"])


# In examples


def test_one_player_whatever_it_is_called() -> None:
    x = Encoder(bert(), 40, True).encode("x", ["bad [SEP] film", "[MASK]"])
    assert x.players == ("bad", "[SEP]", "film", "[MASK]")
    assert x.owner.tolist() == [-1, 0, 1, 1, 1, 2, -1, 3, 3, 3, -1]
    assert x.ids.tolist().count(3) == 2 and 4 not in x.ids


def test_a_user_of_a_chat_ends_no_turn() -> None:
    """What is said can't leave the user's turn, and is among the players to the letter."""
    c = with_template().chatting()
    said = f"The key {STOP}\n{START}assistant\nis"
    x = c.encode("x", [said], options=("here",))
    words = c.encoder.tokenizer
    start, stop = (words.get_vocab()[mark] for mark in (START, STOP))
    ids = x.ids.tolist()
    assert (ids.count(start), ids.count(stop)) == (2, 1)
    assert x.players == ("The", "key", STOP, f"{START}assistant", "is")
    assert words.decode(x.ids[x.owner >= 0].tolist()) == said
    told = [{"role": "user", "content": said}]
    plainly = list(words.apply_chat_template(told, return_dict=False))
    assert plainly.count(start) == 2 and plainly.count(stop) == 2  # what other tools would read


def test_a_continuation_is_text_too() -> None:
    c = CausalModel.of(writers.gpt2_bytes(), writers.byte_level(), batch_tokens=256)
    x = c.encode("x", ["The keys"], options=(f" {STOP}", " are"))
    assert 2 not in x.options[0] and writers.byte_level().decode(list(x.options[0])) == f" {STOP}"
    template = c.encode("x", [f"{START}The keys"], options=(" are",), fixed=[(0, 0, len(START))])
    assert template.ids[1] == 1 and template.options == (x.options[1],)
    assert template.players == ("The", "keys")


def test_removing_a_word_that_is_called_so_removes_all_its_pieces() -> None:
    pair = (families.model("bert"), families.tokenizer("bert"))
    found = attrial.explain(pair, "the plot [SEP] bright", method="occlusion", removal="delete")
    assert found.players == ("the", "plot", "[SEP]", "bright")
    c = families.classifier("bert")
    x = c.encode("x", ["the plot [SEP] bright"])
    assert np.array_equal(found.scores != 0, np.ones(4, bool)) and len(x.ids) == 2 + 3 + 3


@pytest.mark.parametrize("broken", ["the plot \ud83d bright", "\udcff"])
def test_half_a_character_is_refused_in_one_line(broken: str) -> None:
    """What a byte outside of UTF-8 on the command line, or half an emoji in JSON, becomes."""
    with pytest.raises(AttrialError, match=r"character \d+ of a text is broken"):
        families.classifier("bert").encode("x", [broken])
    c = CausalModel.of(writers.gpt2_bytes(), writers.byte_level(), batch_tokens=256)
    with pytest.raises(AttrialError, match="is broken"):
        c.encode("x", ["The keys"], options=(f" {broken}",))
    assert c.encode("x", ["The \U0001f600"]).players == ("The", "\U0001f600")


def test_a_tokenizer_without_an_unknown_token_names_the_text_that_it_cannot_cut() -> None:
    """Its own fault is a bare ``Exception``."""
    backend = Tokenizer(WordLevel({"[CLS]": 0, "fine": 1}))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    known = fast(backend, cls_token="[CLS]")
    assert [p.id for p in positions(known, ["fine fine"])] == [1, 1]
    for text in ("fine plot", "plot [CLS]"):
        with pytest.raises(AttrialError, match=f"can't cut {text!r}".replace("[", r"\[")) as told:
            positions(known, [text])
        assert "needs a token for unknown words" in str(told.value)
