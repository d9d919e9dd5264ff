r"""The leaderboard as LaTeX: one booktabs table a family, removal and four metrics."""

from collections.abc import Iterable, Sequence

from attrial.leaderboard import Row
from attrial.report import words
from attrial.report.phrases import DASH
from attrial.report.tables import BLIND, DAGGER, Column, Line, Section, Table, sections

WIDE = 4  # metrics that fit beside each other
ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    DASH: "--",
    DAGGER: r"$^\dagger$",
}


def to_latex(rows: Sequence[Row], *, command: str = "") -> str:
    r"""Tables for a paper, each with its caption; they need ``\usepackage{booktabs}``.

    Args:
        rows: Of ``leaderboard.rows``.
        command: The command that makes them again, as a comment.
    """
    found = sections(rows)
    head = ["Needs \\usepackage{booktabs}.", *([f"Made by: {command}"] if command else [])]
    parts = ["\n".join(comment(line) for line in head)]
    for section in found:
        parts.append(_provenance(section))
        parts += [part for table in section.tables for part in _tables(section, table)]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    r"""Words of others as LaTeX text, on one line.

    >>> print(escape("50 % of a_b & c"))
    50 \% of a\_b \& c
    """
    return "".join(ESCAPED.get(letter, letter) for letter in " ".join(text.split()))


def comment(text: str) -> str:
    """One line that is not typeset, whatever it holds."""
    return f"% {' '.join(text.split())}"


def _provenance(section: Section) -> str:
    head = section.head
    facts = {
        **dict(words.facts(section)),
        "data digest": head.data_digest,
        "weights": head.weights,
        "records": " ".join(dict.fromkeys(r.run for r in _rows(section))),
    }
    return "\n".join(comment(f"{name}: {value}") for name, value in facts.items())


def _rows(section: Section) -> Iterable[Row]:
    lines = (line for table in section.tables for line in table.lines)
    return (row for line in lines for row in line.cells if row is not None)


def _tables(section: Section, table: Table) -> list[str]:
    """One table, cut where it has more metrics than a page is wide."""
    starts = range(0, len(table.columns), WIDE)
    return [_table(section, table, range(k, min(k + WIDE, len(table.columns)))) for k in starts]


def _table(section: Section, table: Table, columns: range) -> str:
    header = " & ".join(["method", *(_column(table.columns[k]) for k in columns)])
    methods = [_line(line, table, columns) for line in table.lines if not line.control]
    controls = [_line(line, table, columns) for line in table.lines if line.control]
    inside = [header + r" \\", r"\midrule", *methods]
    inside += [r"\midrule", *controls] if controls and methods else controls
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering\small",
            rf"\caption{{{_caption(section, table)}}}",
            rf"\label{{{_label(section, table, columns)}}}",
            rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
            r"\toprule",
            *inside,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _column(c: Column) -> str:
    arrow = r"$\uparrow$" if c.direction == "higher" else r"$\downarrow$"
    unit = f" ({escape(c.unit)})" if c.unit else ""
    return f"{escape(c.metric.replace('_', ' '))}{unit} {arrow}"


def _line(line: Line, table: Table, columns: range) -> str:
    cells = [_cell(line.cells[k], table) for k in columns]
    return " & ".join([_name(line), *cells]) + r" \\"


def _name(line: Line) -> str:
    if line.control:
        return rf"\emph{{{escape(line.method.replace('_', ' '))}}}"
    older = f" (version {line.version}, older)" if line.older else ""
    return rf"\texttt{{{escape(line.method)}}}{escape(line.mark)}{older}"


def _cell(row: Row | None, table: Table) -> str:
    if row is None or row.value is None:
        return "--" if row is None else escape(words.value(row))
    number = _number(row.value)
    best = row.rank_low == 1 and row.metric in table.telling
    shown = rf"\mathbf{{{number}}}" if best else number
    letters = rf"^{{\mathrm{{{row.tied}}}}}" if row.tied else ""
    few = rf" ({row.n}/{row.n + row.undefined})" if row.undefined else ""
    return f"${shown}{letters}${_interval(row)}{few}"


def _number(value: float) -> str:
    return words.number(value)


def _interval(row: Row) -> str:
    if row.low is None or row.high is None or row.n < 2:
        return ""
    return rf" {{\scriptsize $[{_number(row.low)}, {_number(row.high)}]$}}"


def _caption(section: Section, table: Table) -> str:
    head = section.head
    title = words.family(table.family)
    if table.family == "faithfulness":
        title += f", players removed by {table.removal}"
    where = f"{title}: task {head.task}, model {head.model}, n = {table.examples} examples"
    how = f"players {head.players}, {head.target}, seed {head.seed}"
    return f"{escape(where)}, {escape(how)}. {READ}" + _undefined(table) + _blind(table)


READ = (
    r"Mean with 95\,\% bootstrap interval over examples; arrows point to where a metric gets "
    r"better. Methods that share a letter are not told apart (paired sign-flip tests, Holm); bold: "
    r"no method is told to be better. Controls in italics are not ranked."
)


def _undefined(table: Table) -> str:
    some = any(r is not None and r.undefined for line in table.lines for r in line.cells)
    return " (k/n): defined on k of n examples." if some else ""


def _blind(table: Table) -> str:
    return f" {escape(BLIND)}" if table.marked else ""


def _label(section: Section, table: Table, columns: range) -> str:
    names = (section.head.task, section.head.model, table.removal, table.family, str(columns.start))
    return "tab:" + "-".join(_plain(name) for name in names)


def _plain(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)
