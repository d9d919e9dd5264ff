"""The command that explains one text or image, or a continuation token by token."""

from pathlib import Path
from typing import Annotated

import typer

from attrial.errors import AttrialError
from attrial.options import Choice, Continuation, Device, Dtype, Position, Removed

PLAYERS = "words, tokens or sentences; of an image patches, or patches(4) for a grid of 4 x 4."


def explain(
    model: Annotated[str, typer.Option(help="Folder, Hub id, or a task's name for its own.")],
    text: Annotated[str | None, typer.Option(help="The text.")] = None,
    image: Annotated[Path | None, typer.Option(help="An image file, in place of a text.")] = None,
    text_pair: Annotated[str | None, typer.Option(help="The second text of a pair.")] = None,
    method: Annotated[str, typer.Option(help="Such as 'shapley'.")] = "integrated_gradients",
    target: Annotated[
        str | None, typer.Option(help="Label; the predicted one by default. Answers: start, end.")
    ] = None,
    players: Annotated[str, typer.Option(help=PLAYERS)] = "words",
    removal: Removed = None,
    position: Position = None,
    choice: Choice = None,
    continuation: Continuation = None,
    foil: Annotated[str | None, typer.Option(help="Why not this continuation?")] = None,
    generate: Annotated[
        int | None,
        typer.Option(min=1, help="Let the model write so many tokens, and explain each of them."),
    ] = None,
    each_token: Annotated[
        bool, typer.Option("--each-token", help="Explain each token of the continuation.")
    ] = False,
    chat: Annotated[bool, typer.Option("--chat", help="Put the chat's template around.")] = False,
    seed: Annotated[int, typer.Option(help="Of all draws.")] = 0,
    dtype: Dtype = None,
    device: Device = None,
    out: Annotated[Path | None, typer.Option(help="Also write an HTML page here.")] = None,
) -> None:
    """Explain one text or image: players coloured by what they add to the model's answer."""
    from attrial import commands, explaining, generating, picturing

    others = bool(text_pair or foil or choice or position is not None)
    _check_image(image, text, others or bool(continuation) or chat or generate is not None)
    if image is not None:
        pictured = picturing.explain_image(
            model, image, method=method, target=target, players=players, removal=removal,
            seed=seed, dtype=dtype, device=device,
        )  # fmt: skip
        return commands.show_explanation(pictured, out)
    assert text is not None
    if generate is not None or each_token:
        _check_tokens(generate, continuation, others or bool(target))
        written = generating.explain_generation(
            model, text, method=method, continuation=continuation, max_new_tokens=generate or 1,
            players=players, removal=removal, chat=chat, seed=seed, dtype=dtype, device=device,
        )  # fmt: skip
        return commands.show_generation(written, out)
    found = explaining.explain(
        model, text, text_pair=text_pair, method=method, target=target, players=players,
        removal=removal, position=position, choices=choice or (), continuation=continuation,
        foil=foil, chat=chat, seed=seed, dtype=dtype, device=device,
    )  # fmt: skip
    commands.show_explanation(found, out)


def _check_image(image: Path | None, text: str | None, others: bool) -> None:
    if (image is None) == (text is None):
        raise AttrialError("give --text or --image, one of the two")
    if image is not None and others:
        raise AttrialError("an image is asked about its class alone: leave other options out")


def _check_tokens(generate: int | None, continuation: str | None, others: bool) -> None:
    """What is explained token by token: what the model writes, or what is given."""
    if (generate is None) == (continuation is None):
        raise AttrialError("give --generate, or --continuation with --each-token, one of the two")
    if others:
        raise AttrialError("tokens are explained one by one: name no other target, and no pair")
