"""What checks of methods leave behind: one result a method and check, and the report of all."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

SCHEMA = 1
FILE = "checks.json"  # its name in a folder of results
Verdict = Literal["pass", "fail", "flagged", "not applicable", "undefined"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CheckResult(_Frozen):
    """One method under one check.

    Attributes:
        check: As it was asked for, arguments included.
        method: The label of the method.
        task: Whose examples.
        model: Its name.
        weights: The sha256 of its parameters.
        data_digest: Over the examples' content, in order.
        seed: Of all draws.
        value: Mean over examples, None where nothing is defined.
        low: Lower end of its 95 % bootstrap interval (over examples, and over random models where
            several are drawn).
        high: Upper end.
        null: The level that the value is judged against.
        verdict: ``flagged`` is no failure: something that a reader must know.
        sentence: The verdict in words, with its reason.
        n: Examples (or games) with a value.
        undefined: Cells without a value, counted by reason.
        detail: Further numbers that the check measured.
        direction: Which values are better: ``lower`` or ``higher``.
        unit: Of the value.
        version: Of the check.
        method_version: Of the method.
        shipped_by: The method's distribution, or the digest of its file.
    """

    check: str
    method: str
    task: str
    model: str
    weights: str
    data_digest: str
    seed: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    null: float | None = None
    verdict: Verdict
    sentence: str
    n: int = 0
    undefined: dict[str, int] = {}
    detail: dict[str, float] = {}
    direction: str
    unit: str
    version: int
    method_version: int = 1
    shipped_by: str = ""


class CheckReport(_Frozen):
    """All results of one call, and where they were made."""

    schema_version: int = SCHEMA
    results: list[CheckResult]
    made_with: dict[str, str] = {}

    @property
    def failures(self) -> list[CheckResult]:
        """What failed."""
        return [r for r in self.results if r.verdict == "fail"]
