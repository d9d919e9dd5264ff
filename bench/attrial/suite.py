"""Which tasks, models, methods, metrics and removals are tried: a TOML file or the default."""

import tomllib
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from attrial.errors import AttrialError
from attrial.fields import fault

EXAMPLES = {"dtype": "bfloat16", "device": "cuda"}
DEFAULT = Path(__file__).with_name("default_suite.toml")


class Suite(BaseModel):
    """What a run is asked to try; empty fields are filled by the tasks or the default suite.

    Attributes:
        tasks: Names of registered tasks, or paths of TOML files (relative to the suite's folder).
        models: Hub ids or folders; empty means each task's own.
        methods: Calls such as ``occlusion`` or ``integrated_gradients(steps=30)``; ``all`` stands
            for every registered one.
        metrics: Calls; those that need known evidence are left out where there is none.
        removals: The panel; empty means each task's own. Methods explain under the first.
        limit: Examples a task, the first ones; None means each task's own.
        seed: Of all draws.
        budget: Model rows an example for every method that samples; None means each one's own.
        infill: Folder or Hub id of a masked language model that draws stand-ins for removed words;
            None means the words of the texts that are tried.
        dtype: Of models that are loaded from a folder or the Hub: ``float32`` unless another one
            is asked for, whatever the checkpoint's.
        device: Where they run: ``cpu`` unless ``cuda`` or ``auto`` is asked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    removals: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    budget: int | None = None
    infill: str | None = None
    dtype: str | None = None
    device: str | None = None


def suite_of(
    tasks: Sequence[str | Path] = (),
    methods: Sequence[str | Path] = (),
    *,
    metrics: Sequence[str | Path] = (),
    removals: Sequence[str] = (),
    limit: int | None = None,
    budget: int | None = None,
    seed: int = 0,
    infill: str | Path | None = None,
    dtype: str | None = None,
    device: str | None = None,
) -> Suite:
    """A suite from Python's arguments.

    Raises:
        AttrialError: If one is of the wrong kind: ``methods="lime"``, ``limit=1.5``.
    """
    return Suite(
        tasks=_names("tasks", tasks),
        methods=_names("methods", methods),
        metrics=_names("metrics", metrics),
        removals=_names("removals", removals),
        limit=None if limit is None else _whole("limit", limit),
        budget=None if budget is None else _whole("budget", budget),
        seed=_whole("seed", seed),
        infill=None if infill is None else str(infill),
        dtype=_name("dtype", dtype),
        device=_name("device", device),
    )


def _names(name: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str | Path) or not isinstance(given, Sequence):
        raise AttrialError(f"{name} takes a list, such as {name}=[...]; not {given!r} bare")
    for one in given:
        if not isinstance(one, str | Path):
            raise AttrialError(f"{name} takes names or paths, not {one!r}")
    return tuple(map(str, given))


def _name(name: str, given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise AttrialError(f"{name}={given!r}; it takes a name, such as {EXAMPLES[name]!r}")
    return given


def _whole(name: str, given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise AttrialError(f"{name}={given!r}; it takes a whole number")
    return int(given)


def read_suite(path: Path) -> Suite:
    """Read a suite from a TOML file.

    Raises:
        AttrialError: If it is missing, no TOML, or a field is unknown or wrong: the line names it.
    """
    if not path.is_file():
        raise AttrialError(f"no suite file {path}")
    try:
        suite = Suite.model_validate(tomllib.loads(path.read_text()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AttrialError(f"{path}: not TOML: {error}") from None
    except ValidationError as error:
        raise AttrialError(f"{path}: {fault(error, {'': Suite})}") from None
    tasks = tuple(str(path.parent / t) if t.endswith(".toml") else t for t in suite.tasks)
    return suite.model_copy(update={"tasks": tasks})


def default_suite() -> Suite:
    """The embedded suite."""
    return read_suite(DEFAULT)
