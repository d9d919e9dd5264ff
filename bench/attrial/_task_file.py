"""The TOML form of a task, checked field by field."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from attrial._data_item import FORMS
from attrial._data_rows import FORMATS
from attrial.errors import AttrialError, near
from attrial.fields import fault
from attrial.target import FUNCTIONS


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class DataTable(_Table):
    """Where the examples come from: exactly one of ``hub``, ``path`` and ``generator``.

    Attributes:
        hub: Id of a data set of the Hugging Face Hub; needs ``split``.
        config: Its configuration.
        revision: Its commit, so that examples never change unseen.
        split: Which split.
        path: A file or folder beside the TOML file.
        format: Of the file: csv, tsv, json (lines or a list), parquet, or label_text (one
            ``<label> <text>`` a line); by its extension if left out.
        header: Column names of a CSV or TSV file without a header line.
        generator: A module beside the TOML file of a registered package. It defines
            ``items(*, count, seed) -> list[Item]``; the first items are the same for any count.
    """

    hub: str | None = None
    config: str | None = None
    revision: str | None = None
    split: str | None = None
    path: str | None = None
    format: str | None = None
    header: tuple[str, ...] = ()
    generator: str | None = None

    @field_validator("format")
    @classmethod
    def _known_format(cls, value: str | None) -> str | None:
        if value is not None and value not in FORMATS:
            raise ValueError(f"no format {value!r}; {near(value, FORMATS)}")
        return value

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if [self.hub, self.path, self.generator].count(None) != 2:
            raise ValueError("give exactly one of hub, path and generator")
        if self.hub is not None and self.split is None:
            raise ValueError("a data set of the hub needs a split")
        if self.generator is not None and not self.generator.isidentifier():
            raise ValueError(f"generator {self.generator!r} is no module name")
        return self


class ModelTable(_Table):
    """The task's own model: exactly one of ``hub`` (with ``revision``) and ``folder``."""

    hub: str | None = None
    revision: str | None = None
    folder: str | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.hub is None) == (self.folder is None):
            raise ValueError("give exactly one of hub and folder")
        if self.folder is not None and self.revision is not None:
            raise ValueError("a folder has no revision")
        return self


class RationaleTable(_Table):
    """Known evidence: its column, and how it is written there.

    Attributes:
        column: Name of the column. A missing value means that nothing is known of that row.
        form: ``spans``: [start, end] characters of the first text, or [text, start, end];
            ``flags``: a 0 or 1 for each word between white space; ``words``: the numbers of these
            words, from 0. The second text's words follow the first's.
        source: ``people``: what readers hold to be the reason, so that agreement with it is
            plausibility; ``planted``: the reason by construction, so that it is evidence.
    """

    column: str
    form: str = "spans"
    source: Literal["people", "planted"] = "people"

    @field_validator("form")
    @classmethod
    def _known_form(cls, value: str) -> str:
        if value not in FORMS:
            raise ValueError(f"no form {value!r}; {near(value, FORMS)}")
        return value


class TaskFile(_Table):
    """One task as written down; its name is the file's.

    Attributes:
        description: One line for ``attrial list tasks``.
        data: Where the examples come from.
        model: The model that is asked unless the user gives another.
        text: The column of the text, or the two columns of a pair.
        label: The column of the gold label; it is only reported, never explained.
        labels: Names of the classes, in the model's order. The column holds these or 0, 1, ...
        label_values: What the column holds for each class, where it is neither.
        rationale: Known evidence.
        target: What of the predicted class is explained: log_odds, probability, ...
        players: What is scored: words or tokens.
        removals: The panel that metrics run under; methods explain under the first.
        limit: How many examples by default: the first ones.
        seed: Of a generator.
    """

    description: str = Field(min_length=1, pattern=r"^[^\n]*$")
    data: DataTable
    model: ModelTable | None = None
    text: tuple[str, ...] = Field(("text",), min_length=1, max_length=2)
    label: str | None = None
    labels: tuple[str, ...] = ()
    label_values: tuple[str, ...] = ()
    rationale: RationaleTable | None = None
    target: str = "log_odds"
    players: Literal["words", "tokens"] = "words"
    removals: tuple[str, ...] = Field(("mask",), min_length=1)
    limit: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0)

    @field_validator("text", mode="before")
    @classmethod
    def _one_text(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("label_values", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return [str(v) for v in value] if isinstance(value, list) else value

    @field_validator("target")
    @classmethod
    def _known_target(cls, value: str) -> str:
        if value not in FUNCTIONS:
            raise ValueError(f"no target function {value!r}; {near(value, FUNCTIONS)}")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.label_values and len(self.label_values) != len(self.labels):
            raise ValueError("label_values and labels differ in number")
        if self.data.generator is not None and self.limit is None:
            raise ValueError("a generated task needs a limit")
        return self


TABLES: Mapping[str, type[BaseModel]] = {
    "": TaskFile,
    "data": DataTable,
    "model": ModelTable,
    "rationale": RationaleTable,
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
        raise AttrialError(f"{folder}: {field} {name!r} must be a relative path within the folder")
    return path
