"""Methods under checks: every pair ends in one result, also where it can't be tried."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from attrial.check_bench import Bench, Outcome, Told
from attrial.check_judge import Judged, judge
from attrial.check_record import CheckResult
from attrial.errors import AttrialError, NotApplicable, Undefined, one_line
from attrial.plugin_call import Bound, PluginMethod, bind
from attrial.record import DataSpec, ModelSpec

Progress = Callable[[int, int, str], None]  # pairs done, pairs in all, the one that comes


def silent(done: int, total: int, coming: str) -> None:
    """No progress shown."""


@dataclass(frozen=True)
class Check:
    """A check ready to be run: its declarations and its arguments."""

    bound: Bound

    def __call__(self, bench: Bench, *, seed: int) -> Outcome:
        """Measure.

        Raises:
            AttrialError: If it gives no outcome, or for whatever it raises, which is the cause.
        """
        function = self.bound.plugin.function()
        try:
            found = function(bench, seed=seed, **self.bound.args)
        except (AttrialError, Undefined):
            raise
        except Exception as error:
            what = f"check {self.bound.text} of method {bench.method.bound.text}"
            raise AttrialError(f"{what}: {one_line(error)}") from error
        if not isinstance(found, Outcome):
            raise AttrialError(f"check {self.bound.text} gave a {type(found).__name__}, no Outcome")
        return found

    @property
    def null(self) -> float | None:
        """The constant level that it judges against, if it has one."""
        return cast(float | None, self.bound.constant("NULL", None))

    def text(self, name: str) -> str:
        """A declaration in words: ``RULE``, ``DIRECTION``, ``UNIT``."""
        return str(self.bound.constant(name, ""))


@cache
def check_named(text: str) -> Check:
    """A check by name, call or path: ``determinism``, ``parameter_randomisation(draws=4)``."""
    return Check(bind("checks", text))


@dataclass(frozen=True)
class Setting:
    """What all results of one call share."""

    data: DataSpec
    model: ModelSpec
    seed: int


def check_all(
    setting: Setting,
    bench: Bench,
    methods: Sequence[PluginMethod],
    checks: Sequence[Check],
    progress: Progress = silent,
) -> list[CheckResult]:
    """Every method under every check, in order; ``bench.method`` is replaced by each."""
    return list(_results(setting, bench, methods, checks, progress))


def _results(
    setting: Setting,
    bench: Bench,
    methods: Sequence[PluginMethod],
    checks: Sequence[Check],
    progress: Progress,
) -> Iterator[CheckResult]:
    total = len(methods) * len(checks)
    for i, method in enumerate(methods):
        mine = replace(bench, method=method)
        for j, check in enumerate(checks):
            progress(i * len(checks) + j, total, f"{method.bound.text} · {check.bound.text}")
            yield _result(setting, mine, check)
    progress(total, total, "")


def _result(setting: Setting, bench: Bench, check: Check) -> CheckResult:
    judged = _judged(bench, check, setting.seed)
    spec = bench.method.bound.spec
    return CheckResult(
        check=check.bound.text,
        method=bench.method.bound.text,
        task=setting.data.task,
        model=setting.model.name,
        weights=setting.model.weights,
        data_digest=setting.data.digest,
        seed=setting.seed,
        value=judged.value,
        low=judged.low,
        high=judged.high,
        null=judged.null,
        verdict=judged.told.verdict,
        sentence=judged.told.sentence,
        n=judged.n,
        undefined=judged.undefined,
        detail=judged.detail,
        direction=check.text("DIRECTION"),
        unit=check.text("UNIT"),
        version=check.bound.spec.version,
        method_version=spec.version,
        shipped_by=spec.shipped_by,
    )


def _judged(bench: Bench, check: Check, seed: int) -> Judged:
    try:
        lacking = sorted(set(bench.method.asks) - bench.model.answers)
        if lacking:
            raise NotApplicable(f"the method needs {lacking[0]!r}, which this model can't answer")
        outcome = check(bench, seed=seed)
    except NotApplicable as why:
        return Judged(told=Told("not applicable", str(why)))
    return judge(outcome, rule=check.text("RULE"), null=check.null, seed=seed)
