"""The command line: run, explain, list, report and more. Heavy imports wait inside the commands."""

import os
import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from attrial import explain_command, outside_commands, task_commands
from attrial.choices import Format, Kind
from attrial.errors import AttrialError
from attrial.options import Device, Dtype, Many, command_line

app = typer.Typer(
    name="attrial",
    help="Puts attribution methods for Transformers on trial.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.command()
def run(
    suite: Annotated[
        Path | None,
        typer.Argument(help="A suite file (TOML); the embedded suite if none is given."),
    ] = None,
    task: Annotated[Many, typer.Option(help="A task's name or TOML file. May be repeated.")] = None,
    model: Annotated[
        Many, typer.Option(help="Folder or Hub id; the task's own by default. May be repeated.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Local file or folder to read instead of the task's data.")
    ] = None,
    method: Annotated[
        Many, typer.Option(help="Such as 'integrated_gradients(steps=30)', a .py file, or 'all'.")
    ] = None,
    metric: Annotated[Many, typer.Option(help="Such as 'aopc'. May be repeated.")] = None,
    removal: Annotated[
        Many, typer.Option(help="How players are removed; methods explain under the first.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="First examples of each task.")] = None,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="Model rows an example for every method that samples."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of all draws. [default: 0]")] = None,
    infill: Annotated[
        str | None, typer.Option(help="Masked language model that draws stand-ins for words.")
    ] = None,
    dtype: Dtype = None,
    device: Device = None,
    out: Annotated[Path, typer.Option(help="Folder for records and tables.")] = Path("attrial-out"),
    batch_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens in one forward pass, padding included.")
    ] = None,
) -> None:
    """Try methods on tasks; print the leaderboard and write records and tables."""
    from attrial import api, commands
    from attrial.suite import Suite, read_suite

    asked = read_suite(suite) if suite else Suite()
    given = {
        "tasks": task, "models": model, "methods": method, "metrics": metric,
        "removals": removal, "limit": limit, "seed": seed, "budget": budget, "infill": infill,
        "dtype": dtype, "device": device,
    }  # fmt: skip
    asked = asked.model_copy(update={k: _frozen(v) for k, v in given.items() if v is not None})
    with commands.progress() as shown:
        board = api.run_suite(
            asked,
            data=data,
            out=out,
            batch_tokens=batch_tokens,
            watch=shown,
            command=command_line(),
        )
    commands.show(board, out)


app.add_typer(task_commands.task, name="task")
app.command()(outside_commands.players)
app.command()(outside_commands.score)


@app.command()
def check(
    methods: Annotated[
        Many, typer.Argument(help="Methods: names, calls or .py files, as with --method.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="A task's name or TOML file. [default: planted_keyword]")
    ] = None,
    method: Annotated[Many, typer.Option(help="Such as 'attention_rollout', or 'all'.")] = None,
    check: Annotated[Many, typer.Option(help="Such as 'determinism'; all by default.")] = None,
    model: Annotated[
        str | None, typer.Option(help="Folder or Hub id of a classifier; the task's by default.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Local file or folder to read instead of the task's data.")
    ] = None,
    shuffled_model: Annotated[
        str | None, typer.Option(help="A model of its kind, trained on shuffled labels.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="First examples of the task.")] = 10,
    seed: Annotated[int, typer.Option(help="Of all draws.")] = 0,
    dtype: Dtype = None,
    device: Device = None,
    out: Annotated[Path, typer.Option(help="Folder for checks.json, .md, .html.")] = Path(
        "attrial-out"
    ),
) -> None:
    """Check methods: do they depend on the model, repeat themselves, stand noise and padding?"""
    from attrial import checking, commands

    with commands.check_progress() as shown:
        done = checking.check(
            [*(methods or ()), *(method or ())], task, checks=check or (), model=model, data=data,
            shuffled_model=shuffled_model, limit=limit, seed=seed, dtype=dtype, device=device,
            out=out, watch=shown,
        )  # fmt: skip
    commands.show_checks(done, out)


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


app.command()(explain_command.explain)


@app.command("list")
def list_plugins(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    name: Annotated[
        str | None, typer.Argument(help="One of them, or a .py file: all that is said of it.")
    ] = None,
) -> None:
    """List what is installed: declarations, options with defaults, and who ships it.

    A table on a terminal; tab-separated lines, the first one the header, into a pipe.
    """
    import shutil

    from attrial import listing

    if name is not None:
        typer.echo(listing.one(kind.value, name))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in listing.lines(kind.value, width):
        typer.echo(line)


@app.command()
def leaderboard(
    folders: Annotated[list[Path], typer.Argument(help="Folders that runs wrote.")],
    format: Annotated[Format, typer.Option(help="Form of the table.")] = Format.md,
    out: Annotated[Path | None, typer.Option(help="File to write instead of printing.")] = None,
) -> None:
    """Make the table of all records in the folders."""
    from attrial import commands

    commands.print_leaderboard(folders, format.value, out)


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(help="Folders that runs wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(help="A .md or .html file, or a folder for both. [default: the first folder]"),
    ] = None,
) -> None:
    """Tell how far the boards of the folders can be trusted: a report from records alone."""
    from attrial import commands

    commands.report_on(folders, out, command_line())


Usage = cast(type[typer.BadParameter], typer.BadParameter.__base__)  # wrong options and arguments


def main() -> None:
    """Run the command line; a fault of the input is one line (``ATTRIAL_TRACEBACK`` shows more)."""
    try:
        sys.exit(app(standalone_mode=False))
    except Usage as error:
        if error.format_message():  # without a word the help was shown instead
            from attrial.fields import plainly

            typer.echo(f"attrial: {plainly(error.format_message())}", err=True)
        sys.exit(2)
    except typer.Abort:
        sys.exit(1)
    except AttrialError as error:
        if os.environ.get("ATTRIAL_TRACEBACK"):
            raise
        typer.echo(f"attrial: {error}", err=True)
        sys.exit(2)
