"""Results of checks as Markdown, as a page, and as files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from attrial.check_record import FILE, CheckReport, CheckResult, Verdict
from attrial.files import write_text
from attrial.report.template import render

ORDER: tuple[Verdict, ...] = ("fail", "flagged", "undefined", "pass", "not applicable")
PIPE = "\\|"  # a bar that is no border of a cell
MARKS: dict[Verdict, str] = {
    "pass": "pass",
    "fail": "**FAIL**",
    "flagged": "*flagged*",
    "undefined": "undefined",
    "not applicable": "n/a",
}


def number(value: float | None) -> str:
    """Three digits, or nothing."""
    return "" if value is None else f"{value:.3g}"


def grid(results: Sequence[CheckResult]) -> tuple[list[str], list[str]]:
    """Methods and checks, each once, in the order of the results."""
    methods, checks = ([getattr(r, k) for r in results] for k in ("method", "check"))
    return list(dict.fromkeys(methods)), list(dict.fromkeys(checks))


def ordered(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Method by method, what went wrong first."""
    methods, checks = grid(results)
    return sorted(
        results,
        key=lambda r: (methods.index(r.method), ORDER.index(r.verdict), checks.index(r.check)),
    )


def checks_markdown(report: CheckReport) -> str:
    """A table of methods by checks, and below it every result with its numbers and sentence."""
    methods, checks = grid(report.results)
    cells = {(r.method, r.check): MARKS[r.verdict] for r in report.results}
    lines = ["# Checks", "", title(report.results), ""]
    lines += _table(
        ["check", *methods],
        [[check, *(cells.get((m, check), "") for m in methods)] for check in checks],
    )
    for method in methods:
        mine = [r for r in ordered(report.results) if r.method == method]
        lines += ["", f"## {method}", ""]
        lines += _table(["check", "value", "95 %", "null", "n", "verdict", "why"], map(_row, mine))
    return "\n".join(lines) + "\n"


def title(results: Sequence[CheckResult]) -> str:
    """Of what the results are, in one line."""
    if not results:
        return "Nothing was checked."
    r = results[0]
    return f"{r.task}, {r.model} (weights {r.weights[:12]}, data {r.data_digest}, seed {r.seed})"


def _row(r: CheckResult) -> list[str]:
    between = f"{number(r.low)} to {number(r.high)}" if r.low is not None else ""
    missing = "; ".join(f"{count} x {why}" for why, count in r.undefined.items())
    said = f"{r.sentence} (without a value: {missing})" if missing else r.sentence
    return [
        r.check, number(r.value), between, number(r.null), str(r.n), MARKS[r.verdict], said,
    ]  # fmt: skip


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', PIPE) for cell in line)} |" for line in lines]


def checks_html(report: CheckReport) -> str:
    """One page that needs nothing else; all text from outside is escaped."""
    methods, checks = grid(report.results)
    return render(
        "checks.html.jinja",
        title=title(report.results),
        methods=methods,
        checks=checks,
        cells={(r.method, r.check): r for r in report.results},
        results=ordered(report.results),
        number=number,
        made_with=report.made_with,
    )


def save_checks(report: CheckReport, folder: Path) -> None:
    """Write ``checks.json``, ``checks.md`` and ``checks.html``, each whole or not at all."""
    write_text(folder / FILE, report.model_dump_json(indent=1) + "\n")
    write_text(folder / "checks.md", checks_markdown(report))
    write_text(folder / "checks.html", checks_html(report))
