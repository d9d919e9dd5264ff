"""Class sensitivity: the explanation of another class is another explanation."""

from collections.abc import Sequence

import numpy as np

from attrial.check_bench import Bench, Cell, NotApplicable, Outcome, Told, defined
from attrial.checks._alike import TIE, change, each, spearman, unchanged
from attrial.masks import Floats

RULE = "less"
NULL = 1.0
DIRECTION = "lower"
UNIT = "rank correlation"
VERSION = 1


def class_sensitivity(bench: Bench, *, seed: int) -> Outcome:
    """Compare the explanations of the predicted class's logit and of the strongest other's.

    Random-logit test (Sixt et al. 2020), on logits: the log-odds of two classes are each other's
    negative, whose magnitudes are alike by definition. A method that declares ``CLASS_SPECIFIC =
    False`` is expected to be class-blind and flagged so; one that declares ``True`` and gives the
    same scores fails, and so does one that declares ``False`` and doesn't. Other scores in the same
    order, as magnitudes have under two opposite logits, are flagged.

    Args:
        bench: The method, the model and the examples.
        seed: Of the method.
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
    changes = each(change, first, other)
    specific = bench.declares("CLASS_SPECIFIC", None)
    told = _told(specific, unchanged(changes)) if defined(changes).size else None
    found = each(spearman, first, other)
    return Outcome([found], told=told or _alike(found))


def _other(outputs: Floats, index: int) -> int:
    """The strongest class but one."""
    rest = np.where(np.arange(len(outputs)) == index, -np.inf, outputs)
    return int(np.argmax(rest))


def _told(specific: object, same: bool) -> Told | None:
    """What the declaration (None where there is none) says beside what was found."""
    if same and specific:
        return Told("fail", "declared class-specific, but every class gets the same scores")
    if same:
        said = "undeclared" if specific is None else "as declared"
        return Told("flagged", f"class-blind, {said}: it can't tell for from against")
    if specific is False:
        return Told("fail", "declared class-blind, but another class gets other scores")
    return None


def _alike(found: Sequence[Cell]) -> Told | None:
    """Scores differ: do their orders?"""
    ranks = defined(found)
    if ranks.size and (ranks >= 1 - TIE).all():
        return Told("flagged", "other scores for another class, but in the same order everywhere")
    return None
