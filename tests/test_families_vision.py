"""Image classifiers with every method: it works, or the cell is listed with what is missing."""

from collections.abc import Mapping

import numpy as np
import pytest

from attrial import plugin_call
from attrial.budget import within
from attrial.errors import NotApplicable
from attrial.masks import Floats
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import families, seen
from tests.test_families import METHODS, NORMED, UNANSWERED, lacking

FAMILIES = pytest.mark.parametrize("family", seen.FAMILIES)
ROWS = 48  # one order of sixteen patches and back takes 33
DRAWN = lacking("infill")  # no stand-in is drawn for a patch
LIKE_VIT = {**DRAWN, "gradient_sum_abs": NORMED}
WINDOWED = {  # attention within windows has no one matrix
    name: UNANSWERED.format(question)
    for question in ("layers", "suppress", "attend", "infill")
    for name in lacking(question)
}
CELLS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("vit", "deit", "beit", "dinov2", "dinov2_with_registers"), LIKE_VIT),
    "swin": WINDOWED,
}


def outcome(family: str, name: str) -> str | Floats:
    """Scores, or why there are none."""
    it = seen.classifier(family)
    x = it.see("x", seen.picture())
    asked = plugin_call.method(within(name, ROWS))(x, 0)
    try:
        (got,) = answer(Value(it), [(Subject(x, "mean", Target(1)), asked)])
    except NotApplicable as why:
        return str(why)
    return str(got.undefined) if got.result is None else got.result


@FAMILIES
def test_cells_are_what_the_lists_say(family: str) -> None:
    listed = dict(CELLS[family])
    for name in METHODS:
        found, why = outcome(family, name), listed.pop(name, None)
        if why is not None:
            assert isinstance(found, str) and why in found, (name, found)
            continue
        assert not isinstance(found, str), (name, found)
        assert found.shape == (seen.GRID**2,) and np.isfinite(found).all(), name
    assert not listed


def test_architectures_of_all_kinds_are_enough() -> None:
    assert len({*families.FAMILIES, *seen.FAMILIES}) >= 28
