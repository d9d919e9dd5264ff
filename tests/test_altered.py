"""Altered copies: what they change, what they leave, and that the model itself stays as it is."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from attrial.check_bench import NotApplicable
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Floats, everything
from attrial.models.altered import Altered
from attrial.models.embedding import table
from attrial.models.pairing import digest
from attrial.models.strata import strata
from attrial.models.text import TextClassifier
from attrial.target import Target
from attrial.value import Subject
from tests import tiny

EVERY_FAMILY = pytest.mark.parametrize("family", list(tiny.FAMILIES))


def examples(c: TextClassifier) -> list[Example]:
    return [c.encode(str(i), [text]) for i, text in enumerate((tiny.TEXT, *tiny.OTHERS))]


def altered(family: str = "bert") -> Altered:
    c = tiny.classifier(family)
    return Altered(c, examples(c))


def outputs(c: TextClassifier, xs: list[Example]) -> Floats:
    return np.concatenate(c.keep([(Subject(x, "mask", Target(0)), everything(x.n)) for x in xs]))


def weights(c: TextClassifier) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in c.forward.model.named_parameters()}


def words(c: TextClassifier) -> torch.Tensor:
    """The table of word embeddings."""
    weight = table(c.forward.model).weight
    assert isinstance(weight, torch.Tensor)
    return weight.detach()


CHANGES: dict[str, Callable[[Altered], TextClassifier]] = {
    "shuffled": lambda a: a.randomised(a.strata, seed=1),
    "begun anew": lambda a: a.randomised(a.strata, seed=1, how="init"),
    "shifted": lambda a: a.shifted(seed=1),
    "noisy": lambda a: a.noisy(radius=0.3, seed=1),
    "permuted": lambda a: a.permuted(seed=1),
}


@EVERY_FAMILY
@pytest.mark.parametrize("change", list(CHANGES))
def test_a_copy_is_changed_and_the_model_is_not(family: str, change: str) -> None:
    a = altered(family)
    state = torch.random.get_rng_state()
    found = CHANGES[change](a)
    assert torch.equal(state, torch.random.get_rng_state())
    assert digest(a.classifier.forward.model) == a.classifier.spec.weights
    assert digest(found.forward.model) != a.classifier.spec.weights


@EVERY_FAMILY
@pytest.mark.parametrize("change", ["shifted", "permuted"])
def test_forms_of_one_function_give_the_same_outputs(family: str, change: str) -> None:
    a = altered(family)
    own, found = (outputs(c, examples(c)) for c in (a.classifier, CHANGES[change](a)))
    assert np.abs(own - found).max() <= 1e-5 * np.abs(own).max()


@EVERY_FAMILY
@pytest.mark.parametrize("change", ["shuffled", "begun anew", "noisy"])
def test_other_functions_give_other_outputs(family: str, change: str) -> None:
    a = altered(family)
    own, found = (outputs(c, examples(c)) for c in (a.classifier, CHANGES[change](a)))
    assert np.abs(own - found).max() > 1e-3 * np.abs(own).max()


@EVERY_FAMILY
def test_strata_hold_every_parameter_once_from_the_output_to_the_words(family: str) -> None:
    model = tiny.model(family)
    found = strata(model)
    names = [name for s in found for name in s.parameters]
    assert sorted(names) == sorted(name for name, _ in model.named_parameters())
    assert "classifier" in found[0].name
    assert any("word_embeddings" in name for name in found[-1].parameters)
    assert len(found) >= (3 if family == "albert" else 4)  # albert has one block for all layers


def test_strata_are_blocks_and_what_lies_around_them() -> None:
    assert [s.name for s in strata(tiny.model("bert"))] == [
        "bert.pooler + classifier", "bert.encoder.layer.1", "bert.encoder.layer.0",
        "bert.embeddings",
    ]  # fmt: skip


def test_randomising_one_stratum_leaves_the_others_and_draws_alike_in_any_company() -> None:
    a = altered()
    own, top = weights(a.classifier), weights(a.randomised(a.strata[:1], seed=3))
    whole = weights(a.randomised(a.strata, seed=3))
    mine = set(strata(a.classifier.forward.model)[0].parameters)
    for name, tensor in top.items():
        other = whole if name in mine else own
        assert torch.equal(tensor, other[name]), name
    assert any(not torch.equal(own[name], top[name]) for name in mine)


def test_shuffling_keeps_what_a_tensor_is_made_of() -> None:
    a = altered()
    own, found = weights(a.classifier), weights(a.randomised(a.strata, seed=3))
    moved = 0
    for name, tensor in own.items():
        assert torch.equal(tensor.flatten().sort().values, found[name].flatten().sort().values)
        moved += not torch.equal(tensor, found[name])
    assert moved == sum(len(set(tensor.flatten().tolist())) > 1 for tensor in own.values())
    assert not torch.equal(
        found["classifier.weight"], weights(a.randomised(a.strata, seed=4))["classifier.weight"]
    )


def test_an_unknown_way_to_randomise_is_told() -> None:
    with pytest.raises(AttrialError, match="did you mean shuffle"):
        altered().randomised([], seed=0, how="shufle")


def test_noise_has_its_size_and_spares_words_that_are_not_there() -> None:
    a = altered()
    known = words(a.classifier)
    noisy = words(a.noisy(radius=0.3, seed=5))
    moved = (noisy - known).norm(dim=1)
    special = a.classifier.vocabulary.special
    used = sorted({int(i) for x in examples(a.classifier) for i in x.ids[x.owner >= 0]} - special)
    rest = np.setdiff1d(np.arange(len(known)), used)
    np.testing.assert_allclose(moved[used] / known[used].norm(dim=1), 0.3, rtol=1e-4)
    assert not moved[rest].any() and {0, 1, 2, 3, 4} <= set(rest.tolist())


def test_words_are_shifted_by_one_constant() -> None:
    a = altered()
    known = words(a.classifier)
    moved = words(a.shifted(seed=2)) - known
    assert torch.allclose(moved, moved[:1].expand_as(moved), atol=1e-5)
    assert moved.norm() > 0.5 * known.norm()


@EVERY_FAMILY
def test_padding_reaches_the_model_and_changes_no_answer(family: str) -> None:
    a = altered(family)
    widths: list[int] = []
    handle = table(a.classifier.forward.model).register_forward_hook(
        lambda module, given, output: widths.append(given[0].shape[1])
    )
    own = outputs(a.classifier, examples(a.classifier))
    before, widths[:] = list(widths), []
    padded = outputs(a.padded(5), examples(a.classifier))
    handle.remove()
    assert [w - 5 for w in widths] == before
    assert np.abs(own - padded).max() <= 2e-6 * np.abs(own).max()


def test_padding_beyond_the_last_position_is_not_applicable() -> None:
    with pytest.raises(NotApplicable, match="no room"):
        altered().padded(1000)


def test_without_a_shuffled_model_there_is_none() -> None:
    with pytest.raises(NotApplicable, match="--shuffled-model"):
        altered().mislabelled()
