"""What several commands share: kinds of options, and the command as it was typed."""

import shlex
import sys
from typing import Annotated

import typer

Many = list[str] | None
Dtype = Annotated[
    str | None, typer.Option(help="float32 (default), bfloat16, float16: of loaded models.")
]
Removed = Annotated[
    str | None,
    typer.Option(help="How players are removed. [default: mask, else attention_off]"),
]
Continuation = Annotated[
    str | None, typer.Option(help="What a language model is asked about, such as ' are'.")
]
Position = Annotated[
    int | None,
    typer.Option(help="Word (from 0) of a token classifier, or where an answer starts or ends."),
]
Choice = Annotated[Many, typer.Option(help="A choice of a multiple-choice model. To be repeated.")]
Device = Annotated[str | None, typer.Option(help="cpu (default), cuda or auto.")]


def command_line() -> str:
    """The command that runs, ready to be typed again."""
    return shlex.join(["attrial", *sys.argv[1:]])
