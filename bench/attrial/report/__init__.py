"""Tables for people: Markdown, HTML, CSV and JSON from records, and players coloured by score."""

from collections.abc import Sequence
from pathlib import Path

from attrial import leaderboard
from attrial.errors import AttrialError, near
from attrial.files import write_text
from attrial.report import ledger
from attrial.report.checks import checks_html as checks_html
from attrial.report.checks import checks_markdown as checks_markdown
from attrial.report.checks import save_checks as save_checks
from attrial.report.grid import decimals as decimals
from attrial.report.heatmap import Word as Word
from attrial.report.heatmap import html_heatmap, terminal_heatmap
from attrial.report.heatmap import key as key
from attrial.report.html import page
from attrial.report.latex import to_latex as to_latex
from attrial.report.markdown import to_markdown
from attrial.report.matrix import html_matrix as html_matrix
from attrial.report.matrix import terminal_matrix as terminal_matrix
from attrial.report.matrix import text_matrix as text_matrix
from attrial.report.sheet import sheet as sheet
from attrial.store import Entry

__all__ = ["html_heatmap", "page", "render", "terminal_heatmap", "to_markdown", "write"]

FORMS = {"md": "md", "html": "html", "csv": "csv", "json": "json", "latex": "tex"}  # and suffixes


def render(entries: Sequence[Entry], form: str, *, command: str = "") -> str:
    """A leaderboard as text: ``md``, ``html``, ``csv``, ``json`` or ``latex``.

    Raises:
        AttrialError: If there is no such form.
    """
    if form not in FORMS:
        raise AttrialError(f"no form {form!r}: {near(form, FORMS)}")
    if form == "html":
        return page(entries, command=command)
    rows = leaderboard.rows(entries)
    if form == "md":
        about = ledger.about(entries)
        return to_markdown(rows, details=True, command=command, about=about)
    if form == "latex":
        return to_latex(rows, command=command)
    return leaderboard.to_json(rows) if form == "json" else leaderboard.to_csv(rows)


def write(entries: Sequence[Entry], folder: Path, *, command: str = "") -> None:
    """Write ``leaderboard.md``, ``.html``, ``.csv``, ``.json``, ``.tex`` into a folder, each whole.

    Raises:
        AttrialError: If one can't be written.
    """
    for form, suffix in FORMS.items():
        write_text(folder / f"leaderboard.{suffix}", render(entries, form, command=command))
