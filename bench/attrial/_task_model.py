"""A task, ready to be read: where its examples come from, and what is asked of them."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from attrial._data_files import Form
from attrial._data_item import Columns

Asks = Literal[
    "text classifier",
    "causal language model",
    "encoder-decoder",
    "image classifier",
    "token classifier",
    "answer finder",
    "multiple-choice model",
]


class Frozen(BaseModel):
    """What nothing changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class File(Frozen):
    """Data in a local file or folder; ``name`` is how the TOML file calls it."""

    path: Path
    name: str
    format: str | None = None
    header: tuple[str, ...] = ()
    encoding: str = "utf-8"


class Given(Frozen):
    """What is otherwise in data that users give: how files are written, and their columns."""

    form: Form = Form()
    columns: Columns | None = None


class Hub(Frozen):
    """Data of the Hugging Face Hub."""

    name: str
    config: str | None = None
    revision: str | None = None
    streaming: bool = False


class Generated(Frozen):
    """Data that a module of a registered package makes from a seed."""

    module: str


class Task(Frozen):
    """A task, ready to be read. ``_task_file.TaskFile`` explains the fields that come from TOML.

    Attributes:
        name: The TOML file's stem.
        origin: Where the examples come from; None where the user has to give them.
        split: Which split of it.
        columns: Where texts, label and evidence stand in a row.
        model: Folder (absolute) or Hub id of its own model, or None.
        model_revision: Of a model on the Hub.
        given: What counts for data that users give and that lack these columns.
        asks: Which kind of model it is for.
        rationale: Whether the known evidence is what people hold to be the reason.
    """

    name: str
    description: str
    origin: File | Hub | Generated | None = None
    split: str | None = None
    columns: Columns = Columns(("text",))
    given: Given = Given()
    model: str | None = None
    model_revision: str | None = None
    asks: Asks = "text classifier"
    rationale: bool = False
    target: str = "log_odds"
    players: str = "words"
    removals: tuple[str, ...] = ("mask",)
    limit: int | None = None
    seed: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes, in the model's order."""
        return self.columns.labels

    @property
    def source(self) -> str:
        """Where the examples come from, without any path of this machine."""
        origin = self.origin
        if origin is None:
            return "given by the user"
        return origin.module if isinstance(origin, Generated) else origin.name

    @property
    def revision(self) -> str | None:
        """Commit of data on the Hub."""
        return self.origin.revision if isinstance(self.origin, Hub) else None

    @property
    def needs(self) -> str:
        """What must be there to run it as it stands; empty for nothing."""
        remote = self.model is not None and not Path(self.model).is_absolute()
        hub = "the Hugging Face Hub" if remote or isinstance(self.origin, Hub) else ""
        data = "--data FILE" if self.origin is None else ""
        return ", ".join(filter(None, (hub, data, "" if self.model else "--model DIR")))
