"""Completeness gap: the scores of an additive method add up to what there is to explain."""

import numpy as np

from attrial.check_bench import Bench, Cell, Explained, NotApplicable, Outcome
from attrial.checks._alike import TIE
from attrial.masks import Values, everything, nothing

RULE = "less"
NULL = 0.05
DIRECTION = "lower"
UNIT = "share of v(all) - v(none)"
VERSION = 1


def completeness_gap(bench: Bench, *, seed: int) -> Outcome:
    """Measure |sum s - (v(all) - v(none))| as a share of |v(all) - v(none)|.

    v(none) is the value when all players are removed, under the bench's removal: a method that
    starts from another baseline adds up to another difference, and the gap says so. Asked of
    methods that declare ``ADDITIVE = True``. The interval of the mean gap must lie below 5 %.

    Args:
        bench: The method, the model and the examples.
        seed: Of the method.
    """
    if not bench.declares("ADDITIVE"):
        raise NotApplicable("it does not declare ADDITIVE")
    ends = bench.values([np.concatenate([everything(x.n), nothing(x.n)]) for x in bench.examples])
    found = bench.explain(seed=seed)
    return Outcome([[_gap(e, v) for e, v in zip(found, ends, strict=True)]])


def _gap(explained: Explained, ends: Values) -> Cell:
    if isinstance(explained, str):
        return explained
    whole = float(ends[0] - ends[1])
    if abs(whole) <= TIE * float(np.abs(ends).max()):
        return "nothing to explain: v(all) is v(none)"
    return abs(float(explained.sum()) - whole) / abs(whole)
