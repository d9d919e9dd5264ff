"""The trust report as text and as files."""

import json
from collections.abc import Sequence
from pathlib import Path

from attrial.check_record import FILE, SCHEMA, CheckReport
from attrial.errors import AttrialError
from attrial.files import write_text
from attrial.report.account.document import TITLE, document
from attrial.report.parts_html import html
from attrial.report.parts_markdown import markdown
from attrial.store import Entry

SUFFIXES = (".md", ".html")


def write_report(
    entries: Sequence[Entry],
    out: Path,
    *,
    checks: CheckReport | None = None,
    command: str = "",
) -> list[Path]:
    """Write the trust report: ``out`` is a file that ends in .md or .html, or a folder for both.

    Raises:
        AttrialError: If it is a file of another kind, or can't be written.
    """
    if out.suffix and out.suffix not in SUFFIXES and not out.is_dir():
        raise AttrialError(f"{out}: a report is a .md or .html file, or a folder for both")
    one = out.suffix in SUFFIXES and not out.is_dir()
    paths = [out] if one else [out / f"report{suffix}" for suffix in SUFFIXES]
    parts = document(entries, checks=checks, command=command)
    for path in paths:
        write_text(path, markdown(parts) if path.suffix == ".md" else html(TITLE, parts))
    return paths


def read_checks(folder: Path) -> CheckReport | None:
    """The results of checks in a folder, None if there are none.

    Raises:
        AttrialError: If they are there and can't be read.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        raw = json.loads(path.read_bytes())
        if raw["schema_version"] > SCHEMA:
            raise ValueError(f"schema {raw['schema_version']} is of a newer attrial")
        return CheckReport.model_validate(raw)
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = (str(error).splitlines() or [""])[0]
        raise AttrialError(f"can't read {path}: {why}") from error


def joined(found: Sequence[CheckReport | None]) -> CheckReport | None:
    """Results of several folders as one."""
    reports = [report for report in found if report is not None]
    if not reports:
        return None
    results = [result for report in reports for result in report.results]
    return CheckReport(results=results, made_with=reports[0].made_with)
