"""One table a family of metrics, the checks, and the cost: never mixed, never summed up. Pure."""

from attrial.check_record import CheckReport, CheckResult
from attrial.report import words
from attrial.report.account.places import heading
from attrial.report.parts import Cell, Part, Table, figure, head, note, plain
from attrial.report.phrases import DASH
from attrial.report.tables import BLIND, Line, Section
from attrial.report.tables import Table as Board
from attrial.row import Row
from attrial.trust import Findings
from attrial.trust.costs import Point, Price


def families(section: Section) -> list[Part]:
    """The boards of a section, one table each: mean, ranks that may be, letters."""
    blind = [note(BLIND)] if any(table.marked for table in section.tables) else []
    return [*(_board(table) for table in section.tables), note(FAMILIES), *blind]


FAMILIES = (
    "Mean over examples, then the ranks that the method may have (1 = best) with letters: methods "
    "that share a letter are not told apart. Bold: none is told to be better. (n of N): defined "
    "on fewer examples. Controls, in italics, are not ranked. Arrows point to where a metric gets "
    "better."
)


def _board(table: Board) -> Table:
    header = (
        Cell("method"),
        *(Cell(f"{c.metric} {c.arrow}", number=True) for c in table.columns),
    )
    rows = tuple((_name(line), *(_cell(row, table) for row in line.cells)) for line in table.lines)
    controls = tuple(i for i, line in enumerate(table.lines) if line.control)
    return Table(header, rows, heading(table.removal, table.family), controls=controls)


def _name(line: Line) -> Cell:
    older = f" (version {line.version}, older)" if line.older else ""
    return Cell(line.method + line.mark + older, code=not line.control)


def _cell(row: Row | None, table: Board) -> Cell:
    if row is None:
        return Cell(DASH, number=True)
    place = f" ({words.rank(row)}{row.tied and ' ' + row.tied})" if row.rank_low else ""
    few = f" ({row.n} of {row.n + row.undefined})" if row.undefined and row.applicable else ""
    best = row.rank_low == 1 and row.metric in table.telling
    interval = f"95 %: {words.interval(row)}; normalised {words.number(row.normalised)}"
    return Cell(words.value(row) + place + few, strong=best, note=interval, number=True)


def checks(found: CheckReport | None, section: Section) -> list[Part]:
    """Sanity and robustness of the methods on this task, if they were checked."""
    own = [r for r in found.results if _same(r, section)] if found else []
    if not own:
        return [plain("No checks of these methods on this task are among the records "
                      "(attrial check makes them).")]  # fmt: skip
    names = list(dict.fromkeys(r.check for r in own))
    methods = list(dict.fromkeys(r.method for r in own))
    by = {(r.method, r.check): r for r in own}
    rows = tuple(
        (Cell(m, code=True), *(_check(by.get((m, name))) for name in names)) for m in methods
    )
    return [Table((Cell("method"), *(Cell(n, code=True) for n in names)), rows)]


def _same(r: CheckResult, section: Section) -> bool:
    return (r.task, r.weights) == (section.head.task, section.head.weights)


def _check(r: CheckResult | None) -> Cell:
    if r is None:
        return Cell(DASH)
    value = "" if r.value is None else f" {words.number(r.value)}"
    return Cell(r.verdict + value, strong=r.verdict == "fail", note=r.sentence)


def costs(found: Findings) -> list[Part]:
    """What each method asked for, and which methods nothing dominates."""
    table = Table(
        head("method", "rows", "new rows", "gradients", "attention", "passes"),
        tuple(_price(p) for p in found.prices),
        "Cost of one explanation, mean per example",
    )
    if not found.prices:
        return [plain("No record tells what its method asked for.")]
    seconds = max(p.seconds for p in found.prices)
    peak = max(p.peak_bytes for p in found.prices) / 1e9
    return [
        table,
        note(
            "Rows: masks asked about; new rows: those that nobody had asked before. Passes: rows, "
            "twice the gradients (forward and backward) and attention passes. The run that made "
            f"these records took {seconds:.1f} s, {peak:.2f} GB at the peak, all methods and "
            "metrics together."
        ),
        *_fronts(found),
    ]


def _price(p: Price) -> tuple[Cell, ...]:
    numbers = (p.rows, p.computed, p.slopes, p.attends, p.passes)
    return (Cell(p.method, code=True), *(figure(v if v else None, digits=1) for v in numbers))


def _fronts(found: Findings) -> list[Part]:
    rows = [
        (Cell(metric, code=True), Cell("; ".join(_point(p) for p in points if p.front)))
        for metric, points in found.fronts.items()
    ]
    if not rows:
        return []
    return [
        Table(head("metric", "on the front, cheapest first"), tuple(rows), "Quality against cost"),
        note(
            "On the front: no other method reaches as good a mean for as few passes. Means carry "
            "uncertainty: a method may be on it by chance. No weights are set between quality and "
            "cost, so there is no overall score."
        ),
    ]


def _point(p: Point) -> str:
    return f"{p.method} ({words.number(p.quality)} for {p.passes:,.0f})"
