"""Padding invariance: positions that nobody sees don't matter to an explanation."""

from attrial.check_bench import Bench, Outcome
from attrial.checks._alike import change, each

RULE = "same"
NULL = 1e-4
DIRECTION = "lower"
UNIT = "share of the largest score"
VERSION = 1


def padding_invariance(bench: Bench, *, seed: int, extra: int = 8) -> Outcome:
    """Explain with every row of every question padded by ``extra`` more positions.

    The value is the largest change of a score, as a share of the largest; up to ``NULL`` it is
    rounding of float32.

    Args:
        bench: The method, the model and the examples.
        seed: Of the method.
        extra: Positions of padding that every row gets.
    """
    padded = bench.explain(bench.altered.padded(extra), seed=seed)
    return Outcome([each(change, bench.explain(seed=seed), padded)])
