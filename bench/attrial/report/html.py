"""The leaderboard page: one self-contained HTML file without scripts, made from records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from attrial import leaderboard
from attrial.leaderboard import Row
from attrial.report import ledger, words
from attrial.report.figures import Figure, Sample, figures, samples, styles
from attrial.report.gaps import gaps
from attrial.report.glance import Glance, Stop, place
from attrial.report.tables import Conflict, Line, Section, Table, conflicts, sections
from attrial.report.template import render
from attrial.store import Entry


@dataclass(frozen=True)
class Panel:
    """One table of a section with what it says in words."""

    table: Table
    title: str
    brief: str
    short: str
    verdict: list[words.Sentence]
    gaps: list[words.Sentence]
    chance: Mapping[str, float]  # metric -> normalised value of the random order


@dataclass(frozen=True)
class Chapter:
    """One task with one model, ready to be drawn."""

    anchor: str
    section: Section
    told: ledger.Told
    panels: list[Panel]
    warnings: list[str]
    disagreements: list[words.Sentence]
    clashing: frozenset[tuple[str, str, str]]  # removal, metric, method
    figures: list[list[Figure]]  # a row for each removal
    samples: list[Sample]
    costs: list[ledger.CostLine]
    notes: list[ledger.NoteLine]
    seconds: float
    peak_gigabytes: float


def page(entries: Sequence[Entry], *, command: str = "") -> str:
    """The page of all records, as text.

    Args:
        entries: Records with their trials, in any order.
        command: The command that makes it again, shown at the foot.
    """
    rows = leaderboard.rows(entries)
    by_run = {e.record.spec.digest: e for e in reversed(entries)}
    labels = sorted({r.method for r in rows if not r.control})
    style = styles(labels)
    chapters = _chapters(sections(rows), by_run, style)
    everything = list(by_run.values())
    return render(
        "leaderboard.html.jinja",
        chapters=chapters,
        glance=_glance(chapters, labels),
        methods=len(labels),
        metrics=len({r.metric for r in rows}),
        removals=list(dict.fromkeys(r.removal for r in rows)),
        command=command,
        versions=ledger.versions(everything),
        method_plugins=ledger.plugins(
            e.record.spec.method for e in everything if not e.record.spec.control
        ),
        metric_plugins=ledger.plugins(
            m for e in everything for m in e.record.spec.metrics.values()
        ),
        specs=_specs(chapters, by_run),
        words=words,
        alpha=leaderboard.ALPHA,
    )


def _chapters(
    found: Sequence[Section], by_run: Mapping[str, Entry], style: Mapping[str, str]
) -> list[Chapter]:
    """Tasks for one kind of model stand together."""
    chapters = [_chapter(i, section, by_run, style) for i, section in enumerate(found)]
    return sorted(chapters, key=lambda chapter: chapter.told.asks)


def _chapter(
    number: int, section: Section, by_run: Mapping[str, Entry], style: Mapping[str, str]
) -> Chapter:
    entries = [by_run[run] for run in _runs(section)]
    found = conflicts(section)
    order = [line.method for line in section.tables[0].lines]
    return Chapter(
        anchor=f"task-{number + 1}",
        section=section,
        told=ledger.told(entries),
        panels=[_panel(table) for table in section.tables],
        warnings=_warnings(entries),
        disagreements=words.removals(found),
        clashing=_clashing(found),
        figures=[list(row) for _, row in groupby(figures(entries, style), key=lambda f: f.removal)],
        samples=samples(ledger.own(entries), order),
        costs=ledger.costs(entries),
        notes=ledger.notes(entries),
        seconds=ledger.seconds(entries),
        peak_gigabytes=ledger.peak_gigabytes(entries),
    )


def _runs(section: Section) -> list[str]:
    cells = (c for t in section.tables for line in t.lines for c in line.cells if c is not None)
    return list(dict.fromkeys(cell.run for cell in cells))


def _panel(table: Table) -> Panel:
    title = brief = words.family(table.family)
    short = table.family
    if table.family == "faithfulness":
        title, brief = f"{title} · players removed by {table.removal}", f"{title} · {table.removal}"
        short = table.removal
    said, missing = words.verdict(table), gaps(table)
    return Panel(table, title, brief, short, said, missing, _chance(table.lines))


def _glance(chapters: Sequence[Chapter], labels: Sequence[str]) -> Glance:
    return Glance(tuple(labels), tuple(_stop(chapter, labels) for chapter in chapters))


def _stop(ch: Chapter, labels: Sequence[str]) -> Stop:
    places = tuple(place(p.table, p.short, p.title, labels) for p in ch.panels)
    return Stop(ch.anchor, ch.section, ch.told.about, ch.told.asks, places)


def _chance(lines: Sequence[Line]) -> dict[str, float]:
    control: list[Row] = [
        c for line in lines if line.method == "random_order" for c in line.cells if c is not None
    ]
    return {row.metric: row.normalised for row in control if row.normalised is not None}


def _warnings(entries: Sequence[Entry]) -> list[str]:
    found = []
    for name, by in ledger.warnings(entries).items():
        for method, times in by.items():
            prefix = f"{method}: " if method else ""
            found.append(prefix + words.warning(name, times))
    return found


def _clashing(found: Sequence[Conflict]) -> frozenset[tuple[str, str, str]]:
    return frozenset((r.removal, r.metric, r.method) for c in found for r in (c.here, c.there))


def _specs(chapters: Sequence[Chapter], by_run: Mapping[str, Entry]) -> list[Entry]:
    """One record a chapter: it tells where the data and the model come from."""
    return [by_run[_runs(chapter.section)[0]] for chapter in chapters]
