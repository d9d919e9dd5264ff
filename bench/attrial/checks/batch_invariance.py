"""Batch invariance: neither company nor the size of batches matters to an explanation."""

from attrial.check_bench import Bench, Outcome
from attrial.checks._alike import change, furthest

RULE = "same"
NULL = 1e-4
DIRECTION = "lower"
UNIT = "share of the largest score"
VERSION = 1


def batch_invariance(bench: Bench, *, seed: int, tokens: int = 100) -> Outcome:
    """Explain all together, each alone, in reverse order, and in batches of another size.

    The value is the largest change of a score, as a share of the largest. Sums of float32 in
    another order move outputs by about 1e-6, and small differences of them by more: what is
    beyond ``NULL`` is no rounding.

    Args:
        bench: The method on trial.
        seed: Of the explanations.
        tokens: Token positions of the other batches.
    """
    together = bench.explain(seed=seed)
    pairs = list(zip(bench.examples, bench.classes, strict=True))
    alone = [bench.explain(seed=seed, examples=[x], classes=[c])[0] for x, c in pairs]
    turned = bench.explain(seed=seed, examples=bench.examples[::-1], classes=bench.classes[::-1])
    other = bench.explain(bench.altered.rebatched(tokens), seed=seed)
    return Outcome([furthest(change, together, [alone, turned[::-1], other])])
