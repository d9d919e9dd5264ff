"""Input-shift invariance: a shift of the embeddings that the model makes up for changes nothing."""

from attrial.check_bench import Bench, Outcome
from attrial.checks._alike import change, each

RULE = "same"
NULL = 1e-4
DIRECTION = "lower"
UNIT = "share of the largest score"
VERSION = 1


def input_shift_invariance(bench: Bench, *, seed: int) -> Outcome:
    """Explain a model whose word embeddings are moved by a constant (Kindermans et al. 2019).

    Another table of embeddings that is added to them is moved back by as much, so that the outputs
    on all ids are the same. What multiplies by the embeddings, or starts at zero, changes: it
    explains the representation rather than the function. The value is the largest change of a
    score, as a share of the largest; up to ``NULL`` it is rounding of float32.

    Args:
        bench: The method, the model and the examples.
        seed: Of the method.
    """
    shifted = bench.explain(bench.altered.shifted(seed=seed), seed=seed)
    return Outcome([each(change, bench.explain(seed=seed), shifted)])
