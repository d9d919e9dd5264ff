"""Prompts: continuations as the tokenizer cuts them, templates of chats, ends and beginnings."""

import numpy as np
import pytest
import torch
from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForSequenceClassification as AutoClassifier
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from attrial.errors import AttrialError
from attrial.masks import everything
from attrial.models.causal import CausalModel
from attrial.models.text import TextClassifier
from attrial.subject import Subject
from attrial.target import Target
from tests import decoders, tiny, writers

PROMPT = "The keys to the cabinet"
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{{ m['content'] | trim }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def speaking() -> CausalModel:
    return CausalModel.of(writers.gpt2_bytes(), writers.byte_level(), batch_tokens=256)


def with_template() -> CausalModel:
    words = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=writers.byte_level().backend_tokenizer,
        bos_token="<|endoftext|>",
        eos_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=TEMPLATE,
        model_max_length=64,
    )
    return CausalModel.of(writers.gpt2_bytes(), words, batch_tokens=256)


def test_a_continuation_begins_with_its_white_space() -> None:
    c, words = speaking(), writers.byte_level()
    x = c.encode("x", [PROMPT], options=(" are", " is"))
    assert [words.decode(list(o)) for o in x.options] == [" are", " is"]
    assert [len(o) for o in x.options] == [1, 1]
    assert x.ids.tolist() == [0, *words(PROMPT)["input_ids"]]
    assert x.labels == (" are", " is") and x.explained == 0
    whole = words(PROMPT + " are")["input_ids"]
    assert [*x.ids[1:].tolist(), *x.options[0]] == whole


def test_the_anchor_stays_and_a_models_lack_of_pads_is_no_hindrance() -> None:
    c = speaking()
    assert c.encoder.tokenizer.pad_token_id is None and c.forward.model.config.pad_token_id is None
    x = c.encode("x", [PROMPT], options=(" are",))
    assert x.owner[0] == -1 and x.owner[1:].min() >= 0
    assert c.removals == ("attention_off", "delete", "zero")
    (nothing,) = c.keep([(Subject(x, "delete", Target(0)), np.zeros((1, x.n), bool))])[0]
    alone = writers.expected(writers.gpt2_bytes(), [0], x.options)
    assert np.abs(nothing - alone).max() < 1e-5


@pytest.mark.parametrize(
    ("prompt", "continuation"), [(PROMPT, "s are"), (PROMPT + " ", "are"), (PROMPT, "")]
)
def test_what_would_merge_with_the_prompt_is_refused(prompt: str, continuation: str) -> None:
    with pytest.raises(AttrialError, match=r"continuation .* white space between the two"):
        speaking().encode("x", [prompt], options=(continuation,))


def test_continuations_that_are_the_same_tokens_are_refused() -> None:
    c = writers.writer("llama")  # its tokenizer knows no capitals
    with pytest.raises(AttrialError, match=r"are the same tokens: ' dull' and ' Dull'$"):
        c.encode("x", ["the plot was"], options=(" film", " dull", " Dull"))
    with pytest.raises(
        AttrialError, match="' hasn' and ' haven', which the tokenizer doesn't know"
    ):
        c.encode("x", ["the plot was"], options=(" hasn", " haven"))


def test_without_a_continuation_the_likeliest_token_is_asked_about() -> None:
    c = speaking()
    x = c.encode("x", [PROMPT])
    with torch.no_grad():
        logits = writers.gpt2_bytes()(input_ids=torch.tensor(x.ids)[None]).logits
    best = int(logits[0, -1].argmax())
    assert x.options == ((best,),) and x.labels == (writers.byte_level().decode([best]),)
    assert x.names[1] == "anything else"


def test_the_digest_knows_the_continuation() -> None:
    c = speaking()
    one, other = (c.encode("x", [PROMPT], options=(o,)) for o in (" are", " is"))
    assert one.digest != other.digest


def test_a_long_prompt_loses_its_beginning_and_keeps_room_for_the_continuation() -> None:
    c = writers.writer("gpt2")
    x = c.encode("x", ["bad " * 100 + "story"], options=writers.LONG)
    assert len(x.ids) + len(x.options[0]) - 1 == c.limit
    assert x.ids[0] == 0 and x.players[-1] == "story" and x.truncated == 101 - x.n
    (full,) = c.keep([(Subject(x, "delete", Target(0)), everything(x.n))])[0]
    assert np.isfinite(full).all()


