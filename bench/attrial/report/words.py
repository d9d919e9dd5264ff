"""What the tables say, in words and in figures for reading. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from attrial.leaderboard import Row
from attrial.report.tables import Conflict, Line, Section, Table

FAMILIES = {
    "faithfulness": "Faithfulness",
    "evidence": "Known evidence",
}
DASH = "\N{EN DASH}"  # between ranks, and where there is nothing
COUNT_NAMES = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Phrase:
    """A piece of a sentence; strong pieces are names that the sentence is about."""

    text: str
    strong: bool = False


Sentence = list[Phrase]


def number(value: float | None) -> str:
    """Three decimals, or a dash.

    >>> number(0.12345), number(-0.0001), number(1234.5)
    ('0.123', '0.000', '1234.5')
    """
    if value is None:
        return DASH
    text = f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
    return text.removeprefix("-") if float(text) == 0 else text


def interval(row: Row) -> str:
    """The interval of a mean; one example has none to speak of."""
    if row.low is None or row.high is None or row.n < 2:
        return DASH
    return f"{number(row.low)} … {number(row.high)}"


def rank(row: Row) -> str:
    """Ranks that a method may have: ``2`` or ``1–3``."""
    if row.rank_low is None or row.rank_high is None:
        return DASH
    low, high = str(row.rank_low), str(row.rank_high)
    return low if low == high else low + DASH + high


def family(name: str) -> str:
    """A family of metrics as a heading."""
    return FAMILIES.get(name, name.replace("_", " ").capitalize())


def count(n: int, thing: str) -> str:
    """A number of things.

    >>> count(1, "metric"), count(5, "metric"), count(12, "metric")
    ('one metric', 'five metrics', '12 metrics')
    """
    name = COUNT_NAMES[n] if n < len(COUNT_NAMES) else str(n)
    return f"{name} {thing}{'' if n == 1 else 's'}"


def every(columns: int) -> str:
    """All metrics of a table.

    >>> every(2), every(5)
    ('both metrics', 'all five metrics')
    """
    return "both metrics" if columns == 2 else f"all {count(columns, 'metric')}"


def names(found: Sequence[str]) -> Sentence:
    """Names in a row: strong, with commas and an "and"."""
    phrases: Sentence = []
    for i, name in enumerate(found):
        joint = "" if i == 0 else " and " if i == len(found) - 1 else ", "
        phrases += [Phrase(joint), Phrase(name, True)] if joint else [Phrase(name, True)]
    return phrases


def verdict(table: Table) -> list[Sentence]:
    """Who is at the top of a table, who is no better than chance; nothing that isn't told apart."""
    if not table.methods:
        return [[Phrase("No method has a value here.")]]
    if len(table.methods) == 1:
        alone = [Phrase("Only "), Phrase(table.methods[0].method, True), Phrase(" was tried.")]
        return [alone, *_chance(table)]
    return [_top(table), *_chance(table)]


def _top(table: Table) -> Sentence:
    """Whom no method is told to beat: on every metric, alone, or on which share of them."""
    if not table.telling:
        return [Phrase(_untold(table))]
    columns = max(len(line.ranked) for line in table.methods)
    where = every(columns) if columns > 1 else table.columns[0].metric
    may = {line.method: sum(row.rank_low == 1 for row in line.ranked) for line in table.methods}
    always = [name for name, times in may.items() if times == columns]
    if len(always) > 1:
        return [*names(always), Phrase(f" lead on {where} and are not told apart.")]
    if len(always) == 1:
        return [Phrase(always[0], True), Phrase(_lead(always[0], table, columns, where))]
    return _shares(may, columns)


def _untold(table: Table) -> str:
    """No two methods are told apart: by bad luck, or because there are too few examples."""
    tried, all_of_them = count(table.examples, "example"), count(len(table.methods), "method")
    tried = tried[0].upper() + tried[1:]
    if table.examples >= table.needed:
        return f"{tried} don't tell the {all_of_them} apart."
    verb = "is" if table.examples == 1 else "are"
    return (
        f"{tried} {verb} too few to tell any of the {all_of_them} apart: it takes {table.needed}."
    )


def _lead(name: str, table: Table, columns: int, where: str) -> str:
    """How far one method's lead goes: alone means told apart from every other method."""
    rows = next(line.ranked for line in table.methods if line.method == name)
    alone = sum(row.rank_high == 1 for row in rows)
    if alone == columns:
        return f" is best on {where}."
    return (
        f" leads on {where}, alone on {alone}."
        if alone
        else f" leads on {where}, on each tied with others."
    )


