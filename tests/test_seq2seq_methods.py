"""Every method on encoder-decoders: it works, or it is listed with what is missing."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from attrial import plugin_call, registry
from attrial.budget import within
from attrial.errors import NotApplicable
from attrial.filling import corpus_of
from attrial.masks import Floats
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import encoder_decoders as made

METHODS = [
    name
    for name, plugin in registry.plugins("methods").items()
    if plugin.module.startswith("attrial_methods.")
]
ROWS = 24  # model rows a method that samples gets: whether it works, not how well
LAYERS = "this model can't answer 'layers'"
LACKING: Mapping[str, str] = {
    "alti": LAYERS,
    "attention_norm": LAYERS,
    "value_zeroing": LAYERS,
    "gradient_sum_abs": "has two stacks: no square matrix a layer",
}


def outcome(family: str, name: str, options: Sequence[str]) -> str | Floats:
    """Scores, or why there are none."""
    x = made.example(family, options)
    it = made.translator(family).filled_by(corpus_of([x]))
    asked = plugin_call.method(within(name, ROWS))(x, 0)
    try:
        (got,) = answer(Value(it), [(Subject(x, "mask", Target(0)), asked)])
    except NotApplicable as why:
        return str(why)
    return str(got.undefined) if got.result is None else got.result


@pytest.mark.parametrize("family", made.FAMILIES)
@pytest.mark.parametrize("options", [made.PAIR, made.LONGER], ids=["one token", "several"])
def test_cells_are_what_the_list_says(family: str, options: Sequence[str]) -> None:
    listed, n = dict(LACKING), len(made.TEXT.split())
    for name in METHODS:
        found, why = outcome(family, name, options), listed.pop(name, None)
        if why is not None:
            assert isinstance(found, str) and why in found, (name, found)
            continue
        assert not isinstance(found, str), (name, found)
        assert found.shape == (n,) and np.isfinite(found).all(), name
        assert np.ptp(found) > 0 or name == "constant", name
    assert not listed


@pytest.mark.parametrize("family", made.FAMILIES)
def test_integrated_gradients_are_complete_over_the_source(family: str) -> None:
    """They sum to what the source adds to mask tokens; the decoder stays what it is."""
    got = outcome(family, "integrated_gradients(steps=300, baseline='mask')", made.PAIR)
    x = made.example(family)
    masks = np.vstack([np.ones(x.n, bool), np.zeros(x.n, bool)])
    (outputs,) = made.translator(family).keep([(Subject(x, "mask", Target(0)), masks)])
    added = float((outputs[0, 0] - outputs[0, 1]) - (outputs[1, 0] - outputs[1, 1]))
    assert not isinstance(got, str)
    assert got.sum() == pytest.approx(added, abs=0.01 * max(1.0, abs(added)))
    assert abs(added) > 0.1


@pytest.mark.parametrize("family", made.FAMILIES)
def test_occlusion_is_what_each_word_adds(family: str) -> None:
    got = outcome(family, "occlusion", made.PAIR)
    x = made.example(family)
    masks = np.vstack([np.ones(x.n, bool), ~np.eye(x.n, dtype=bool)])
    (outputs,) = made.translator(family).keep([(Subject(x, "mask", Target(0)), masks)])
    contrast = outputs[:, 0] - outputs[:, 1]  # of two options log-odds are the difference
    assert got == pytest.approx(contrast[0] - contrast[1:], abs=1e-6)
