"""Rows of files, form by form."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from attrial import _data_eraser
from attrial._data_item import Row
from attrial.errors import AttrialError

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = pd.DataFrame

SUFFIXES: Mapping[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}


@dataclass(frozen=True)
class Rows:
    """Rows, and their text and label columns where the form itself says which these are.

    Attributes:
        rows: In order.
        texts: Text columns; empty where the task has to name them.
        label: Label column; None where the task has to name it, or there is none.
        numbers: The rows' own where some were skipped; empty: 0, 1, ...
        evidence: Column of the evidence and its form, where the form says so.
        revision: Commit of data of the Hub, where it is known.
    """

    rows: Sequence[Row]
    texts: tuple[str, ...] = ()
    label: str | None = None
    numbers: tuple[int, ...] = ()
    evidence: tuple[str, str] | None = None
    revision: str | None = None


@dataclass(frozen=True)
class Form:
    """How a file is written.

    Attributes:
        name: One of ``FORMATS``; None goes by the extension, and takes files of an unknown one for
            lines ``<label> <text>``.
        header: Column names of a CSV or TSV file without a header line of its own.
        encoding: Of its text.
    """

    name: str | None = None
    header: tuple[str, ...] = ()
    encoding: str = "utf-8"

    def of(self, path: Path) -> str:
        """The name of a file's form."""
        if self.name is not None:
            return self.name
        if _data_eraser.is_archive(path):
            return "eraser"
        if path.suffix == ".text" and path.with_suffix(".gold").exists():
            return "verbs"
        return SUFFIXES.get(path.suffix.lower(), "label_text")


def read(path: Path, form: Form, split: str | None, limit: int | None) -> Rows:
    """The first rows of a file.

    Raises:
        AttrialError: If it isn't of that form; the line says what is wrong.
    """
    name = form.of(path)
    try:
        return FORMATS[name](path, form, split, limit)
    except UnicodeDecodeError:
        raise AttrialError(
            f"{path} can't be read as {name}: it isn't {form.encoding}; name its encoding in the "
            'task, such as encoding = "latin-1"'
        ) from None
    except (ValueError, OSError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise AttrialError(f"{path} can't be read as {name}: {reason}") from error


def _label_text(path: Path, form: Form, split: str | None, limit: int | None) -> Rows:
    """Lines ``<label> <text>``; blank ones are skipped, and the others keep their numbers."""
    with path.open(encoding=form.encoding) as file:
        lines = dict(islice(((k, line) for k, line in enumerate(file) if line.strip()), limit))
    rows = [_labelled(line, number + 1) for number, line in lines.items()]
    return Rows(rows, ("text",), "label", tuple(lines))


def _labelled(line: str, number: int) -> Row:
    label, blank, text = line.strip().partition(" ")
    if blank:
        return {"label": label, "text": text}
    raise ValueError(f"line {number} is not '<label> <text>'")


def _csv(path: Path, form: Form, split: str | None, limit: int | None) -> Rows:
    import pandas as pd

    tabs = form.of(path) == "tsv"
    frame = pd.read_csv(
        path,
        sep="\t" if tabs else ",",
        names=list(form.header) or None,
        header=None if form.header else "infer",
        dtype=str,
        keep_default_na=False,  # a text may well be "None"
        nrows=limit,
        encoding=form.encoding,
    )
    return Rows(records(frame))


def records(frame: "Frame") -> list[Row]:
    """The rows of a pandas frame; what is missing there is None."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(k): v for k, v in row.items()} for row in plain.to_dict("records")]


def first_line(path: Path, form: Form) -> tuple[str, ...]:
    """What stands in the first line of a CSV or TSV file: the names of its columns, if it has any.

    Of other forms, and of what can't be read, nothing.
    """
    if path.is_dir() or form.of(path) not in ("csv", "tsv"):
        return ()
    mark = "\t" if form.of(path) == "tsv" else ","
    with path.open(encoding=form.encoding, errors="replace", newline="") as file:
        return tuple(next(csv.reader(file, delimiter=mark), ()))


def _parquet(path: Path, form: Form, split: str | None, limit: int | None) -> Rows:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        batches = (batch.to_pylist() for batch in file.iter_batches(batch_size=limit or 65_536))
        return Rows(list(islice((row for batch in batches for row in batch), limit)))


def _json(path: Path, form: Form, split: str | None, limit: int | None) -> Rows:
    text = path.read_text(encoding=form.encoding)
    if text.lstrip().startswith("["):
        rows = json.loads(text)
    else:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("rows must be objects")
    return Rows(list(rows[:limit]))


def _verbs(path: Path, form: Form, split: str | None, limit: int | None) -> Rows:
    """Sentences (``X.text``) with their verbs (``X.gold``) as minimal pairs.

    A line of ``X.gold`` holds the number of a word, its right and its wrong form and the number of
    nouns that lead astray. Lines whose two forms are the same ask nothing: they are skipped, and
    the others keep their numbers. Linzen et al. 2016; Gulordava et al. 2018.
    """
    golds = path.with_suffix(".gold").read_text(encoding=form.encoding).splitlines()
    lines = path.read_text(encoding=form.encoding).splitlines()
    found = ((i, _verb(*pair, i + 1)) for i, pair in enumerate(zip(lines, golds, strict=True)))
    kept = dict(
        islice(((i, row) for i, row in found if row["sentence_good"] != row["sentence_bad"]), limit)
    )
    return Rows(list(kept.values()), numbers=tuple(kept))


def _verb(line: str, gold: str, number: int) -> Row:
    words, (place, right, wrong, attractors) = line.split(), gold.split("\t")
    at, end = int(place), words.index("<eos>") if "<eos>" in words else None
    if words[at].lower() != right.lower():
        raise ValueError(f"line {number}: word {at} is {words[at]!r}, not {right!r}")
    other = wrong.lower() if words[at].islower() else wrong
    good, bad = ([*words[:at], verb, *words[at + 1 : end]] for verb in (words[at], other))
    pair = {"sentence_good": " ".join(good), "sentence_bad": " ".join(bad)}
    return {**pair, "attractors": int(attractors)}


def _eraser(path: Path, form: Form, split: str | None, limit: int | None) -> Rows:
    rows = _data_eraser.rows(path, split, limit)
    return Rows(rows, ("review",), "label", evidence=("evidences", "ranges"))


FORMATS: Mapping[str, Callable[[Path, Form, str | None, int | None], Rows]] = {
    "csv": _csv,
    "eraser": _eraser,
    "json": _json,
    "label_text": _label_text,
    "parquet": _parquet,
    "tsv": _csv,
    "verbs": _verbs,
}
