"""Which method serves which image classifier: every cell that is not applicable is listed here."""

from collections.abc import Mapping

import numpy as np
import pytest

from attrial import plugin_call, registry
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.models.altered import Altered
from attrial.models.text import TextClassifier
from attrial.models.vision import VisionClassifier
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import seen

METHODS = [
    name
    for name, plugin in registry.plugins("methods").items()
    if plugin.module.startswith("attrial_methods.")
]
WINDOWS = {  # attention goes within windows, from no position to every other
    *("alti", "atman", "attention", "attention_attribution", "attention_flow"),
    *("attention_grad_cam", "attention_norm", "attention_rollout", "attention_x_gradient"),
    *("chefer", "value_zeroing"),
}
NOT_APPLICABLE: Mapping[str, set[str]] = {family: set() for family in seen.SQUARE} | {
    "swin": WINDOWS
}
# the sum of a gradient's elements is zero before a layer norm; Swin's first layer is behind one
UNDEFINED = {family: {"gradient_sum_abs"} for family in seen.SQUARE} | {"swin": set()}


def filled(family: str, players: str = "patches") -> tuple[TextClassifier, Example]:
    it = seen.classifier(family)
    x = it.see("x", seen.picture(), players=players)
    return it.filled_by(corpus_of([x, it.see("y", seen.picture(1))])), x


@pytest.mark.parametrize("family", seen.FAMILIES)
def test_every_method_runs_or_is_listed(family: str) -> None:
    model, x = filled(family, "patches(2)")
    lacking, undefined = set(), set()
    for name in METHODS:
        asked = plugin_call.method(name)(x, 0)
        try:
            (got,) = answer(Value(model), [(Subject(x, "mean", Target(0)), asked)])
        except NotApplicable:
            lacking.add(name)
            continue
        if got.result is None:
            undefined.add(name)
        else:
            assert got.result.shape == (4,) and np.isfinite(got.result).all(), name
    assert (lacking, undefined) == (NOT_APPLICABLE[family], UNDEFINED[family])


def test_a_model_is_as_it_was_after_every_question() -> None:
    model, x = filled("vit")
    before = model.keep([(Subject(x, "mean", Target(0)), np.ones((1, x.n), bool))])[0]
    assert isinstance(model, VisionClassifier)
    inner = model.forward.patched.inner
    inner.train()
    after = model.keep([(Subject(x, "mean", Target(0)), np.ones((1, x.n), bool))])[0]
    assert np.array_equal(before, after) and inner.training
    inner.eval()  # type: ignore[no-untyped-call]
    assert not any(m._forward_hooks for m in model.forward.model.modules())


def test_infill_draws_patches_of_other_images() -> None:
    model, x = filled("vit")
    gone = np.zeros((1, x.n), bool)
    drawn = model.keep([(Subject(x, "infill", Target(0)), gone)])[0]
    grey = model.keep([(Subject(x, "mean", Target(0)), gone)])[0]
    assert np.abs(drawn - grey).max() > 1e-2
    assert np.array_equal(drawn, model.keep([(Subject(x, "infill", Target(0)), gone)])[0])


def test_the_digest_tells_images_and_grids_apart() -> None:
    it = seen.classifier()
    same, again = it.see("a", seen.picture()), it.see("b", seen.picture())
    other = seen.picture().copy()
    other[0, 0, 0] ^= 64  # one colour of one pixel
    assert same.digest == again.digest
    assert len({same.digest, it.see("a", other).digest}) == 2
    assert it.see("a", seen.picture(), players="patches(2)").digest != same.digest


def test_an_example_of_one_model_serves_another_with_patches_like_its_own() -> None:
    one, other = (VisionClassifier.of(seen.model("vit"), seen.processor()) for _ in range(2))
    subject = (Subject(one.see("x", seen.picture()), "blur", Target(0)), np.eye(16, dtype=bool))
    assert np.array_equal(one.keep([subject])[0], other.keep([subject])[0])


def test_altered_copies_share_patches_and_nothing_else() -> None:
    model, x = filled("vit")
    altered = Altered(model, [x])
    other = altered.randomised(altered.strata, seed=0)
    anew = altered.randomised(altered.strata, seed=0, how="init")
    subject = (Subject(x, "mean", Target(0)), np.ones((1, x.n), bool))
    own = model.keep([subject])[0]
    assert np.abs(other.keep([subject])[0] - own).max() > 1e-2
    assert np.abs(anew.keep([subject])[0] - own).max() > 1e-2
    assert np.array_equal(model.keep([subject])[0], own)
    with pytest.raises(NotApplicable, match="patches are embedded from their pixels"):
        altered.shifted(seed=0)
    with pytest.raises(NotApplicable, match="patches are embedded from their pixels"):
        altered.noisy(radius=0.1, seed=0)
    with pytest.raises(NotApplicable, match="images are never padded"):
        altered.padded(3)
