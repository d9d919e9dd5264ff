"""The leaderboard as Markdown: verdicts and compact tables, and every number if asked for."""

from collections.abc import Mapping, Sequence

from attrial.leaderboard import Row
from attrial.report import words
from attrial.report.gaps import gaps
from attrial.report.tables import BLIND, Line, Section, Table, conflicts, sections

READ = (
    "Cells: mean and the ranks that the method may have, 1 = best; **bold**: no method is told to "
    "be better. ↑ and ↓ point to where a metric gets better. *Controls* are not ranked. "
    "≈: not told apart from a random order, <: worse than one. (n of N): defined on fewer "
    "examples than were tried."
)
STATISTICS = (
    "Intervals: 95 % percentile bootstrap of the mean over examples. Ranks: pairwise sign-flip "
    "tests on common examples, Holm's correction over all pairs of a board. Normalised: 0 at the "
    "worst order of the same input, 1 at the best."
)


def to_markdown(
    rows: Sequence[Row],
    *,
    details: bool = False,
    command: str = "",
    about: Mapping[str, str] | None = None,
) -> str:
    """The leaderboard for a terminal or a repository page.

    Args:
        rows: Of ``leaderboard.rows``.
        details: Whether tables with every number (intervals, normalised values, counts) follow.
        command: The command that makes the table again.
        about: What a task is, in a line, by its name.
    """
    found = sections(rows)
    parts = ["# Leaderboard", *(part for s in found for part in _section(s, about or {}))]
    parts += [READ, STATISTICS] if found else ["No records."]
    if details:
        parts += [part for s in found for part in _details(s)]
    if command:
        parts += ["Made by", f"```\n{command}\n```"]
    return "\n\n".join(parts) + "\n"


def _section(section: Section, about: Mapping[str, str]) -> list[str]:
    told = about.get(section.head.task, "")
    facts = " · ".join(f"{name} {plain(value)}" for name, value in words.facts(section))
    clash = [f"- {say(sentence)}" for sentence in words.removals(conflicts(section))]
    parts = [f"## {plain(section.title)}", *([plain(told)] if told else []), facts]
    parts += [part for table in section.tables for part in _table(table)]
    return [*parts, "Where the removals disagree:", "\n".join(clash)] if clash else parts


def _table(table: Table) -> list[str]:
    header = ["method", *(f"{c.metric.replace('_', ' ')} {c.arrow}" for c in table.columns)]
    lines = [[_name(line), *(_cell(row, table) for row in line.cells)] for line in table.lines]
    missing = [f"- {say(sentence)}" for sentence in gaps(table)]
    said = " ".join(say(sentence) for sentence in words.verdict(table))
    below = [*([BLIND] if table.marked else []), *(["\n".join(missing)] if missing else [])]
    return [_heading(table), said, grid(header, lines), *below]


def _heading(table: Table) -> str:
    where = f", players removed by {plain(table.removal)}" if table.family == "faithfulness" else ""
    return f"### {words.family(table.family)}{where}"


def _name(line: Line) -> str:
    older = f" (version {line.version}, older)" if line.older else ""
    if line.control:
        return f"*{line.method.replace('_', ' ')}*"
    return code(line.method) + line.mark + older


def _cell(row: Row | None, table: Table) -> str:
    if row is None or not row.applicable:
        return words.DASH if row is None else words.value(row)
    value = words.number(row.value)
    shown = f"**{value}**" if row.rank_low == 1 and row.metric in table.telling else value
    place = f" {words.rank(row)}" if row.rank_low is not None else ""
    few = f" ({row.n} of {row.n + row.undefined})" if row.undefined else ""
    return shown + place + _chance(row, table) + few


def _chance(row: Row, table: Table) -> str:
    marks = {"level": " ≈", "worse": " \\<"} if table.holds_against_chance else {}
    return marks.get(row.versus_random or "", "")


def _details(section: Section) -> list[str]:
    """Every number of a section, one table a metric."""
    parts = [f"## Every number: {plain(section.title)}"]
    for table in section.tables:
        for k, column in enumerate(table.columns):
            parts += [
                f"**{plain(column.metric)}** {column.arrow}, removal {plain(table.removal)}",
                grid(
                    ["method", "mean", "95 %", "normalised", "n", "undefined", "rank", "tied"],
                    [_numbers(line, line.cells[k]) for line in table.lines],
                ),
            ]
    return parts


def _numbers(line: Line, row: Row | None) -> list[str]:
    if row is None:
        return [_name(line), *[words.DASH] * 7]
    normal = words.number(row.normalised)
    few = (
        f" ({row.normalised_n})" if row.normalised is not None and row.normalised_n != row.n else ""
    )
    counts = [str(row.n), str(row.undefined)]
    place = [words.rank(row), row.tied or words.DASH]
    return [
        _name(line),
        words.value(row),
        words.interval(row),
        normal + few,
        *counts,
        *place,
    ]


def grid(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table whose columns line up in plain text too.

    >>> print(grid(["a", "b"], [["one", "2"]]))
    | a   | b |
    | --- | - |
    | one | 2 |
    """
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    ruled = [header, ["-" * width for width in widths], *lines]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in ruled
    )


def say(sentence: words.Sentence) -> str:
    """A sentence, its names as code."""
    return "".join(code(p.text) if p.strong else plain(p.text) for p in sentence)


def code(text: str) -> str:
    """As code, which protects underscores and brackets; a table's bar is escaped even there."""
    inside = " ".join(text.split()).replace("`", "'").replace("|", "\\|")
    return f"`{inside}`"


def plain(text: str) -> str:
    """Words of others that may not become markup."""
    flat = " ".join(text.split()) if text.strip() else text
    lead = " " if text[:1].isspace() and text.strip() else ""
    tail = " " if text[-1:].isspace() and text.strip() else ""
    for mark in "\\`*[]<>|":
        flat = flat.replace(mark, f"\\{mark}")
    return lead + flat + tail
