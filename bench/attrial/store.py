"""A folder of records: what is finished, what is half done, and what models have answered.

``runs/DIGEST/record.json`` with ``examples.parquet`` beside it is a finished run; the record is
written last, so a folder without one is unfinished and holds ``part-00003.json`` files.
``memory/KEY.npz`` holds remembered outputs. Every file is written whole or not at all.
"""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter

from attrial import trials_table
from attrial.errors import AttrialError
from attrial.files import write_bytes, write_text
from attrial.masks import Floats, Masks
from attrial.record import SCHEMA, Record, Trial

NAME = re.compile(r"[0-9a-f]{8,64}")  # of a run or a memory: nothing else becomes a path
PART = re.compile(r"part-(\d{5,})\.json")
TRIALS = TypeAdapter(list[Trial])
# What reading a broken or foreign file raises (JSON and validation errors are ValueErrors).
BROKEN = (
    OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError,
    pa.ArrowException, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A finished run: its record and what was measured for every example."""

    record: Record
    trials: list[Trial]


@dataclass(frozen=True)
class Store:
    """Records, checkpoints and memory below one folder.

    Attributes:
        folder: Made when something is first put.
        warnings: One line for each file that could not be read and was passed over. Such a file is
            never deleted: a record that takes its place moves it aside.
    """

    folder: Path
    warnings: list[str] = field(default_factory=list, compare=False)

    def has(self, digest: str) -> bool:
        """Whether a finished and readable run of this name is there."""
        return self._read(digest) is not None

    def get(self, digest: str) -> Entry:
        """A finished run.

        Raises:
            AttrialError: If there is none, or it can't be read.
        """
        run = self._run(digest)
        if not (run / "record.json").exists():
            raise AttrialError(f"no record {run}")
        try:
            return _entry(run)
        except BROKEN as error:
            raise AttrialError(f"unreadable record {run}: {_reason(error)}") from error

    def all(self) -> list[Entry]:
        """Every finished and readable run, in order of their digests."""
        runs = self.folder / "runs"
        names = sorted(p.name for p in runs.iterdir()) if runs.is_dir() else []
        found = [self._read(name) for name in names if NAME.fullmatch(name)]
        return [entry for entry in found if entry is not None]

    def put(self, record: Record, trials: Sequence[Trial]) -> None:
        """Keep a finished run; the record is written last.

        Raises:
            AttrialError: If it can't be written.
        """
        run = self._run(record.spec.digest)
        if (run / "record.json").exists() and not self.has(record.spec.digest):
            _set_aside(run)
        text = json.dumps(record.model_dump(mode="json"), indent=1, allow_nan=False)
        write_bytes(run / "examples.parquet", trials_table.to_bytes(trials))
        write_text(run / "record.json", text + "\n")

    def put_part(self, digest: str, index: int, trials: Sequence[Trial]) -> None:
        """Keep one chunk of an unfinished run.

        Raises:
            AttrialError: If it can't be written.
        """
        text = json.dumps([trial.model_dump() for trial in trials])
        write_text(self._run(digest) / f"part-{index:05d}.json", text)

    def parts(self, digest: str) -> dict[int, list[Trial]]:
        """Readable chunks of an unfinished run, by their number."""
        run = self._run(digest)
        names = sorted(p.name for p in run.iterdir()) if run.is_dir() else []
        found = [
            (match, self._part(run / match.group()))
            for match in map(PART.fullmatch, names)
            if match
        ]
        return {int(match[1]): trials for match, trials in found if trials is not None}

    def _part(self, path: Path) -> list[Trial] | None:
        try:
            return TRIALS.validate_python(json.loads(path.read_bytes()))
        except BROKEN as error:
            self._warn(path, error)
            return None

    def clear_parts(self, digest: str) -> None:
        """Remove the chunks of a run that is finished."""
        run = self._run(digest)
        for path in sorted(run.iterdir()) if run.is_dir() else []:
            if PART.fullmatch(path.name):
                path.unlink(missing_ok=True)

    def put_outputs(self, key: str, masks: Masks, outputs: Floats) -> None:
        """Remember what a model answered: masks (k, n) bool and outputs (k, classes).

        Raises:
            AttrialError: If it can't be written.
        """
        buffer = io.BytesIO()
        np.savez_compressed(buffer, masks=masks, outputs=outputs)
        write_bytes(self._memory(key), buffer.getvalue())

    def get_outputs(self, key: str) -> tuple[Masks, Floats] | None:
        """What is remembered under a key, or None."""
        path = self._memory(key)
        try:
            return _outputs(path) if path.exists() else None
        except BROKEN as error:
            self._warn(path, error)
            return None

    def _read(self, digest: str) -> Entry | None:
        run = self._run(digest)
        try:
            return _entry(run) if (run / "record.json").exists() else None
        except BROKEN as error:
            self._warn(run, error)
            return None

    def _warn(self, path: Path, error: Exception) -> None:
        line = f"skipped {path}: {_reason(error)}"
        if line not in self.warnings:
            self.warnings.append(line)

    def _run(self, digest: str) -> Path:
        return self.folder / "runs" / _safe(digest)

    def _memory(self, key: str) -> Path:
        return self.folder / "memory" / f"{_safe(key)}.npz"


def _safe(name: str) -> str:
    if not NAME.fullmatch(name):
        raise AttrialError(f"{name!r} names no run: a digest has 8 to 64 of 0-9 and a-f")
    return name


def _entry(run: Path) -> Entry:
    raw = json.loads((run / "record.json").read_bytes())
    if raw["schema_version"] > SCHEMA:
        raise ValueError(f"schema {raw['schema_version']} is of a newer attrial")
    record = Record.model_validate(raw)
    return Entry(record, trials_table.from_bytes((run / "examples.parquet").read_bytes()))


def _outputs(path: Path) -> tuple[Masks, Floats]:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as kept:
        masks, outputs = kept["masks"], kept["outputs"]
    if masks.dtype != bool or outputs.dtype != np.float64 or masks.ndim != 2 or outputs.ndim != 2:
        raise ValueError("arrays of the wrong kind")
    if len(masks) != len(outputs):
        raise ValueError(f"{len(masks)} masks, {len(outputs)} outputs")
    return masks, outputs


def _set_aside(run: Path) -> None:
    """Move an unreadable run's files out of the way of the one that takes its place."""
    number = 1 + sum(p.name.startswith("record.json.unreadable-") for p in run.iterdir())
    try:
        for name in ("record.json", "examples.parquet"):
            if (run / name).exists():
                (run / name).rename(run / f"{name}.unreadable-{number}")
    except OSError as error:
        raise AttrialError(f"can't move {run / name} aside: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """The first line of what went wrong."""
    return (str(error).splitlines() or [""])[0].strip() or type(error).__name__
