"""Triggers that crashed other tools on a family: heads, targets, tokenizers, fused attention.

Each test's first line names the trigger. The text families' have ``test_pitfalls.py``.
"""

import copy
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast

import attrial
from attrial.ask import Attend
from attrial.errors import NotApplicable
from attrial.models.causal import CausalModel
from attrial.models.pairing import digest
from attrial.models.vision import VisionClassifier
from attrial.picturing import explain_image
from attrial.subject import Subject
from attrial.target import Target
from tests import decoders, families, headed, placed, seen, tiny, writers

EXACT = 1e-5


@pytest.mark.parametrize("ends", [[0, 5], 5])
def test_a_chat_model_with_a_list_of_eos_ids_and_no_pad_writes_until_one(
    ends: list[int] | int,
) -> None:
    """inseq 296: ``eos_token_id`` is a list and there is no pad token, as Llama 3.1's."""
    made, words = copy.deepcopy(writers.model("llama")), copy.deepcopy(decoders.tokenizer())
    made.config.pad_token_id, words.pad_token = None, None
    c = CausalModel.of(made, words, batch_tokens=64)
    x = c.encode("x", [writers.PROMPT])
    free = c.generate(x, 6)
    stop = free[2]
    assert made.generation_config is not None
    made.generation_config.eos_token_id = [21, stop] if isinstance(ends, list) else stop
    assert c.generate(x, 6) == free[: free.index(stop) + 1]
    found = attrial.explain_generation((made, words), writers.PROMPT, method="occlusion")
    assert len(found.targets) == free.index(stop) + 1
    assert found.scores.shape == (x.n + len(found.targets) - 1, len(found.targets))


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "electra"])
def test_the_target_of_a_token_classifier_is_a_position_and_a_label(family: str) -> None:
    """pytorch/serve 934: ``model.bert.embeddings`` is assumed, and a target is one label alone."""
    c = placed.token_model(family)
    found = {
        label: attrial.explain(
            placed.token_model(family), tiny.TEXT, position=placed.WORD, target=label,
            function="logit", method="occlusion", removal="mask", players="tokens",
        )
        for label in placed.NAMES
    }  # fmt: skip
    whole = headed.ids(family, tiny.TEXT)
    with torch.no_grad():
        full = c.forward.model(input_ids=whole).logits[0, placed.WORD + 1]
        rows = [c.forward.model(input_ids=m).logits for m in headed.masked(whole, family)]
    lost = torch.stack([full - row[0, placed.WORD + 1] for row in rows]).numpy()
    others = np.arange(len(lost)) != placed.WORD
    for i, label in enumerate(placed.NAMES):
        assert np.abs(found[label].scores - lost[others, i]).max() < EXACT
    assert np.abs(found["PER"].scores - found["LOC"].scores).max() > 0.01


@pytest.mark.parametrize("method", ["integrated_gradients", "captum_integrated_gradients"])
def test_integrated_gradients_of_what_a_language_model_says(method: str) -> None:
    """captum 1271: integrated gradients are refused for the continuation of a language model."""
    made, c = writers.model("llama"), writers.writer("llama")
    said = " dull and good"
    found = attrial.explain(
        c, writers.PROMPT, method=f"{method}(steps=60, baseline='zero')",
        continuation=said, function="log_probability",
    )  # fmt: skip
    x = c.encode("x", [writers.PROMPT], options=(said,))
    table, option = made.get_input_embeddings(), x.options[0]
    whole = table(torch.tensor([[*x.ids.tolist(), *option]])).detach()
    blank = whole.clone()
    blank[0, np.flatnonzero(x.owner >= 0)] = 0

    def chance(embedded: Tensor) -> float:
        with torch.no_grad():
            logits = made(inputs_embeds=embedded).logits[0].double().log_softmax(-1)
        at = len(x.ids) - 1
        return sum(float(logits[at + j, token]) for j, token in enumerate(option))

    gain = chance(whole) - chance(blank)
    assert abs(gain) > 0.1
    assert float(found.scores.sum()) == pytest.approx(gain, abs=0.02 * abs(gain))


def without_bos() -> PreTrainedTokenizerFast:
    """A tokenizer that has no token for the beginning and adds none, as Phi-3's in captum."""
    words = decoders.tokenizer()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=words.backend_tokenizer, eos_token=decoders.END, pad_token=decoders.PAD
    )


@pytest.mark.parametrize("method", ["occlusion", "integrated_gradients", "attention", "shapley"])
@pytest.mark.parametrize("family", ["phi3", "gpt2"])
def test_a_target_of_one_token_where_no_beginning_is_added(family: str, method: str) -> None:
    """captum 1322: a tokenizer without BOS leaves no target where the target is one token."""
    made, words = writers.model(family), without_bos()
    assert words.bos_token is None and len(words(" dull")["input_ids"]) == 1
    pair = (made, words)
    found = attrial.explain(pair, "the plot was", method=method, continuation=" dull")
    assert found.scores.shape == (3,) and np.ptp(found.scores) > 0
    ids = [0, *words("the plot was")["input_ids"]]
    told = np.exp(writers.plain(made, ids, tuple(words("dull")["input_ids"])))
    assert found.probability == pytest.approx(told, abs=EXACT)


