"""Encoder-decoders behind the questions: outputs, removals, gradients and company."""

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from attrial.ask import Layers, Slope, Soften, Suppress
from attrial.errors import AttrialError, NotApplicable
from attrial.example import FIXED, Example
from attrial.filling import corpus_of
from attrial.masks import Floats, all_but_each, everything
from attrial.models.embedding import table
from attrial.models.guard import guarded
from attrial.models.tap import capture
from attrial.models.translating import beginning
from attrial.subject import Subject
from attrial.target import Target
from tests import encoder_decoders as made
from tests import families, tiny

FAMILIES = pytest.mark.parametrize("family", made.FAMILIES)
ASKED = pytest.mark.parametrize("options", made.ASKED, ids=["one", "two", "long", "several"])
EXACT = 1e-5


def outputs(family: str, x: Example, removal: str = "mask") -> Floats:
    """Raw outputs of the full input and without each player."""
    masks = np.concatenate([everything(x.n), all_but_each(x.n)])
    (found,) = made.translator(family).keep([(Subject(x, removal, Target(0)), masks)])
    return found


@FAMILIES
def test_each_word_moves_the_answer(family: str) -> None:
    assert made.moves(made.model(family), family).min() >= tiny.TEETH


@FAMILIES
@ASKED
def test_outputs_are_the_plain_models_log_probabilities(
    family: str, options: Sequence[str]
) -> None:
    x = made.example(family, options)
    got = outputs(family, x)[0]
    with torch.no_grad():
        expected = made.chances(made.model(family), x, x.ids)
        shorter = made.chances(made.model(family), replaced(x, prefix=x.prefix[:1]), x.ids)
    assert got == pytest.approx(expected.numpy(), abs=EXACT)
    assert np.abs(got - shorter.numpy()).max() > 100 * EXACT  # the prefix is heard


def replaced(x: Example, *, prefix: tuple[int, ...]) -> Example:
    """The example after another prefix."""
    return replace(x, prefix=prefix)


@FAMILIES
@ASKED
@pytest.mark.parametrize("removal", ["mask", "unk", "delete", "attention_off"])
def test_removals_act_on_the_source_alone(
    family: str, options: Sequence[str], removal: str
) -> None:
    x, words = made.example(family, options), families.tokenizer(family)
    place = int(np.flatnonzero(x.owner == 1)[0])
    ids, more = x.ids.tolist(), {}
    if removal == "delete":
        del ids[place]
    elif removal == "attention_off":
        more = {"attention_mask": torch.tensor([[int(i != place) for i in range(len(ids))]])}
    else:
        ids[place] = words.mask_token_id if removal == "mask" else words.unk_token_id
    with torch.no_grad():
        expected = made.chances(made.model(family), x, ids, **more).numpy()
    got = outputs(family, x, removal)
    assert got[2] == pytest.approx(expected, abs=EXACT)
    assert np.abs(got[0] - expected).max() > 100 * EXACT


@FAMILIES
def test_removals_zero_and_pad_are_offered_too(family: str) -> None:
    it = made.translator(family)
    assert set(it.removals) >= {"mask", "unk", "pad", "delete", "attention_off", "zero"}
    x = made.example(family)
    place = int(np.flatnonzero(x.owner == 1)[0])
    with torch.no_grad():
        embeddings = table(made.model(family))(torch.from_numpy(x.ids[None]))
        embeddings[0, place] = 0
        expected = made.chances(made.model(family), x, x.ids, inputs_embeds=embeddings).numpy()
    assert outputs(family, x, "zero")[2] == pytest.approx(expected, abs=EXACT)


@FAMILIES
@ASKED
@pytest.mark.parametrize("function", ["log_odds", "probability", "log_probability"])
def test_slopes_are_autograds(family: str, options: Sequence[str], function: str) -> None:
    x = made.example(family, options)
    it = made.translator(family)
    (got,) = it.slope([(Subject(x, "mask", Target(0, function)), Slope(np.ones((1, x.n))))])
    model = made.model(family)
    points = model.get_encoder().get_input_embeddings()(torch.from_numpy(x.ids[None])).detach()
    points.requires_grad_()
    found = made.chances(model, x, x.ids, inputs_embeds=points)
    shares = found - found.logsumexp(0)  # among the outputs
    value = {
        "log_odds": found[0] - found[1:].logsumexp(0),
        "probability": shares[0].exp(),
        "log_probability": shares[0],
    }[function]
    (gradient,) = torch.autograd.grad(value, points)
    assert got.values[0] == pytest.approx(float(value.detach()), abs=EXACT)
    scale = float(gradient.abs().max())
    assert scale > 1e-3 * float(value.detach().abs()) > 0
    assert got.gradient[0] == pytest.approx(gradient[0].numpy(), abs=1e-4 * scale)


@FAMILIES
def test_the_encoders_own_table_is_looked_up_once(family: str) -> None:
    model, x = made.model(family), made.example(family)
    fired = dict.fromkeys(("own", "shared"), 0)

    def count(name: str) -> object:
        def hook(module: object, args: object, output: object) -> None:
            fired[name] += 1

        return hook

    modules = {"own": table(model), "shared": model.get_input_embeddings()}
    handles = [m.register_forward_hook(count(name)) for name, m in modules.items()]  # type: ignore[arg-type]
    with torch.no_grad():
        made.plain(model, x.ids.tolist(), x.prefix)
    for handle in handles:
        handle.remove()
    assert fired == {"own": 1, "shared": 0}


