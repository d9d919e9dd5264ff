"""What a table lacks, in words: undefined cells, missing scales, orders that were beaten. Pure."""

from collections.abc import Sequence

from attrial.leaderboard import Row
from attrial.report.phrases import Phrase, Sentence, names
from attrial.report.tables import Table


def gaps(table: Table) -> list[Sentence]:
    """What is undefined, on how many examples, why; and where the best order was beaten.

    Metrics that lack the same on the same methods share a sentence.
    """
    told: dict[tuple[str, str], list[str]] = {}
    for line in table.lines:
        for row in (row for row in line.cells if row is not None and row.applicable):
            for gap in _gaps(row):
                told.setdefault((row.metric, gap), []).append(line.method)
    shared: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (metric, gap), found in told.items():
        shared.setdefault((gap, tuple(found)), []).append(metric)
    return _not_applicable(table) + [
        [*_whose(metrics, gap), *_who(found, table), Phrase(".")]
        for (gap, found), metrics in shared.items()
    ]


def _whose(metrics: Sequence[str], gap: str) -> Sentence:
    """Metrics with what they lack, in the singular or the plural."""
    verb, _, rest = gap.partition(" ")
    many = {"is": "are", "has": "have", "beats": "beat"}
    said = gap if len(metrics) == 1 else f"{many[verb]} {rest}"
    return [*names(metrics), Phrase(f" {said}: ")]


def _not_applicable(table: Table) -> list[Sentence]:
    """One sentence a method that the model can't answer, with what it lacks."""
    lacking = {
        line.method: why
        for line in table.lines
        for row in line.cells
        if row is not None and not row.applicable
        for why in row.reasons
    }
    return [[Phrase(who, True), Phrase(f" is {why}.")] for who, why in lacking.items()]


def _gaps(row: Row) -> list[str]:
    found: list[str] = []
    if row.undefined:
        tried = row.n + row.undefined
        found.append(f"is undefined on {row.undefined} of {tried} ({reasons(row.reasons)})")
    if row.normalised_reasons:
        lost = f"{row.n - row.normalised_n} of {row.n}" if row.normalised_n else "any example"
        found.append(f"has no normalised value on {lost} ({reasons(row.normalised_reasons)})")
    if row.above_best and not row.control:
        found.append(f"beats the best order that was found on {row.above_best} of {row.n}")
    return found


def reasons(found: dict[str, int]) -> str:
    """Reasons with how often each occurs, where there are several."""
    return "; ".join(f"{why}: {times}" if len(found) > 1 else why for why, times in found.items())


def _who(found: Sequence[str], table: Table) -> Sentence:
    everyone = len(found) == len(table.lines) > 1
    return [Phrase("all methods and controls")] if everyone else names(found)
