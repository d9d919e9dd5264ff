"""The trust report as parts: verdict first, then what it rests on, then where it comes from."""

from collections.abc import Mapping, Sequence

from attrial import leaderboard
from attrial.check_record import CheckReport
from attrial.report import ledger, words
from attrial.report.account import agreement, changes, measures, ranks, verdicts
from attrial.report.account.provenance import provenance
from attrial.report.parts import Bullets, Heading, Part, note
from attrial.report.tables import Section, sections
from attrial.store import Entry
from attrial.trust import Findings, Ground, Trust, trust

TITLE = "How far this board can be trusted"
LEAD = (
    "Computed from records alone. Nothing is called better unless the examples tell it apart; what "
    "is undefined is counted, and nothing is summed up into one score."
)


def document(
    entries: Sequence[Entry], *, checks: CheckReport | None = None, command: str = ""
) -> list[Part]:
    """All parts of the report on these records.

    Args:
        entries: Records with their trials, in any order; of a run that is there twice, one.
        checks: Results of checks, shown beside the task and model that they are about.
        command: What makes the report again.
    """
    unique = {e.record.spec.digest: e for e in entries}
    ordered = [e for _, e in sorted(unique.items())]
    found = trust(ordered)
    by_run = _by_run(sections(leaderboard.rows(ordered)))
    parts: list[Part] = [Heading(1, TITLE), note(LEAD), *_summary(found, by_run)]
    for number, part in enumerate(found.parts):
        section = _section(part.ground, by_run)
        parts += _chapter(f"task-{number + 1}", part, section, checks)
    grounds = [part.ground for part in found.parts]
    made = [Heading(2, "Provenance", "provenance"), *provenance(ordered, grounds, command)]
    return [*parts, *_overall(found), *made]


def _summary(found: Trust, by_run: Mapping[str, Section]) -> list[Part]:
    """The verdicts of all tasks before anything else, where there are several."""
    if len(found.parts) < 2:
        return []
    chapters = [_section(part.ground, by_run) for part in found.parts]
    items = [s for section in chapters for s in verdicts.told(section, f"{section.title}. ")]
    return [Heading(2, "In short", "short"), Bullets(tuple(items))]


def _by_run(found: Sequence[Section]) -> dict[str, Section]:
    lines = ((s, line) for s in found for table in s.tables for line in table.lines)
    return {row.run: s for s, line in lines for row in line.cells if row is not None}


def _section(ground: Ground, by_run: Mapping[str, Section]) -> Section:
    """The section that the same records make."""
    runs = (e.record.spec.digest for e in ground.entries)
    return next(by_run[run] for run in runs if run in by_run)


def _overall(found: Trust) -> list[Part]:
    if not found.overall:
        return []
    title = Heading(2, "Over all tasks", "overall")
    told = (ledger.told(part.ground.entries) for part in found.parts)
    kinds = sorted({one.asks for one in told if one.asks})
    return [title, *ranks.over_tasks(found.overall), *ranks.mixed(kinds)]


def _chapter(
    anchor: str, found: Findings, section: Section, checks: CheckReport | None
) -> list[Part]:
    titled: list[tuple[str, list[Part]]] = [
        ("Verdict", verdicts.verdict(section, found)),
        ("Against known evidence", verdicts.evidence(found.concords)),
        ("What changes the verdict", changes.changes(found)),
        ("What the examples can tell", verdicts.power(found)),
        ("Where metrics disagree", agreement.metrics(found)),
        ("Where methods disagree", agreement.methods(found)),
        ("Methods over blocks", [*ranks.over_examples(found), *ranks.strengths(found)]),
        ("The tables", measures.families(section)),
        ("Sanity and robustness", measures.checks(checks, section)),
        ("Cost", measures.costs(found)),
        ("What is missing", verdicts.missing(section)),
    ]
    about = ledger.told(found.ground.entries).about
    facts = [*([note(about)] if about else []), _facts(section)]
    parts: list[Part] = [Heading(2, _title(section), anchor), *facts]
    for k, (title, inside) in enumerate(titled):
        parts += [Heading(3, title, f"{anchor}-{k + 1}"), *inside]
    return parts


def _title(section: Section) -> str:
    return " · ".join(dict.fromkeys((section.head.task, section.head.model, *section.apart)))


def _facts(section: Section) -> Part:
    return note(" · ".join(f"{name}: {value}" for name, value in words.facts(section)))
