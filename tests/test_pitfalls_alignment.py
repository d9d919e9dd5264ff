"""Triggers that parted tokens and scores in other tools: pieces, codes, templates, batches.

Each test's first line names the trigger. More of them have ``test_pitfalls.py`` and
``test_verbatim.py``.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import decoders as token_decoders
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

import attrial
from attrial.errors import AttrialError
from attrial.masks import all_but_each
from attrial.models.causal import CausalModel
from attrial.models.seq2seq import Seq2SeqModel
from attrial.subject import Subject
from attrial.target import Target
from tests import families, multilingual, placed, tiny, writers
from tests.test_causal_prompts import with_template
from tests.test_families import EXACT, alone

SIXTEEN = [tiny.WORDS[: 1 + i % len(tiny.WORDS)] for i in range(16)]


@pytest.mark.parametrize("removal", ["mask", "delete"])
def test_masking_a_word_of_several_pieces_cuts_nothing_anew(removal: str) -> None:
    """shap 3328, responsible-ai-toolbox 2332: ``rai ##sin ##s`` masked is another length."""
    c, words = families.classifier("bert"), families.tokenizer("bert")
    x = c.encode("x", ["the brightersly film"])
    assert words.convert_ids_to_tokens(x.ids.tolist())[2:5] == ["bright", "##er", "##s"]
    at, mask = np.flatnonzero(x.owner == 1), words.mask_token_id
    row = np.delete(x.ids, at) if removal == "delete" else np.where(x.owner == 1, mask, x.ids)
    (found,) = c.keep([(Subject(x, removal, Target(0)), all_but_each(3)[1:2])])
    assert np.abs(found[0] - alone("bert", row)).max() < EXACT
    assert len(at) == 4


def test_a_question_with_a_name_of_several_pieces_is_answered_at_its_place() -> None:
    """shap 3328: question answering, part of a name masked, the answer's place gone astray."""
    c = placed.answer_model()
    texts = ["was brightersly good", "the brightersly film was dull"]
    x = c.encode("x", texts, position=7, options=("start",))
    assert x.players == (*texts[0].split(), "the", "brightersly", "film", "was")
    (found,) = c.keep([(Subject(x, "mask", Target(0)), all_but_each(x.n))])
    words = tiny.tokenizer()
    for player in (1, 4):
        told = words(*texts, return_tensors="pt")
        told["input_ids"][0, np.flatnonzero(x.owner == player)] = words.mask_token_id
        with torch.no_grad():
            logits = c.forward.model(**told).start_logits[0].double()
        assert float(logits.log_softmax(-1)[x.read]) == pytest.approx(found[player, 0], abs=EXACT)
        assert (x.owner == player).sum() == 4


def sentence_pieces() -> PreTrainedTokenizerFast:
    """Pieces that begin with their space, so that a space at a prompt's end is one of its own."""
    names = [
        "<s>",
        "▁",
        *"abcdefghijklmnopqrstuvwxyz",
        "▁p",
        "▁pu",
        "▁pun",
        "▁a",
        "▁i",
        "▁is",
        "▁an",
    ]
    merges = [
        ("▁", "p"),
        ("▁p", "u"),
        ("▁pu", "n"),
        ("▁", "a"),
        ("▁a", "n"),
        ("▁", "i"),
        ("▁i", "s"),
    ]
    backend = Tokenizer(BPE({n: i for i, n in enumerate(names)}, merges))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    backend.decoder = token_decoders.Metaspace(prepend_scheme="first")
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="<s>")  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("method", ["occlusion", "attention", "integrated_gradients", "shapley"])
def test_a_prompt_that_ends_in_a_space_and_an_output_of_one_token(method: str) -> None:
    """inseq 246: the space splits ``▁pun``, and attributions one wide are squeezed away."""
    words, prompt = sentence_pieces(), "it is a "
    pair = (writers.gpt2_bytes(), words)
    c = CausalModel.of(*pair, batch_tokens=256)
    x = c.encode("x", [prompt])
    assert words.convert_ids_to_tokens(x.ids.tolist())[-2:] == ["▁a", "▁"]
    assert x.players == ("it", "is", "a") and x.owner.tolist()[-2:] == [2, 2]
    with pytest.raises(AttrialError, match="white space between the two must begin the contin"):
        c.encode("x", ["it is a"], options=("n",))
    with pytest.raises(AttrialError, match="a token of its own"):
        c.encode("x", [prompt], options=("pun",))
    asked = c.encode("x", ["it is a"], options=(" pun",))
    assert words.convert_ids_to_tokens(list(asked.options[0])) == ["▁pun"]
    found = attrial.explain_generation(pair, prompt, method=method, max_new_tokens=1)
    assert found.scores.shape == (3, 1) and np.ptp(found.scores) > 0
    single = attrial.explain(pair, "pun", method=method, continuation=" is")
    assert single.scores.shape == (1,)


