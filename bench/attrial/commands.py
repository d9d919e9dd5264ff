"""What the commands show: progress, tables and coloured words in a terminal."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from attrial import checker, evaluator, report
from attrial.board import Board
from attrial.checking import Checked
from attrial.errors import AttrialError
from attrial.explanation import Explanation
from attrial.files import write_text
from attrial.generation import Generation
from attrial.report import account
from attrial.store import Entry, Store


@contextmanager
def progress() -> Iterator["evaluator.Watch"]:
    """Bars with rate and time left on a terminal; nothing at all elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield evaluator.unwatched
        return
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bars:
        yield lambda name: _watch(bars, name)


def _watch(bars: Progress, name: str) -> "evaluator.Progress":
    bar = bars.add_task(name, total=None, rate="")
    started = time.monotonic()

    def update(done: int, total: int, rows: int) -> None:
        rate = rows / max(time.monotonic() - started, 1e-9)
        bars.update(bar, completed=done, total=total, rate=f"{rate:,.0f} rows/s")

    return update


@contextmanager
def check_progress() -> Iterator["checker.Progress"]:
    """One bar over methods and checks on a terminal; nothing at all elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield checker.silent
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bars:
        bar = bars.add_task("", total=None)
        yield lambda done, total, coming: bars.update(
            bar, completed=done, total=total, description=coming
        )


def show_checks(done: Checked, out: Path) -> None:
    """Print the results of checks and where their files are."""
    _print_markdown(done.markdown())
    typer.echo(f"wrote {out / 'checks.html'} (and .md, .json)", err=True)


def show(board: Board, out: Path) -> None:
    """Print a board's tables and where its files are."""
    _print_markdown(board.markdown())
    for notice in board.notices:
        typer.echo(f"note: {notice}", err=True)
    typer.echo(f"wrote {out / 'leaderboard.html'} (and .md, .csv, .json, .tex)", err=True)


def _print_markdown(text: str) -> None:
    """Tables drawn for a terminal, plain Markdown into a pipe."""
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        typer.echo(text)


def show_explanation(found: Explanation, out: Path | None) -> None:
    """Print coloured words, or a line a word into a pipe; write a page if a file is named."""
    console = Console()
    if console.is_terminal:
        console.print(found.caption, markup=False, highlight=False)
        console.print(report.terminal_heatmap(found.players, found.scores.tolist()))
        if found.interactions is not None:
            console.print(report.terminal_matrix(found.players, found.interactions))
    else:
        typer.echo(found.text())
    if found.truncated:
        typer.echo(f"note: {found.truncated} words were cut; the model takes no more", err=True)
    if out is not None:
        write_text(out, report.sheet(found.caption, found.html()))


def show_generation(found: Generation, out: Path | None) -> None:
    """Print the coloured matrix, or plain lines into a pipe; write a page if a file is named."""
    console = Console()
    if console.is_terminal:
        console.print(found.terminal())
    else:
        typer.echo(found.text())
    if out is not None:
        write_text(out, report.sheet(found.caption, found.html()))


def print_leaderboard(folders: Sequence[Path], form: str, out: Path | None) -> None:
    """Print the table of all records in some folders, or write it to a file."""
    text = report.render(_records(folders), form)
    if out is not None:
        write_text(out, text)
    elif form == "md":
        _print_markdown(text)
    else:
        typer.echo(text)


def report_on(folders: Sequence[Path], out: Path | None, command: str) -> None:
    """Write the trust report on all records in some folders, and say where it is."""
    entries = _records(folders)
    checks = account.joined([account.read_checks(folder) for folder in folders])
    paths = account.write_report(entries, out or folders[0], checks=checks, command=command)
    typer.echo(f"wrote {' and '.join(map(str, paths))}", err=True)


def _records(folders: Sequence[Path]) -> tuple[Entry, ...]:
    """All records of some folders; unreadable ones are skipped with a warning, never deleted."""
    entries: list[Entry] = []
    for folder in folders:
        if not folder.is_dir():
            raise AttrialError(f"no folder {folder}")
        store = Store(folder)
        entries += store.all()
        for warning in store.warnings:
            typer.echo(f"warning: {warning}", err=True)
    if not entries:
        raise AttrialError(f"no records in {', '.join(map(str, folders))}")
    return tuple(entries)
