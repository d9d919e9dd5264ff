"""Class sensitivity: the explanation of another class is another explanation."""

import numpy as np

from attrial.check_bench import Bench, Cell, NotApplicable, Outcome, Told, defined
from attrial.checks._alike import change, each, spearman
from attrial.masks import Floats

RULE = "less"
NULL = 1.0
DIRECTION = "lower"
UNIT = "rank correlation"
VERSION = 1


def class_sensitivity(bench: Bench, *, seed: int) -> Outcome:
    """Compare the explanations of the predicted class's logit and of the strongest other's.

    Random-logit test (Sixt et al. 2020), on logits: the log-odds of two classes are each other's
    negative, whose magnitudes are alike by definition. A method that declares
    ``CLASS_SPECIFIC = False`` is expected to be class-blind and flagged so; one that declares
    ``True`` and gives the same scores fails, and so does one that declares ``False`` and doesn't.
    """
    outputs = bench.outputs()
    if len(outputs[0]) < 2:
        raise NotApplicable("a model with one output has no other class")
    first = bench.explain(seed=seed, function="logit")
    other = bench.explain(
        seed=seed,
        function="logit",
        classes=[_other(o, c) for o, c in zip(outputs, bench.classes, strict=True)],
    )
    same = not defined(each(change, first, other)).any()
    found = each(spearman, first, other)
    return Outcome([found], told=_told(bool(bench.declares("CLASS_SPECIFIC")), same, found))


def _other(outputs: Floats, index: int) -> int:
    """The strongest class but one."""
    rest = np.where(np.arange(len(outputs)) == index, -np.inf, outputs)
    return int(np.argmax(rest))


def _told(specific: bool, same: bool, found: list[Cell]) -> Told | None:
    if same and specific:
        return Told("fail", "declared class-specific, but every class gets the same scores")
    if same:
        return Told("flagged", "class-blind, as declared: it can't tell for from against")
    if not specific:
        return Told("fail", "declared class-blind, but another class gets other scores")
    return None