def translator() -> Seq2SeqModel:
    return Seq2SeqModel.of(multilingual.model(), multilingual.tokenizer(), batch_tokens=128)


@pytest.mark.parametrize("method", ["occlusion", "attention", "chefer", "integrated_gradients"])
def test_pieces_of_words_and_codes_of_languages(method: str) -> None:
    """inseq 291 and 295: an M2M100's pieces keep a heads' axis, and codes are counted as words."""
    pair, text = (multilingual.model(), multilingual.tokenizer()), multilingual.TEXT
    x = translator().encode("x", [text], options=("film",))
    pieces = multilingual.tokenizer().convert_ids_to_tokens(x.ids.tolist())
    assert pieces[0] == multilingual.SOURCE and pieces[-1] == "</s>"
    assert x.owner.tolist() == [-1, 0, 1, *[2] * 4, *[3] * 4, -1]
    found = attrial.explain(pair, text, method=method, continuation="film")
    assert found.players == tuple(text.split()) and found.scores.shape == (4,)
    by_piece = attrial.explain(pair, text, method=method, continuation="film", players="tokens")
    assert by_piece.scores.shape == (10,)
    if method != "occlusion":
        summed = [by_piece.scores[x.owner[1:-1] == i].sum() for i in range(4)]
        assert np.abs(found.scores - summed).max() < 1e-4


def test_value_zeroing_of_an_encoder_decoder_names_what_it_lacks() -> None:
    """inseq 291: value zeroing of an M2M100 breaks in the sum of pieces; here it says why not."""
    pair = (multilingual.model(), multilingual.tokenizer())
    with pytest.raises(AttrialError, match=r"asks 'layers', which M2M100\w+ can't answer"):
        attrial.explain(pair, multilingual.TEXT, method="value_zeroing", continuation="film")


def test_a_given_translation_has_the_tokens_of_a_written_one() -> None:
    """inseq 293: special tokens are skipped only if the text is given, and lengths differ."""
    c, words = translator(), multilingual.tokenizer()
    x = c.encode("x", [multilingual.TEXT], options=("film was the",))
    assert x.prefix == (2, multilingual.code(multilingual.GOAL))
    written = c.grown(x, x.options[0])
    shown = c.shown(x.options[0])
    assert len(shown) == len(x.options[0]) == written.spoken
    assert not set(words.all_special_ids) & set(x.options[0])
    with torch.no_grad():
        logits = multilingual.model()(
            input_ids=torch.tensor(x.ids)[None],
            decoder_input_ids=torch.tensor([[*x.prefix, *x.options[0][:-1]]]),
        ).logits[0].double().log_softmax(-1)  # fmt: skip
    told = sum(float(logits[1 + j, token]) for j, token in enumerate(x.options[0]))
    (found,) = c.keep([(Subject(x, "unk", Target(0)), np.ones((1, x.n), bool))])
    assert found[0, 0] == pytest.approx(told, abs=1e-4)


def test_a_language_may_be_named_at_the_start_of_what_is_said() -> None:
    """inseq 295: codes belong to what the decoder begins with, never to a text that names one."""
    c, german = translator(), "deu_Latn"
    x = c.encode("x", [multilingual.TEXT], options=("film",), prefix=german)
    assert x.prefix == (2, multilingual.code(multilingual.GOAL), multilingual.code(german))
    said = c.encode("x", [f"{german} film"], options=("film",))
    assert multilingual.code(german) not in said.ids and said.players == (german, "film")


def test_an_end_of_turn_stays_in_the_text_and_in_the_picture() -> None:
    """inseq 298: Llama 3's ``<|eot_id|>`` is in the text, but not in the heatmap."""
    c = with_template().chatting()
    said = "The key <|im_end|> is"
    found = attrial.explain(c, said, method="occlusion", continuation="here")
    assert found.players == ("The", "key", "<|im_end|>", "is")
    assert "<|im_end|>" in found.text() and "&lt;|im_end|&gt;" in found.html()
    stop = c.encoder.tokenizer.get_vocab()["<|im_end|>"]
    assert c.shown([stop]) == ("<|im_end|>",)


