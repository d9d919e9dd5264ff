"""What the tables say, in words and in figures for reading. Pure."""

from collections.abc import Sequence

from attrial.leaderboard import Row
from attrial.report.phrases import DASH as DASH
from attrial.report.phrases import Phrase as Phrase
from attrial.report.phrases import Sentence as Sentence
from attrial.report.phrases import count as count
from attrial.report.phrases import every as every
from attrial.report.phrases import names as names
from attrial.report.phrases import number as number
from attrial.report.tables import BLIND as BLIND
from attrial.report.tables import Conflict, Hole, Line, Section, Table

FAMILIES = {
    "faithfulness": "Faithfulness",
    "evidence": "Known evidence",
    "plausibility": "Plausibility: agreement with people, which is not faithfulness",
    "complexity": "Concentration: says nothing of right or wrong",
}


def value(row: Row) -> str:
    """The mean; of a method that the model can't answer, that it is not applicable."""
    return number(row.value) if row.applicable else "n/a"


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
    if table.holes:
        return _refusal(table)
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


def _refusal(table: Table) -> Sentence:
    """Means over unlike examples have no overall rank; each metric still has its own."""
    sentence: Sentence = [Phrase("No overall rank, as cells are missing: ")]
    for i, hole in enumerate(table.holes):
        sentence += [Phrase(", " if i else ""), Phrase(hole.method, True), Phrase(_missing(hole))]
    may = {name: times for name, (times, _) in table.may_be_best().items() if times}
    sentence.append(Phrase(f". Of {count(len(table.telling), 'metric')} that tell methods apart, "))
    if not may:
        return [*sentence, Phrase("no method with all values may be best on any.")]
    for i, (name, times) in enumerate(may.items()):
        lead = f" may be best on {times}" if i == 0 else f" on {times}"
        sentence += [Phrase(", " if i else ""), Phrase(name, True), Phrase(lead)]
    return [*sentence, Phrase(".")]


def _missing(hole: Hole) -> str:
    if not hole.applicable:
        return " (not applicable)"
    where = hole.metrics[0] if len(hole.metrics) == 1 else count(len(hole.metrics), "metric")
    return f" ({where}: {hole.n} of {hole.of})"


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


def facts(section: Section) -> list[tuple[str, str]]:
    """What a reader must know of a section before its tables."""
    head = section.head
    model = head.model if head.model_revision is None else f"{head.model} @ {head.model_revision}"
    drawn = [("stand-ins by", head.infill)] if head.infill else []
    return [
        ("model", model),
        *drawn,
        ("examples", str(section.examples)),
        ("players", head.players),
        ("explained", head.target.replace("_", "-")),
        ("methods ask under", head.explained_under),
        ("seed", str(head.seed)),
    ]


WARNINGS = {
    "truncated": "texts cut because the model takes no more",
    "not converged": "examples that did not converge",
    "bounded": "examples so long that it asked less than it was set to",
    "bounded search": "examples so long that the best and worst order were searched within a bound",
}


def warning(name: str, times: int) -> str:
    """A record's warning as a person reads it.

    >>> warning("truncated", 2)
    'texts cut because the model takes no more: 2'
    """
    return f"{WARNINGS.get(name, name)}: {times}"
