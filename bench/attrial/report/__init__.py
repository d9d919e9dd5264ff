"""Tables for people: Markdown, HTML, CSV and JSON from records, and players coloured by score."""

from collections.abc import Sequence
from pathlib import Path

from attrial import leaderboard
from attrial.errors import AttrialError, near
from attrial.files import write_text
from attrial.report.heatmap import html_heatmap, terminal_heatmap
from attrial.report.html import page
from attrial.report.markdown import to_markdown
from attrial.store import Entry

__all__ = ["html_heatmap", "page", "render", "terminal_heatmap", "to_markdown", "write"]

FORMS = ("md", "html", "csv", "json")


def render(entries: Sequence[Entry], form: str, *, command: str = "") -> str:
    """A leaderboard as text: ``md``, ``html``, ``csv`` or ``json``.

    Raises:
        AttrialError: If there is no such form.
    """
    if form not in FORMS:
        raise AttrialError(f"no form {form!r}: {near(form, FORMS)}")
    if form == "html":
        return page(entries, command=command)
    rows = leaderboard.rows(entries)
    if form == "md":
        return to_markdown(rows, details=True, command=command)
    return leaderboard.to_json(rows) if form == "json" else leaderboard.to_csv(rows)


def write(entries: Sequence[Entry], folder: Path, *, command: str = "") -> None:
    """Write ``leaderboard.md``, ``.html``, ``.csv`` and ``.json`` into a folder, each whole.

    Raises:
        AttrialError: If one can't be written.
    """
    for form in FORMS:
        write_text(folder / f"leaderboard.{form}", render(entries, form, command=command))