def test_what_a_chat_writes_begins_after_its_template() -> None:
    """inseq 278: "forced generations must start with the input texts" under a chat's template."""
    c = with_template().chatting()
    x = c.encode("x", ["The key"])
    said = c.generate(x, 3)
    whole = c.encoder.tokenizer.apply_chat_template(
        [{"role": "user", "content": "The key"}], add_generation_prompt=True, return_dict=False
    )
    assert x.ids.tolist() == list(whole)
    assert c.grown(x, said).ids.tolist() == [*whole, *said]
    found = attrial.explain_generation(
        c, "The key", method="occlusion", max_new_tokens=3, chat=True
    )
    assert found.targets == c.shown(said) and found.sources[:2] == ("The", "key")
    given = c.encode("x", ["The key"], options=("is",))
    assert c.grown(given, given.options[0]).ids.tolist() == [*whole, *given.options[0]]


def test_words_cut_beforehand_in_a_batch_of_sixteen(tmp_path: Path) -> None:
    """inseq 272: with split words a batch of 16 has masks (1, 1, 1, 624) for (16, 1, 1, 39)."""
    lines = [json.dumps({"text": " ".join(words)}) for words in SIXTEEN]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    c = families.classifier("roberta")
    board = attrial.run(
        [], ["occlusion", "attention"], models=[c], metrics=["comprehensiveness"],
        data=tmp_path / "rows.jsonl",
    )  # fmt: skip
    for entry in board.entries:
        assert [len(t.players) for t in entry.trials] == [len(words) for words in SIXTEEN]
    by_words = [t for e in board.entries if e.record.spec.label == "occlusion" for t in e.trials]
    for trial, words in zip(by_words, SIXTEEN, strict=True):
        assert tuple(trial.players) == words
        single = attrial.explain(c, " ".join(words), method="occlusion", target=trial.target)
        assert np.abs(np.array(trial.scores) - single.scores).max() < EXACT


def test_a_list_of_words_is_no_text(tmp_path: Path) -> None:
    """inseq 272: a list of split words is taken for a batch of texts; here a line says no."""
    (tmp_path / "rows.jsonl").write_text(json.dumps({"text": list(SIXTEEN[3])}))
    with pytest.raises(AttrialError, match="row 0: the text in column 'text' is a list, no string"):
        attrial.run(
            [], ["occlusion"], models=[families.classifier("roberta")], metrics=["aopc"],
            data=tmp_path / "rows.jsonl",
        )  # fmt: skip


def test_players_are_cut_from_the_text_itself() -> None:
    """transformers-interpret 18: raw text and decoded ids don't fit where they are normalised."""
    x = families.classifier("bert").encode("x", ["The  FILM,\tNot\u00a0brighters!"])
    assert x.players == ("The", "FILM,", "Not", "brighters!")
    assert [x.text[0][a:b] for a, b in x.spans] == list(x.players)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_word_of_several_pieces_is_one_target(family: str) -> None:
    """interpreto 99 and 133: granularity by words isn't applied to what is generated."""
    c = writers.writer(family)
    x = c.encode("x", ["the plot was"], options=(" brighters",))
    assert len(x.options[0]) == 3
    whole = attrial.explain(
        c, "the plot was", method="shapley", removal="delete", continuation=" brighters",
        function="log_probability",
    )  # fmt: skip
    assert whole.scores.shape == (3,) and whole.target == " brighters"
    made, ids = writers.model(family), x.ids.tolist()
    gain = writers.plain(made, ids, x.options[0]) - writers.plain(made, [ids[0]], x.options[0])
    assert float(whole.scores.sum()) == pytest.approx(gain, abs=1e-4) and abs(gain) > 0.01


def test_sources_of_what_is_generated_are_words_and_targets_spell_the_text() -> None:
    """interpreto 99: words of the prompt beside tokens of the output, each with its own score."""
    c = writers.writer("llama")
    prompt = "the brighters acting"
    found = attrial.explain_generation(c, prompt, method="occlusion", max_new_tokens=4)
    said = c.generate(c.encode("x", [prompt]), 4)
    assert found.sources[: found.prompt] == tuple(prompt.split())
    assert "".join(found.targets) == c.encoder.tokenizer.decode(list(said))
    later = np.arange(3 + len(said) - 1)[:, None] >= 3 + np.arange(len(said))
    assert np.array_equal(np.isnan(found.scores), later)
