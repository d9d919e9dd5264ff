"""Every method explains every causal language model, or what it lacks is named."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from attrial import plugin_call, registry
from attrial.budget import within
from attrial.errors import NotApplicable
from attrial.filling import corpus_of
from attrial.models.causal import CausalModel
from attrial.plugin_call import PluginMethod
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import tiny, writers

ROWS = 24  # model rows a method that samples gets: whether it works, not how well
FAMILIES = pytest.mark.parametrize("family", list(writers.FAMILIES))
# The sum of a gradient over an embedding is zero wherever a layer norm takes its mean away; two
# streams side by side have no one vector to compare with.
ZERO = "sums to zero over every embedding"
CELLS: dict[str, dict[str, str]] = {
    "gpt2": {"gradient_sum_abs": ZERO},
    "gpt_neox": {"gradient_sum_abs": ZERO, "alti": "no residual to share with"},
    "opt": {"gradient_sum_abs": ZERO},
}
# Nothing is left of a row in which the heads' weights favour the foil: test_grad_cam_families.py.
CLIPPED = {"attention_grad_cam"}


@cache
def asked(family: str, kind: str) -> tuple[CausalModel, Subject]:
    """One model a family for all methods: each leaves it as it was."""
    c = writers.writer(family)
    x = c.encode("x", [writers.PROMPT], options=writers.KINDS[kind])
    filled = c.filled_by(corpus_of([x]))
    assert isinstance(filled, CausalModel)
    return filled, Subject(x, "delete", Target(0))


def lacking(c: CausalModel, subject: Subject, method: PluginMethod) -> str:
    """Why there are no scores."""
    try:
        (got,) = answer(Value(c), [(subject, method(subject.example, 0))])
    except NotApplicable as why:
        return str(why)
    return got.undefined or ""


@FAMILIES
@pytest.mark.parametrize("name", registry.plugins("methods"))
def test_every_method_explains_a_contrast(family: str, name: str) -> None:
    """Finite scores, one a word; the foil gives others where a method says so."""
    c, subject = asked(family, "words")
    method = plugin_call.method(within(name, ROWS))
    if name in CELLS.get(family, {}):
        assert CELLS[family][name] in lacking(c, subject, method)
        return
    other = replace(subject, target=Target(1))
    found = [answer(Value(c), [(s, method(s.example, 0))])[0] for s in (subject, other)]
    scores = [got.result for got in found]
    assert scores[0] is not None and scores[1] is not None, [got.undefined for got in found]
    assert scores[0].shape == (subject.example.n,) and np.isfinite(scores[0]).all()
    if name not in CLIPPED:
        assert min(np.abs(scores[0]).max(), np.abs(scores[1]).max()) > 0
    if method.bound.constant("CLASS_SPECIFIC", False):
        assert np.abs(scores[0] - scores[1]).max() > 0
    else:
        assert np.array_equal(scores[0], scores[1])


@FAMILIES
@pytest.mark.parametrize("kind", list(writers.KINDS))
def test_shares_add_up_to_what_all_words_add(family: str, kind: str) -> None:
    c, subject = asked(family, kind)
    x, ids = subject.example, subject.example.ids
    (got,) = answer(Value(c), [(subject, plugin_call.method("shapley")(x, 0))])
    assert got.result is not None
    made = writers.model(family)

    def odds(ids: list[int]) -> float:
        found = writers.expected(made, ids, x.options)
        return float(found[0] - np.logaddexp.reduce(found[1:]))

    gain = odds(ids.tolist()) - odds(ids[x.owner < 0].tolist())
    assert float(got.result.sum()) == pytest.approx(gain, abs=1e-4)
    assert np.abs(got.result).max() >= tiny.TEETH  # without that one they would not add up