@FAMILIES
def test_company_and_order_change_no_bit(family: str) -> None:
    it = made.translator(family)
    texts = (made.TEXT, *made.OTHERS)
    found = [made.example(family, o, text) for text in texts for o in made.ASKED]
    asks = [
        (Subject(x, removal, Target(0)), np.concatenate([everything(x.n), all_but_each(x.n)]))
        for x in found
        for removal in ("mask", "delete")
    ]
    together = it.keep(asks)
    for i in np.random.default_rng(0).permutation(len(asks)):
        (alone,) = it.keep([asks[i]])
        assert np.array_equal(alone, together[i])
        assert alone.shape[1] == max(2, len(asks[i][0].example.options))


@FAMILIES
def test_slopes_do_not_depend_on_company(family: str) -> None:
    it = made.translator(family)
    points = np.linspace(0, 1, 3)
    asks = [
        (Subject(x, "mask", Target(0)), Slope(np.tile(points[:, None], (1, x.n))))
        for x in (made.example(family, o, text) for o in made.ASKED for text in made.OTHERS)
    ]
    together = it.slope(asks)
    for ask, found in zip(asks, together, strict=True):
        (alone,) = it.slope([ask])
        assert np.array_equal(alone.gradient, found.gradient)
        assert np.array_equal(alone.values, found.values)


@FAMILIES
def test_the_side_on_which_a_tokenizer_pads_is_irrelevant(family: str) -> None:
    words = families.tokenizer(family)
    whole = outputs(family, made.example(family, made.LONGER))
    words.padding_side = "left"
    try:
        assert np.array_equal(outputs(family, made.example(family, made.LONGER)), whole)
    finally:
        words.padding_side = "right"


@FAMILIES
@ASKED
def test_whole_players_are_the_input(family: str, options: Sequence[str]) -> None:
    it, x = made.translator(family), made.example(family, options)
    subject, whole = Subject(x, "mask", Target(0)), outputs(family, made.example(family, options))
    (soft,) = it.soften([(subject, Soften(np.array([[1.0] * x.n, [0.0] * x.n])))])
    (quiet,) = it.suppress([(subject, Suppress(np.array([[0.0] * x.n, [1.0] * x.n])))])
    for found in (soft, quiet):
        assert found[0] == pytest.approx(whole[0], abs=EXACT)
        assert np.abs(found[1] - whole[0]).max() > 1e-2


@FAMILIES
def test_suppression_leaves_the_decoders_own_attention(family: str) -> None:
    model, x = made.model(family), made.example(family)
    seen = []

    def see(layer: int, scores: torch.Tensor) -> torch.Tensor:
        seen.append(scores.shape[-1])
        return scores

    with guarded(model):
        captured = capture(model, lambda: made.plain(model, x.ids.tolist(), x.prefix), edit=see)
    assert seen == [len(x.ids)] * 4 and len(captured.parts) == 6


@FAMILIES
def test_stand_ins_are_drawn_for_source_words(family: str) -> None:
    x = made.example(family)
    it = made.translator(family).filled_by(corpus_of([x, made.example(family, text="a film")]))
    assert "infill" in it.answers
    (found,) = it.keep([(Subject(x, "infill", Target(0)), all_but_each(x.n))])
    assert np.abs(found - outputs(family, x)[0]).max() > 1e-2


@FAMILIES
def test_without_options_the_likeliest_token_is_asked_about(family: str) -> None:
    x = made.translator(family).encode("x", [made.TEXT], prefix=made.PREFIX)
    with torch.no_grad():
        logits = made.plain(made.model(family), x.ids.tolist(), x.prefix)[-1]
    assert x.options == ((int(logits.argmax()),),) and x.explained == 0
    assert outputs(family, x)[0, 0] == pytest.approx(float(logits.log_softmax(-1).max()), abs=EXACT)


def test_prefix_and_options_are_the_decoders_tokens() -> None:
    x = made.example("bart", made.LONGER)
    words = families.tokenizer("bart")
    start = made.model("bart").config.decoder_start_token_id
    assert x.prefix == (start, *words("a good", add_special_tokens=False)["input_ids"])
    assert x.options[0] == tuple(words("very dull acting", add_special_tokens=False)["input_ids"])
    assert len(x.options[0]) > 3  # sub-words
    assert (x.owner[[0, -1]] == FIXED).all() and x.labels == made.LONGER


def test_digests_tell_prefixes_apart() -> None:
    x = made.example("t5")
    assert x.digest != replaced(x, prefix=x.prefix[:-1]).digest


def test_a_forced_first_token_belongs_to_the_start() -> None:
    model = copy.deepcopy(made.model("bart"))
    assert beginning(model) == (3,)
    model.generation_config.forced_bos_token_id = 2
    assert beginning(model) == (3, 2)
    model.generation_config.decoder_start_token_id = model.config.decoder_start_token_id = None
    with pytest.raises(AttrialError, match="decoder_start_token_id"):
        beginning(model)


@pytest.mark.parametrize(
    ("options", "said"),
    [(("film", "film"), "the same tokens: 'film' and 'film'"), (("",), "no token of its own")],
)
def test_wrong_options_are_told(options: Sequence[str], said: str) -> None:
    with pytest.raises(AttrialError, match=said):
        made.example("t5", options)


def test_a_decoder_that_is_full_is_told() -> None:
    with pytest.raises(AttrialError, match="the decoder takes 40 tokens"):
        made.translator("bart").encode("x", [made.TEXT], options=["film"], prefix="a " * 40)


def test_layers_of_two_stacks_have_no_square_matrix() -> None:
    it, x = made.translator("t5"), made.example("t5")
    assert "layers" not in it.answers
    with pytest.raises(NotApplicable, match="two stacks"):
        it.layers([(Subject(x, "mask", Target(0)), Layers("norm"))])
