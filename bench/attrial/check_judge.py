"""From what a check measured to its result: means, bootstrap intervals, a verdict. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from attrial.check_bench import Draw, Outcome, Told
from attrial.errors import AttrialError
from attrial.masks import Floats

RESAMPLES = 4000
SAME = 1e-9  # as near to the ceiling as rounding allows
ALIKE = 0.5  # random models that agree by more leave a check little room to tell


@dataclass(frozen=True)
class Judged:
    """The numbers of one result, its verdict and sentence."""

    told: Told
    value: float | None = None
    low: float | None = None
    high: float | None = None
    null: float | None = None
    n: int = 0
    undefined: dict[str, int] = field(default_factory=dict)
    detail: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}]"


def judge(outcome: Outcome, *, rule: str, null: float | None, seed: int) -> Judged:
    """Judge an outcome by its check's rule.

    Rules, d being the value minus the null level, example by example:

    - ``same``: passes if no value is above the null level (an invariance holds on every example).
    - ``less``: passes if the interval of the mean of d lies below 0, fails if it lies at or above
      0, is flagged where this many examples can't tell; ``more`` is its mirror image.
    - ``no more``: fails if the interval of d lies above 0, or if that of the value reaches 1
      (nothing changes at all); flagged if random models agree so much by themselves
      that the check has little power; passes otherwise.
    """
    values, undefined = _matrix(outcome.draws)
    some = ~np.isnan(values).all(axis=0)
    if not some.any():
        told = outcome.told or Told("undefined", _first(undefined))
        return Judged(told, null=null, undefined=undefined, detail=dict(outcome.detail))
    levels = _levels(outcome, values, null)
    value = bootstrap(values, seed=seed)
    level = None if levels is None else float(np.nanmean(levels[:, some]))
    told = outcome.told or _told(rule, values, levels, value, seed)
    return Judged(
        told,
        value.mean,
        value.low,
        value.high,
        level,
        int(some.sum()),
        undefined,
        dict(outcome.detail),
    )


def _first(undefined: dict[str, int]) -> str:
    return f"no value: {next(iter(undefined), 'no examples')}"


def _matrix(draws: Sequence[Draw]) -> tuple[Floats, dict[str, int]]:
    """Cells as numbers (draws, n), NaN where undefined; and their reasons, counted."""
    reasons = Counter(cell for draw in draws for cell in draw if isinstance(cell, str))
    rows = [[np.nan if isinstance(cell, str) else cell for cell in draw] for draw in draws]
    return np.array(rows, np.float64), dict(sorted(reasons.items()))


def _levels(outcome: Outcome, values: Floats, null: float | None) -> Floats | None:
    if outcome.null is not None:
        return _matrix(outcome.null)[0]
    return None if null is None else np.full_like(values, null)


def bootstrap(values: Floats, *, seed: int) -> Interval:
    """Mean of cells (draws, n), and its percentile interval over examples and draws at once.

    Undefined cells (NaN) are left out of the mean; a resample without any number is drawn in vain.
    """
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    rng = np.random.default_rng(seed)
    rows, columns = (_weights(size, rng) for size in values.shape)
    sums = np.einsum("br,ri,bi->b", rows, filled, columns, optimize=True)
    counts = np.einsum("br,ri,bi->b", rows, known.astype(np.float64), columns, optimize=True)
    means = sums[counts > 0] / counts[counts > 0]
    low, high = np.quantile(means, [0.025, 0.975])
    least, most = float(values[known].min()), float(values[known].max())
    mean = float(np.clip(filled.sum() / known.sum(), least, most))
    return Interval(mean, float(np.clip(low, least, mean)), float(np.clip(high, mean, most)))


def _weights(size: int, rng: np.random.Generator) -> Floats:
    """How often each of ``size`` is drawn, (resamples, size); one alone is always drawn once."""
    return rng.multinomial(size, np.full(size, 1 / size), size=RESAMPLES).astype(np.float64)


def _told(rule: str, values: Floats, levels: Floats | None, value: Interval, seed: int) -> Told:
    if levels is None:
        raise AttrialError(f"a check with the rule {rule!r} needs a NULL level")
    if rule == "same":
        return _same(values, levels)
    above = bootstrap(values - levels, seed=seed)
    if rule == "no more":
        return _no_more(value, above, levels)
    if rule not in ("less", "more"):
        raise AttrialError(f"no rule {rule!r} of checks; known are less, more, no more, same")
    return _beyond(value, above, levels, -1 if rule == "less" else 1)


def _same(values: Floats, levels: Floats) -> Told:
    known = ~np.isnan(values).any(axis=0)
    broken = int((values > levels)[:, known].any(axis=0).sum())
    greatest = f"the greatest change is {float(np.nanmax(values)):.3g}"
    if broken:
        return Told("fail", f"broken on {broken} of {known.sum()}: {greatest}")
    return Told("pass", f"holds on all {known.sum()}: {greatest}")


def _no_more(value: Interval, above: Interval, levels: Floats) -> Told:
    level = float(np.nanmean(levels))
    numbers = f"{value}, where random models agree by {level:.3g}"
    if value.high >= 1 - SAME:
        return Told("fail", f"the explanations are the same: {numbers}")
    if above.low > 0:
        return Told("fail", f"more is kept than two random models share: {numbers}")
    if level > ALIKE:
        return Told("flagged", f"alike by construction, so that little could be told: {numbers}")
    return Told("pass", f"no more is kept than two random models share: {numbers}")


def _beyond(value: Interval, above: Interval, levels: Floats, sign: int) -> Told:
    """Whether the value lies on the right side of the level: ``sign`` 1 above, -1 below."""
    near, far = sorted((sign * above.low, sign * above.high))
    side = "above" if sign > 0 else "below"
    numbers = f"{value} against {float(np.nanmean(levels)):.3g}"
    if near > 0:
        return Told("pass", f"{side} the null level: {numbers}")
    if far <= 0:
        return Told("fail", f"not {side} the null level: {numbers}")
    return Told("flagged", f"not told apart from the null level by so few examples: {numbers}")
