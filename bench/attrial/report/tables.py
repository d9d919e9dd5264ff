"""Rows of a leaderboard arranged for reading: sections, tables, columns and lines. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import mean

from attrial.leaderboard import ALPHA, Row
from attrial.report.titles import apart
from attrial.stats import least_examples

Key = tuple[str, ...]
DAGGER = "\N{DAGGER}"
BLIND = f"{DAGGER} class-blind: gives every class the same scores."


@dataclass(frozen=True)
class Column:
    """One metric; the arrow points to where it gets better."""

    metric: str
    version: int
    direction: str
    unit: str

    @property
    def arrow(self) -> str:
        """Up where higher is better, else down."""
        return "↑" if self.direction == "higher" else "↓"


@dataclass(frozen=True)
class Line:
    """One method or control; ``older`` versions of a method are shown and don't compete."""

    method: str
    control: bool
    version: int
    older: bool
    cells: tuple[Row | None, ...]

    @property
    def ranked(self) -> list[Row]:
        """The cells that have a rank."""
        return [row for row in self.cells if row is not None and row.rank_low is not None]

    @property
    def mark(self) -> str:
        """A dagger on methods that say that they give every class the same scores."""
        blind = any(row is not None and row.class_specific is False for row in self.cells)
        return DAGGER if blind and not self.control else ""


@dataclass(frozen=True)
class Hole:
    """A method with fewer examples than its neighbours: on which metrics, and on how many."""

    method: str
    metrics: tuple[str, ...]
    n: int  # the fewest
    of: int  # what the best filled neighbour of that metric has
    applicable: bool