def test_an_end_of_text_is_left_out() -> None:
    words = decoders.tokenizer()
    backend = words.backend_tokenizer
    backend = type(backend).from_str(backend.to_str())
    backend.post_processor = TemplateProcessing(
        single=f"{decoders.PAD} $A {decoders.END}",
        special_tokens=[(decoders.END, 0), (decoders.PAD, 1)],
    )
    ending = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend, eos_token=decoders.END, pad_token=decoders.PAD
    )
    c = CausalModel.of(writers.model("llama"), ending)
    x = c.encode("x", ["the plot was"], options=(" dull",))
    assert x.ids.tolist() == [1, *words("the plot was")["input_ids"]]
    assert x.options == (tuple(words("dull")["input_ids"]),)


def test_a_chat_has_one_beginning_and_its_players_are_the_users_words() -> None:
    c = with_template().chatting()
    words = c.encoder.tokenizer
    x = c.encode("x", [PROMPT + " are"], options=("here",))
    said = [{"role": "user", "content": PROMPT + " are"}]
    ids = words.apply_chat_template(said, add_generation_prompt=True, return_dict=False)
    assert x.ids.tolist() == list(ids)
    assert x.ids.tolist().count(words.bos_token_id) == 1 and x.ids[0] == words.bos_token_id
    assert x.players == ("The", "keys", "to", "the", "cabinet", "are")
    assert x.text == (PROMPT + " are",) and [x.text[0][a:b] for a, b in x.spans] == list(x.players)
    own = "".join(words.convert_ids_to_tokens(x.ids[x.owner >= 0].tolist()))
    assert own.replace("Ġ", "") == "Thekeystothecabinetare"
    (nothing,) = c.keep([(Subject(x, "delete", Target(0)), np.zeros((1, x.n), bool))])[0]
    left = x.ids[x.owner < 0].tolist()
    assert np.abs(nothing - writers.expected(writers.gpt2_bytes(), left, x.options)).max() < 1e-5


def test_the_evidence_of_a_chat_stands_in_the_users_words() -> None:
    c = with_template().chatting()
    x = c.encode("x", ["  " + PROMPT + "\n"], options=("a",), evidence=[(0, 6, 10)])
    assert x.truth is not None and [p for p, t in zip(x.players, x.truth, strict=True) if t] == [
        "keys"
    ]


def test_a_chat_that_is_too_long_and_a_model_that_cant_chat_are_refused() -> None:
    with pytest.raises(AttrialError, match=r"conversation is \d+ tokens longer"):
        with_template().chatting().encode("x", ["keys " * 60])
    with pytest.raises(AttrialError, match="can't chat"):
        speaking().chatting()


def test_pairs_and_other_models_are_refused() -> None:
    with pytest.raises(AttrialError, match="takes one text, not a pair"):
        speaking().encode("x", ["a", "b"])
    with pytest.raises(AttrialError, match="is no causal language model"):
        CausalModel.of(tiny.model("bert"), tiny.tokenizer())
    with pytest.raises(AttrialError, match="it continues no text"):
        tiny.classifier().encode("x", ["a"], options=(" film",))


def test_an_attention_implementation_of_its_own_is_given_back() -> None:
    made: PreTrainedModel = writers.gpt2_bytes()
    assert made.config._attn_implementation == "sdpa"
    c = CausalModel.of(made, writers.byte_level())
    c.keep([(Subject(c.encode("x", [PROMPT]), "zero", Target(0)), np.ones((1, 5), bool))])
    assert made.config._attn_implementation == "sdpa"


def test_a_classifier_of_the_same_family_is_no_language_model() -> None:
    made = decoders.model("gpt2")
    assert isinstance(made, type(AutoClassifier.from_config(made.config)))  # type: ignore[no-untyped-call]
    assert isinstance(TextClassifier.of(made, decoders.tokenizer()), TextClassifier)
    with pytest.raises(AttrialError, match="no causal language model"):
        CausalModel.of(made, decoders.tokenizer())


def test_a_continuation_that_leaves_no_room_for_the_prompt_is_told_so() -> None:
    c = writers.writer("llama")
    most = c.limit - 1  # the anchor; the continuation's last token is never read
    fits = c.encode("x", ["the plot"], options=(" the" * most,))
    assert fits.n == 1 and fits.truncated == 1 and len(fits.options[0]) == most
    with pytest.raises(AttrialError, match=f"continuation has {most + 1} tokens.* at most {most}"):
        c.encode("x", ["the plot"], options=(" the" * (most + 1),))
