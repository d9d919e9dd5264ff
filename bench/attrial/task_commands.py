"""Commands about tasks themselves."""

from pathlib import Path
from typing import Annotated

import typer

task = typer.Typer(help="Look into tasks before they are run.", no_args_is_help=True)


@task.callback()
def _tasks() -> None:
    """Look into tasks before they are run."""


@task.command()
def check(
    name: Annotated[str, typer.Argument(help="A task's name or TOML file.")],
    data: Annotated[
        Path | None, typer.Option(help="Local file or folder to read instead of the task's data.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Folder or Hub id of a model; the task's own by default.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Instead of the task's.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many examples.")] = 10,
) -> None:
    """Load ten examples and say what was understood, and what is wrong: a line each.

    Exits with 2 where anything is wrong.
    """
    from attrial.task_check import check_task

    found = check_task(name, data=data, model=model, split=split, limit=limit)
    typer.echo(found.text())
    if found.faults:
        raise typer.Exit(2)