@dataclass(frozen=True)
class Table:
    """Methods by metrics, under one removal, of one family of metrics."""

    removal: str
    family: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]

    @property
    def methods(self) -> list[Line]:
        """The lines that compete."""
        return [line for line in self.lines if line.ranked]

    @property
    def marked(self) -> bool:
        """Whether a line has a mark that needs its footnote."""
        return any(line.mark for line in self.lines)

    def may_be_best(self) -> dict[str, tuple[int, int]]:
        """Method -> on how many metrics none is told to be better, of how many.

        Metrics that tell no two methods apart are left out: they name nobody.
        """
        return {
            line.method: (
                sum(row.rank_low == 1 for row in line.ranked if row.metric in self.telling),
                sum(row.metric in self.telling for row in line.ranked),
            )
            for line in self.methods
        }

    @cached_property
    def telling(self) -> frozenset[str]:
        """Metrics that tell at least one method from another: not all share a letter."""
        pairs = {(row.metric, row.tied) for line in self.methods for row in line.ranked}
        counts = Counter(metric for metric, _ in pairs)
        return frozenset(metric for metric, times in counts.items() if times > 1)

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        """Methods with fewer examples than others: their board has no overall rank."""
        lines = [line for line in self.lines if not line.control and not line.older]
        most = [
            max((_n(line.cells[k]) for line in lines), default=0) for k in range(len(self.columns))
        ]
        found = (_hole(line, self.columns, most) for line in lines)
        return tuple(hole for hole in found if hole is not None)

    @property
    def needed(self) -> int:
        """Fewest examples with which any two of the methods can be told apart."""
        m = len(self.methods)
        return least_examples(max(m * (m - 1) // 2, 1), alpha=ALPHA)

    @property
    def holds_against_chance(self) -> bool:
        """Whether there are examples enough to tell any method from a random order."""
        return self.examples >= least_examples(max(len(self.methods), 1), alpha=ALPHA)

    @property
    def examples(self) -> int:
        """How many examples were tried."""
        counts = [r.n + r.undefined for line in self.lines for r in line.cells if r is not None]
        return max(counts, default=0)


def _n(row: Row | None) -> int:
    return 0 if row is None else row.n


def _hole(line: Line, columns: Sequence[Column], most: Sequence[int]) -> Hole | None:
    missing = [k for k, n in enumerate(most) if _n(line.cells[k]) < n]
    if not missing:
        return None
    least = min(missing, key=lambda k: _n(line.cells[k]))
    names = tuple(columns[k].metric for k in missing)
    applicable = all(row is None or row.applicable for row in line.cells)
    return Hole(line.method, names, _n(line.cells[least]), most[least], applicable)


@dataclass(frozen=True)
class Section:
    """One task with one model: everything that may stand side by side.

    Attributes:
        head: Its first row, which tells what all have in common.
        tables: One for each removal and family of metrics.
        apart: What tells it from the other sections of its task, if there are any.
    """

    head: Row
    tables: tuple[Table, ...]
    apart: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """A heading that no other section has."""
        return " · ".join((self.head.task, *self.apart))

    @property
    def examples(self) -> int:
        """How many examples were tried."""
        return max(table.examples for table in self.tables)


def sections(rows: Iterable[Row]) -> list[Section]:
    """Cut the rows into sections, in their order; each section into tables."""
    cut: dict[Key, list[Row]] = {}
    for row in rows:
        cut.setdefault(section_key(row), []).append(row)
    parts = list(cut.values())
    told = apart([part[0] for part in parts])
    return [_section(part, facts) for part, facts in zip(parts, told, strict=True)]


def section_key(row: Row) -> Key:
    """What all rows of a section have in common."""
    place = (row.task, row.model, row.model_revision or "", row.weights, row.data_digest)
    drawn = row.infill or ""
    return (*place, row.players, row.target, row.explained_under, str(row.seed), drawn)


def _section(rows: Sequence[Row], facts: tuple[str, ...]) -> Section:
    cut: dict[Key, list[Row]] = {}
    for row in rows:
        cut.setdefault((row.removal, row.family), []).append(row)
    tables = [_table(part) for part in cut.values()]
    ordered = sorted(tables, key=lambda t: t.family != "faithfulness")
    return Section(rows[0], tuple(ordered), facts)


def _table(rows: Sequence[Row]) -> Table:
    columns = tuple(dict.fromkeys(_column(row) for row in rows))
    runs: dict[str, list[Row]] = {}
    for row in rows:
        runs.setdefault(row.run, []).append(row)
    newest: dict[str, int] = {}
    for row in rows:
        newest[row.method] = max(newest.get(row.method, 0), row.version)
    lines = [_line(part, columns, newest[part[0].method]) for part in runs.values()]
    return Table(rows[0].removal, rows[0].family, columns, tuple(sorted(lines, key=_reading_order)))


def _column(row: Row) -> Column:
    return Column(row.metric, row.metric_version, row.direction, row.unit)


def _line(rows: Sequence[Row], columns: Sequence[Column], newest: int) -> Line:
    cells = {_column(row): row for row in rows}
    first = rows[0]
    older = not first.control and first.version < newest
    return Line(
        first.method, first.control, first.version, older, tuple(cells.get(c) for c in columns)
    )


def _reading_order(line: Line) -> tuple[bool, bool, float]:
    """Methods before older versions before controls; by the mean middle of the rank intervals.

    Every column weighs alike, and the order says nothing else: no rank is made of it.
    """
    middles = [((row.rank_low or 0) + (row.rank_high or 0)) / 2 for row in line.ranked]
    return (line.control, line.older, mean(middles) if middles else float("inf"))


@dataclass(frozen=True)
class Conflict:
    """A method whose ranks under two removals have nothing in common."""

    metric: str
    method: str
    here: Row
    there: Row


def conflicts(section: Section) -> list[Conflict]:
    """Where the removals of a section contradict each other on a method's rank."""
    seen: dict[Key, list[Row]] = {}
    for table in section.tables:
        for row in (row for line in table.methods for row in line.ranked):
            seen.setdefault((row.metric, row.method), []).append(row)
    return [
        Conflict(metric, method, here, there)
        for (metric, method), rows in seen.items()
        for here, there in combinations(rows, 2)
        if here.removal != there.removal and _disjoint(here, there)
    ]


def _disjoint(a: Row, b: Row) -> bool:
    return (a.rank_high or 0) < (b.rank_low or 0) or (b.rank_high or 0) < (a.rank_low or 0)
