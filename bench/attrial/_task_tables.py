"""The tables of a task's TOML file, checked field by field."""

import codecs
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from attrial._data_evidence import FORMS
from attrial._data_files import FORMATS
from attrial._data_prompt import columns_of
from attrial.errors import near


class Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


def _known_format(value: str) -> str:
    if value not in FORMATS:
        raise ValueError(f"no format {value!r}; {near(value, FORMATS)}")
    return value


def _known_form(value: str) -> str:
    if value not in FORMS:
        raise ValueError(f"no form {value!r}; {near(value, FORMS)}")
    return value


def _known_encoding(value: str) -> str:
    try:
        codecs.lookup(value)
    except LookupError:
        raise ValueError(f"no encoding {value!r}; such as utf-8 or latin-1") from None
    return value


def _known_template(value: str) -> str:
    columns_of(value)
    return value


def _as_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_text(value: object) -> object:
    return [str(v) for v in value] if isinstance(value, list) else value


Format = Annotated[str, AfterValidator(_known_format)]
Form = Annotated[str, AfterValidator(_known_form)]
Encoding = Annotated[str, AfterValidator(_known_encoding)]
Template = Annotated[str, AfterValidator(_known_template)]
Texts = Annotated[tuple[str, ...], Field(min_length=1, max_length=2), BeforeValidator(_as_many)]
Values = Annotated[tuple[str, ...], BeforeValidator(_as_text)]


class HeadTable(Table):
    """What is asked of a head that isn't a sequence classifier's: one of three.

    Attributes:
        position: Of a token classifier: the column of the number of the word whose label is asked
            about, from 0 over all texts. Beside ``answer``: where the answer starts or ends.
        answer: Of an answer finder, whose texts are question and context: ``start`` or ``end``. It
            is asked about at the place that the model predicts, unless ``position`` tells another.
        choices: Of a multiple-choice model: the columns of the choices, or the one of a list of
            them. The texts are a context, and a question that is read before each choice.
    """

    position: str | None = None
    answer: Literal["start", "end"] | None = None
    choices: Annotated[tuple[str, ...], BeforeValidator(_as_many)] = ()

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.choices) == bool(self.position or self.answer):
            raise ValueError("give position, or answer, or choices")
        return self


class DataTable(Table):
    """Where the examples come from: at most one of ``hub``, ``path`` and ``generator``.

    Attributes:
        hub: Id of a data set of the Hugging Face Hub; needs ``split``.
        config: Its configuration.
        revision: Its commit, so that examples never change unseen.
        split: Which split.
        streaming: Whether rows of the Hub are fetched one by one, and not the whole split.
        path: A file or folder beside the TOML file.
        format: Of the file: csv, tsv, json (lines or a list), parquet, label_text (one
            ``<label> <text>`` a line), eraser, or verbs; by its extension if left out.
        header: Column names of a CSV or TSV file without a header line.
        encoding: Of the file's text.
        generator: A module beside the TOML file of a registered package. It defines
            ``items(*, count, seed) -> list[Item]``; the first items are the same for any count.
    """

    hub: str | None = None
    config: str | None = None
    revision: str | None = None
    split: str | None = None
    streaming: bool = False
    path: str | None = None
    format: Format | None = None
    header: tuple[str, ...] = ()
    encoding: Encoding = "utf-8"
    generator: str | None = None

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if [self.hub, self.path, self.generator].count(None) != 2:
            raise ValueError("give exactly one of hub, path and generator")
        if self.hub is None and self.streaming:
            raise ValueError("only data of the hub are streamed")
        if self.streaming and self.split is not None and "[" in self.split:
            raise ValueError("a streamed split has no slices; use limit")
        if self.hub is not None and self.split is None:
            raise ValueError("a data set of the hub needs a split")
        if self.generator is not None and not self.generator.isidentifier():
            raise ValueError(f"generator {self.generator!r} is no module name")
        return self


class ModelTable(Table):
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


class GivenTable(Table):
    """What is otherwise in files that users give instead of the task's own data.

    It counts where such data lack the task's own columns.

    Attributes:
        format: As in ``data``.
        header: As in ``data``, for files without a header line of their own.
        encoding: As in ``data``.
        text: As of the task.
        template: As of the task.
        label: As of the task.
        label_values: As of the task.
        label_until: What ends the part of a label that counts: ``":"`` makes LOC of LOC:city.
    """

    format: Format | None = None
    header: tuple[str, ...] = ()
    encoding: Encoding = "utf-8"
    text: Texts | None = None
    template: Template | None = None
    label: str | None = None
    label_values: Values = ()
    label_until: str | None = None


class RationaleTable(Table):
    """Known evidence: its column, and how it is written there.

    Attributes:
        column: Name of the column, or of one for each text of a pair. A missing value means that
            nothing is known of that row.
        form: ``spans``: [start, end] characters of the first text, or [text, start, end];
            ``flags``: a 0 or 1 for each word between white space; ``words``: the numbers of these
            words, from 0; ``ranges``: [first, behind the last] of these numbers; ``texts``: words
            as they stand in the text, at their first place; ``marked``: the text again with *words*
            in asterisks. The second text's words follow the first's.
        source: ``people``: what readers hold to be the reason, so that agreement with it is
            plausibility; ``planted``: the reason by construction, so that it is evidence.
    """

    column: str | tuple[str, str]
    form: Form = "spans"
    source: Literal["people", "planted"] = "people"


class SpansTable(Table):
    """Players that the data name: the column, and how they are written (as ``rationale``)."""

    column: str
    form: Form = "spans"


class ContinuationTable(Table):
    """What a causal language model or an encoder-decoder is asked about; one of four ways.

    Attributes:
        right: Column of the continuation that is explained.
        foil: Column of the one that it is held against.
        column: Column of a list of continuations, the right one first.
        words: Continuations that stand for the task's labels, in their order.
        minimal_pair: Columns of two sentences, the right one first. The text is what they begin
            with alike, the continuations are what follows.
        until: Of a minimal pair: whether continuations go on for a ``word`` or to the ``end``.
        joint: What stands between text and continuation if neither has white space there.
    """

    right: str | None = None
    foil: str | None = None
    column: str | None = None
    words: tuple[str, ...] = ()
    minimal_pair: tuple[str, str] | None = None
    until: Literal["word", "end"] = "word"
    joint: str = " "

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [self.right, self.column, self.words or None, self.minimal_pair]
        if ways.count(None) != 3:
            raise ValueError("give exactly one of right, column, words and minimal_pair")
        if self.foil is not None and self.right is None:
            raise ValueError("a foil needs a right one")
        return self