def test_a_target_may_be_a_number() -> None:
    """captum 1261: an integer as the target leaves a variable unset."""
    pair = (families.model("bert"), families.tokenizer("bert"))
    ids = families.classifier("bert").encode("x", [families.TEXT]).ids
    with torch.no_grad():
        p = families.model("bert")(input_ids=torch.tensor(ids)[None]).logits[0].softmax(-1)
    for i in range(3):
        by = [
            attrial.explain(pair, families.TEXT, target=t, method="occlusion")
            for t in (i, f"LABEL_{i}")
        ]
        assert np.array_equal(by[0].scores, by[1].scores)
        assert by[0].target == f"LABEL_{i}" and by[0].probability == pytest.approx(float(p[i]))


@pytest.mark.parametrize("family", ["vit", "deit", "dinov2"])
def test_a_vision_transformer_under_fused_attention_shows_all_layers(family: str) -> None:
    """vit-explain 23: fused attention leaves no ``attentions[0]``; afterwards it is fused again."""
    model = seen.model(family)
    c = VisionClassifier.of(model, seen.processor(), batch_tokens=128)
    assert model.config._attn_implementation == "sdpa"
    assert not model(pixel_values=seen.pixels(), output_attentions=True).attentions
    x = c.see("x", seen.picture())
    (found,) = c.attend([(Subject(x, "mean", Target(1)), Attend())])
    assert model.config._attn_implementation == "sdpa"
    eager = seen.model(family)
    eager.set_attn_implementation("eager")
    with torch.no_grad():
        told = eager(pixel_values=seen.pixels(), output_attentions=True).attentions
    assert len(told) == model.config.num_hidden_layers
    assert np.abs(found.weights - torch.cat(told).numpy()).max() < EXACT


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("method", ["value_zeroing", "attention", "attention_rollout"])
def test_value_zeroing_and_attention_under_either_implementation(
    implementation: str, method: str
) -> None:
    """inseq 267 and 302: sdpa breaks value zeroing and attention; what was set is set again."""
    model = copy.deepcopy(families.model("bert"))
    model.set_attn_implementation(implementation)
    pair = (model, families.tokenizer("bert"))
    found = attrial.explain(pair, families.TEXT, method=method)
    assert model.config._attn_implementation == implementation
    plain = (families.model("bert"), families.tokenizer("bert"))
    other = attrial.explain(plain, families.TEXT, method=method)
    assert np.abs(found.scores - other.scores).max() < EXACT and np.ptp(found.scores) > 0


def test_zero_shot_by_a_sentence_about_the_text() -> None:
    """ferret 46: its zero-shot example, an entailment model asked about a hypothesis, fails."""
    model = headed.model("several labels")
    model.config.problem_type = "single_label_classification"
    model.config.id2label = dict(enumerate(("contradiction", "neutral", "entailment")))
    model.config.label2id = {name: i for i, name in model.config.id2label.items()}
    words, hypothesis = tiny.tokenizer(), "the story is bright"
    found = attrial.explain(
        (model, words), tiny.TEXT, text_pair=hypothesis, target="entailment", method="occlusion"
    )
    assert found.players == (*tiny.TEXT.split(), *hypothesis.split())
    told = words(tiny.TEXT, hypothesis, return_tensors="pt")
    with torch.no_grad():
        p = model(**told).logits[0].softmax(-1)
    assert found.probability == pytest.approx(float(p[2]), abs=EXACT)
    assert np.ptp(found.scores) > 0.01


def test_neither_torchvision_nor_timm_is_needed_even_for_images() -> None:
    """lxt 42 and 43: without torchvision the import of the vision part ends the text part's too."""
    code = (
        "import sys; sys.modules['torchvision'] = sys.modules['timm'] = None\n"
        "import attrial\n"
        "from tests import families, seen\n"
        "text = attrial.explain((families.model('bert'), families.tokenizer('bert')), "
        "families.TEXT, method='lrp_attention')\n"
        "from attrial.picturing import explain_image\n"
        "image = explain_image(seen.classifier('vit'), seen.picture(), method='lrp_attention')\n"
        "assert text.scores.any() and image.scores.any()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_one_copy_of_a_swin_serves_methods_and_names_what_it_lacks() -> None:
    """Chefer 54, 58, 70, 37: Swin is not served, and each method wants a model copied for it."""
    c = seen.classifier("swin")
    before = digest(c.forward.model)
    for method in ("occlusion", "integrated_gradients", "lrp_attention"):
        found = explain_image(c, seen.picture(), method=method)
        assert np.ptp(found.scores) > 0
    for method in ("chefer", "attention_rollout"):
        with pytest.raises(NotApplicable, match=r"asks 'attend', which Swin\w+ can't answer"):
            explain_image(c, seen.picture(), method=method)
    assert digest(c.forward.model) == before