def _shares(may: dict[str, int], columns: int) -> Sentence:
    """Nobody leads everywhere: who does on how many metrics."""
    leading = [(name, times) for name, times in may.items() if times]
    sentence: Sentence = [Phrase(f"None leads on {every(columns)}: ")]
    for i, (name, times) in enumerate(leading):
        sentence += [Phrase(", " if i else ""), Phrase(name, True), Phrase(f" on {times}")]
    return [*sentence, Phrase(".")]


def _chance(table: Table) -> list[Sentence]:
    """Who is nowhere told to be better than a random order, and who is told to be worse."""
    if not table.holds_against_chance:
        return []
    held = [line for line in table.methods if any(row.versus_random for row in line.ranked)]
    nowhere = [line.method for line in held if not _times(line, "better")]
    worse = [line.method for line in held if _times(line, "worse")]
    found: list[Sentence] = []
    if nowhere:
        found.append([Phrase("Nowhere better than a random order: "), *names(nowhere), Phrase(".")])
    if worse:
        found.append([Phrase("Somewhere worse than a random order: "), *names(worse), Phrase(".")])
    return found


def _times(line: Line, verdict: str) -> int:
    return sum(row.versus_random == verdict for row in line.ranked)


def removals(found: Sequence[Conflict]) -> list[Sentence]:
    """Where the removals contradict each other, one sentence a method and pair of removals."""
    grouped: dict[tuple[str, str, str], list[Conflict]] = {}
    for c in found:
        grouped.setdefault((c.method, c.here.removal, c.there.removal), []).append(c)
    return [
        [
            Phrase(f"{here} and {there} disagree on "),
            Phrase(method, True),
            Phrase(f": {', '.join(_clash(c) for c in cs)}."),
        ]
        for (method, here, there), cs in grouped.items()
    ]


def _clash(c: Conflict) -> str:
    return f"{c.metric} rank {rank(c.here)} against {rank(c.there)}"


def gaps(table: Table) -> list[Sentence]:
    """What is undefined, on how many examples, why; and where the best order was beaten."""
    told: dict[tuple[str, str], list[str]] = {}
    for line in table.lines:
        for row in (row for row in line.cells if row is not None):
            for gap in _gaps(row):
                told.setdefault((row.metric, gap), []).append(line.method)
    return [
        [Phrase(metric, True), Phrase(f" {gap}: "), *_who(found, table), Phrase(".")]
        for (metric, gap), found in told.items()
    ]


def _gaps(row: Row) -> list[str]:
    found: list[str] = []
    if row.undefined:
        tried = row.n + row.undefined
        found.append(f"is undefined on {row.undefined} of {tried} ({reasons(row.reasons)})")
    if row.normalised_reasons:
        lost = f"{row.n - row.normalised_n} of {row.n} ({reasons(row.normalised_reasons)})"
        found.append(f"has no normalised value on {lost}")
    if row.above_best and not row.control:
        found.append(f"beats the best order that was found on {row.above_best} of {row.n}")
    return found


def reasons(found: dict[str, int]) -> str:
    """Reasons with how often each occurs, where there are several."""
    return "; ".join(f"{why}: {times}" if len(found) > 1 else why for why, times in found.items())


def _who(found: Sequence[str], table: Table) -> Sentence:
    everyone = len(found) == len(table.lines) > 1
    return [Phrase("all methods and controls")] if everyone else names(found)


def facts(section: Section) -> list[tuple[str, str]]:
    """What a reader must know of a section before its tables."""
    head = section.head
    model = head.model if head.model_revision is None else f"{head.model} @ {head.model_revision}"
    return [
        ("model", model),
        ("examples", str(section.examples)),
        ("players", head.players),
        ("explained", head.target),
        ("methods ask under", head.explained_under),
        ("seed", str(head.seed)),
    ]


WARNINGS = {
    "truncated": "texts cut because the model takes no more",
    "not converged": "examples that did not converge",
}


def warning(name: str, times: int) -> str:
    """A record's warning as a person reads it.

    >>> warning("truncated", 2)
    'texts cut because the model takes no more: 2'
    """
    return f"{WARNINGS.get(name, name)}: {times}"
