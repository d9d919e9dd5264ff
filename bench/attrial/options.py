"""What several commands share: kinds of options, and the command as it was typed."""

import shlex
import sys
from typing import Annotated

import typer

Many = list[str] | None
Dtype = Annotated[
    str | None, typer.Option(help="float32 (default), bfloat16, float16: of loaded models.")
]
Device = Annotated[str | None, typer.Option(help="cpu (default), cuda or auto.")]


def command_line() -> str:
    """The command that runs, ready to be typed again."""
    return shlex.join(["attrial", *sys.argv[1:]])
