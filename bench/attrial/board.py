"""A board: what a run found, as rows, tables and files."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attrial import leaderboard, report
from attrial.report import account, ledger
from attrial.store import Entry

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Board:
    """The records of a run and the table that they make.

    Attributes:
        entries: Every record with its per-example trials.
        notices: What a reader must know: cells that are not applicable, texts that were cut.
        command: The command that makes it again, if one is known.
    """

    entries: tuple[Entry, ...]
    notices: tuple[str, ...] = ()
    command: str = ""

    @cached_property
    def rows(self) -> Sequence[leaderboard.Row]:
        """One row per task, model, removal, method and metric, ranked within its board."""
        return leaderboard.rows(self.entries)

    def frame(self) -> "pd.DataFrame":
        """The rows as a pandas frame."""
        return leaderboard.frame(self.rows)

    def markdown(self) -> str:
        """The tables as Markdown."""
        return report.to_markdown(self.rows, about=ledger.about(self.entries))

    def save(self, folder: str | Path) -> None:
        """Write ``leaderboard.md``, ``.html``, ``.csv``, ``.json`` and ``.tex`` into a folder."""
        report.write(self.entries, Path(folder), command=self.command)

    def report(self, out: str | Path) -> list[Path]:
        """Write the trust report: ``report.md`` and ``.html`` into a folder, or one file.

        Results of ``attrial check`` that lie in the folder are shown in it.

        Raises:
            AttrialError: If it is a file of another kind, or can't be written.
        """
        where = Path(out)
        checks = account.read_checks(where if where.is_dir() else where.parent)
        return account.write_report(self.entries, where, checks=checks, command=self.command)

    def _repr_html_(self) -> str:
        return str(self.frame().to_html())
