"""Commands for attributions that are made elsewhere: what is to be scored, and how it fares."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attrial.options import Device, Dtype, Many, command_line

Task = Annotated[
    str | None, typer.Option(help="Whose examples are explained: a name or a TOML file.")
]
Model = Annotated[
    str | None, typer.Option(help="Folder or Hub id of the classifier; the task's own by default.")
]
Data = Annotated[
    Path | None, typer.Option(help="Local file or folder to read instead of the task's data.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="First examples of the task.")]


def players(
    task: Task = None,
    model: Model = None,
    data: Data = None,
    limit: Limit = None,
    out: Annotated[Path | None, typer.Option(help="File to write instead of printing.")] = None,
) -> None:
    """Print what is to be scored, a JSON line an example: id, text, players and target."""
    from attrial import scoring
    from attrial.files import write_text

    rows = scoring.players(task, model=model, data=data, limit=limit)
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    if out is None:
        typer.echo(lines)
    else:
        write_text(out, lines + "\n")
        typer.echo(f"wrote {out}; add a list of scores to each line for attrial score", err=True)


def score(
    files: Annotated[
        list[Path],
        typer.Argument(help="Parquet or JSON lines: id or text, players, scores; method, target."),
    ],
    task: Task = None,
    model: Model = None,
    data: Data = None,
    method: Annotated[
        Many, typer.Option(help="Of attrial, on the same board. May be repeated.")
    ] = None,
    metric: Annotated[Many, typer.Option(help="Such as 'aopc'. May be repeated.")] = None,
    removal: Annotated[Many, typer.Option(help="How players are removed.")] = None,
    limit: Limit = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Model rows an example for methods that sample.")
    ] = None,
    infill: Annotated[
        str | None, typer.Option(help="Masked language model that draws stand-ins for words.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all draws.")] = 0,
    dtype: Dtype = None,
    device: Device = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Examples without a row count as undefined.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for records and tables.")] = Path("attrial-out"),
) -> None:
    """Score attributions that were made elsewhere, beside controls and attrial's own methods."""
    from attrial import commands, scoring

    with commands.progress() as shown:
        board = scoring.score(
            files, task, model=model, data=data, methods=method or (), metrics=metric or (),
            removals=removal or (), limit=limit, budget=budget, infill=infill, seed=seed,
            dtype=dtype, device=device, partial=partial, out=out, watch=shown,
            command=command_line(),
        )  # fmt: skip
    commands.show(board, out)
