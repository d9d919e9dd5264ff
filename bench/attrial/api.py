"""What notebooks call: run a trial, explain a text."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrial.board import Board
from attrial.evaluator import Progress
from attrial.task import Source

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    Loaded = tuple[PreTrainedModel, PreTrainedTokenizerBase]
    ModelLike = str | Path | Loaded


def run(
    tasks: Sequence[str | Path] = (),
    methods: Sequence[str] = (),
    *,
    models: "Sequence[ModelLike] | ModelLike" = (),
    data: Source = None,
    metrics: Sequence[str] = (),
    removals: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    batch_tokens: int | None = None,
    progress: "Callable[[str], Progress] | None" = None,
) -> Board:
    """Try methods on tasks and return the board."""
