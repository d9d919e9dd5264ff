"""Rows of attributions that were made elsewhere: from files, frames and plain Python; no pickle."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from attrial.errors import AttrialError

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = pd.DataFrame

Row = Mapping[str, object]
COLUMNS = ("id", "text", "text_pair", "players", "scores", "method", "target")
FORMS: Mapping[str, str] = {
    ".parquet": "parquet",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON lines",
}


@dataclass(frozen=True)
class Sheet:
    """Rows as they were found, with what a record must say of their source.

    Attributes:
        name: Names the method of rows that name none: the file's stem.
        shipped_by: The file's name and the sha256 of its content; never a path of this machine.
        rows: Where each stands, for messages, and what it holds.
    """

    name: str
    shipped_by: str
    rows: tuple[tuple[str, Row], ...]


def from_file(path: Path) -> Sheet:
    """The rows of a Parquet file, or of a file of JSON lines (or of one JSON list).

    Raises:
        AttrialError: If it can't be read, isn't of its form, or is empty; a broken line is named.
    """
    form = FORMS.get(path.suffix.lower())
    if form is None:
        raise AttrialError(f"{path}: give a file of {', '.join(FORMS)}")
    if not path.is_file():
        raise AttrialError(f"{path} is a folder" if path.is_dir() else f"no file {path}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AttrialError(f"{path} can't be read: {error.strerror}") from None
    rows = tuple(_parquet(path, data) if form == "parquet" else _json(path, data))
    if not rows:
        raise AttrialError(f"{path} is empty: it holds no attribution")
    return Sheet(path.stem, f"file {path.name} sha256 {_digest(data)}", rows)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def _parquet(path: Path, data: bytes) -> Iterator[tuple[str, Row]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(pa.BufferReader(data)) as file:
            known = [name for name in file.schema_arrow.names if name in COLUMNS]
            rows: list[Row] = file.read(columns=known).to_pylist()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise AttrialError(f"{path} can't be read as parquet: {_first_line(error)}") from None
    for number, row in enumerate(rows):
        yield f"{path}, row {number}", row


def _json(path: Path, data: bytes) -> Iterator[tuple[str, Row]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AttrialError(f"{path} is no UTF-8 text: {error.reason}, byte {error.start}") from None
    if text.lstrip().startswith("["):
        yield from _json_list(path, text)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", _object(f"{path}, line {number}", line)


def _json_list(path: Path, text: str) -> Iterator[tuple[str, Row]]:
    for number, row in enumerate(_parsed(str(path), text)):
        yield f"{path}, row {number}", _as_row(f"{path}, row {number}", row)


def _object(place: str, line: str) -> Row:
    (row,) = _parsed(place, f"[{line}]")
    return _as_row(place, row)


def _parsed(place: str, text: str) -> list[object]:
    try:
        found: list[object] = json.loads(text)
    except json.JSONDecodeError as error:
        raise AttrialError(f"{place}: broken JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise AttrialError(f"{place}: broken JSON: {_first_line(error)}") from None
    return found


def _as_row(place: str, row: object) -> Row:
    if not isinstance(row, Mapping):
        raise AttrialError(f"{place}: a JSON object is expected, not {json.dumps(row)[:40]}")
    return row


def from_memory(name: str, rows: Iterable[object]) -> Sheet:
    """Rows that Python code holds; their content stands in for a file's.

    Raises:
        AttrialError: If there is none, or one is no mapping.
    """
    found = tuple((f"{name}, row {i}", _mapping(f"{name}, row {i}", r)) for i, r in enumerate(rows))
    if not found:
        raise AttrialError(f"{name} is empty: it holds no attribution")
    text = json.dumps([row for _, row in found], default=_plain, sort_keys=True)
    return Sheet(name, f"rows sha256 {_digest(text.encode())}", found)


def _mapping(place: str, row: object) -> Row:
    if not isinstance(row, Mapping):
        raise AttrialError(f"{place}: a dict is expected, not a value of type {type(row).__name__}")
    return {str(k): v for k, v in row.items() if k in COLUMNS}


def _plain(value: object) -> object:
    """Arrays and their numbers as JSON takes them; whatever else by its type alone."""
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) else type(value).__name__


def from_frame(name: str, frame: "Frame") -> Sheet:
    """The rows of a pandas frame."""
    kept = frame[[column for column in frame.columns if column in COLUMNS]].astype(object)
    return from_memory(name, kept.where(kept.notna(), None).to_dict("records"))


def from_columns(name: str, columns: Mapping[str, Sequence[object]]) -> Sheet:
    """Rows from a dict of columns.

    Raises:
        AttrialError: If columns differ in length.
    """
    try:
        rows = list(zip(*columns.values(), strict=True))
    except (TypeError, ValueError):
        raise AttrialError(f"{name}: all columns are lists of one length") from None
    return from_memory(name, [dict(zip(columns, row, strict=True)) for row in rows])


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0].strip() or type(error).__name__
