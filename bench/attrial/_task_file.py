"""The TOML form of a task: its fields, and what they must be to each other."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from attrial._data_prompt import columns_of
from attrial._task_model import Asks
from attrial._task_tables import (
    ContinuationTable,
    DataTable,
    GivenTable,
    HeadTable,
    ModelTable,
    RationaleTable,
    SpansTable,
    Table,
    Template,
    Texts,
    Values,
)
from attrial.errors import AttrialError, near
from attrial.fields import fault
from attrial.registry import plugins
from attrial.target import FUNCTIONS


class TaskFile(Table):
    """One task as written down; its name is the file's.

    Attributes:
        description: One line for ``attrial list tasks``.
        data: Where the examples come from.
        model: The model that is asked unless the user gives another.
        given: What is otherwise in files that users give instead.
        asks: Which kind of model it is for; by default a causal language model where continuations
            are asked about, an image classifier where there is an image, else a text classifier.
        image: The column of the image, in place of texts.
        grid: At most so many players a side of an image; by default 7.
        text: The column of the text, or the two columns of a pair.
        template: One text of several columns, such as ``"Q: {question} A: {answer}"``. Its own
            words always stay; ``text`` then names the columns that evidence speaks of.
        label: The column of the gold label; it is only reported, never explained.
        labels: Names of the classes, in the model's order. The column holds these or 0, 1, ...
        label_values: What the column holds for each class, where it is neither.
        label_until: What ends the part of a label that counts.
        rationale: Known evidence.
        spans: The players, where these are spans.
        continuation: What a language model is asked about; classifiers have classes instead.
        head: What a token classifier, an answer finder or a multiple-choice model is asked.
        target: What of the predicted class is explained: log_odds, probability, ...
        players: What is scored: words, tokens, sentences or spans; patches of images.
        removals: The panel that metrics run under; methods explain under the first.
        limit: How many examples by default: the first ones.
        seed: Of a generator.
    """

    description: str = Field(min_length=1, pattern=r"^[^\n]*$")
    data: DataTable | None = None
    given: GivenTable = GivenTable()
    asks: Asks | None = None
    model: ModelTable | None = None
    text: Texts | None = None
    template: Template | None = None
    image: str | None = None
    grid: int | None = Field(None, ge=1)
    label: str | None = None
    labels: tuple[str, ...] = ()
    label_values: Values = ()
    label_until: str | None = None
    rationale: RationaleTable | None = None
    spans: SpansTable | None = None
    continuation: ContinuationTable | None = None
    head: HeadTable | None = None
    target: str = "log_odds"
    players: Literal["words", "tokens", "sentences", "spans", "patches"] = "words"
    removals: tuple[str, ...] = Field(("mask",), min_length=1)
    limit: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0)

    @field_validator("target")
    @classmethod
    def _known_target(cls, value: str) -> str:
        if value not in FUNCTIONS:
            raise ValueError(f"no target function {value!r}; {near(value, FUNCTIONS)}")
        return value

    @field_validator("removals")
    @classmethod
    def _known_removals(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        known = plugins("removals")
        for name in value:
            if name not in known:
                raise ValueError(f"no removal {name!r}; {near(name, known)}")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.label_values and len(self.label_values) != len(self.labels):
            raise ValueError("label_values and labels differ in number")
        if self.data and self.data.generator is not None and self.limit is None:
            raise ValueError("a generated task needs a limit")
        if (self.players == "spans") != (self.spans is not None) and not _generated(self):
            raise ValueError('players = "spans" and a [spans] table need each other')
        words = self.continuation.words if self.continuation else ()
        if words and self.labels and len(words) != len(self.labels):
            raise ValueError("continuation.words and labels differ in number")
        return self

    @model_validator(mode="after")
    def _texts(self) -> Self:
        told = columns_of(self.template) if self.template else self.text or ()
        if self.image and (
            self.text or self.template or self.spans or self.continuation or self.head
        ):
            raise ValueError("image stands in place of texts: leave those out")
        if self.text and not set(self.text) <= set(told):
            raise ValueError("text names a column that the template lacks")
        pair = self.continuation and self.continuation.minimal_pair
        if pair and (self.text or self.template or self.spans):
            raise ValueError("the text of a minimal pair is what both sentences begin with")
        return self


def shows(file: TaskFile) -> bool:
    """Whether its examples are images."""
    return file.image is not None or file.asks == "image classifier"


def _generated(file: TaskFile) -> bool:
    return file.data is not None and file.data.generator is not None


TABLES: Mapping[str, type[BaseModel]] = {
    "": TaskFile,
    "data": DataTable,
    "given": GivenTable,
    "model": ModelTable,
    "rationale": RationaleTable,
    "spans": SpansTable,
    "continuation": ContinuationTable,
    "head": HeadTable,
}


def read(path: Path) -> TaskFile:
    """Read and check a task's TOML file.

    Raises:
        AttrialError: One line that names the file and the field.
    """
    if not path.is_file():
        raise AttrialError(f"no task file {path}")
    try:
        return TaskFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AttrialError(f"{path}: not TOML: {error}") from None
    except ValidationError as error:
        raise AttrialError(f"{path}: {fault(error, TABLES)}") from None


def inside(folder: Path, name: str, *, field: str) -> Path:
    """A path written in a TOML file: relative to the file's folder, and never out of it.

    Raises:
        AttrialError: If it is absolute or leaves the folder, be it by a link.
    """
    base, path = folder.resolve(), (folder / name).resolve()
    if Path(name).is_absolute() or not path.is_relative_to(base):
        raise AttrialError(
            f"{field} {name!r} must be a relative path within the folder of the task's file"
        )
    return path
