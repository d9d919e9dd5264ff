"""Rows of a data set: from files, the Hub or Python code. Local data leave nothing behind."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from attrial._data_item import Row
from attrial.errors import AttrialError, near

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = pd.DataFrame

DataSet: TypeAlias = Any  # datasets.Dataset, DatasetDict or IterableDataset, which ship no types
Source: TypeAlias = (
    "str | Path | Sequence[str] | Sequence[tuple[str, str]] | Frame | DataSet | None"
)

SUFFIXES: Mapping[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
FORMATS = (*sorted(set(SUFFIXES.values())), "label_text")
PAIR = ("text", "text_pair")


@dataclass(frozen=True)
class Rows:
    """Rows, and their text and label columns where the form itself says which these are.

    Attributes:
        rows: In order.
        texts: Text columns; empty where the task has to name them.
        label: Label column; None where the task has to name it, or there is none.
        numbers: The rows' own where some were skipped; empty: 0, 1, ...
    """

    rows: Sequence[Row]
    texts: tuple[str, ...] = ()
    label: str | None = None
    numbers: tuple[int, ...] = ()


def from_path(
    path: Path,
    *,
    form: str | None = None,
    header: Sequence[str] = (),
    split: str | None = None,
    limit: int | None = None,
) -> Rows:
    """The first rows of a file, or of a folder's files of that split.

    Args:
        path: A file; or a folder that ``datasets`` saved, or that holds files named after splits.
        form: One of ``FORMATS``; None goes by the file's extension, and takes files of an unknown
            one for lines ``<label> <text>``.
        header: Column names of a CSV or TSV file that has no header line of its own.
        split: Which of a folder's files.
        limit: How many rows; None means all.

    Raises:
        AttrialError: If there is nothing there, or it isn't of that form.
    """
    if not path.exists():
        raise AttrialError(f"no data file {path}")
    if path.is_dir():
        return _from_folder(path, split, limit)
    return _from_file(path, form or SUFFIXES.get(path.suffix.lower(), "label_text"), header, limit)


def _from_folder(folder: Path, split: str | None, limit: int | None) -> Rows:
    if (folder / "dataset_dict.json").exists() or (folder / "state.json").exists():
        import datasets

        return from_memory(datasets.load_from_disk(str(folder)), split=split, limit=limit)
    known = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES)
    files = [p for p in known if split is None or p.stem.split("-")[0] == _whole(split)]
    if not files:
        names = ", ".join(p.name for p in known[:5]) or "no data files"
        raise AttrialError(f"{folder} has no file of split {split!r}, but {names}; give one file")
    parts = (_from_file(p, SUFFIXES[p.suffix.lower()], (), limit).rows for p in files)
    return Rows(list(islice((row for part in parts for row in part), limit)))


def _whole(split: str) -> str:
    """The split that a slice such as ``test[:100]`` is taken of; only the Hub knows slices."""
    return split.partition("[")[0]


def _from_file(path: Path, form: str, header: Sequence[str], limit: int | None) -> Rows:
    try:
        if form == "label_text":
            return _label_text(path, limit)
        if form == "parquet":
            return Rows(_parquet(path, limit))
        return Rows(_json(path, limit) if form == "json" else _csv(path, form, header, limit))
    except (ValueError, OSError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise AttrialError(f"{path} can't be read as {form}: {reason}") from error


def _label_text(path: Path, limit: int | None) -> Rows:
    """Lines ``<label> <text>``; blank ones are skipped, and the others keep their numbers."""
    with path.open(encoding="utf-8") as file:
        lines = dict(islice(((k, line) for k, line in enumerate(file) if line.strip()), limit))
    rows = [_labelled(line, number + 1) for number, line in lines.items()]
    return Rows(rows, ("text",), "label", tuple(lines))


def _labelled(line: str, number: int) -> Row:
    label, blank, text = line.strip().partition(" ")
    if blank:
        return {"label": label, "text": text}
    raise ValueError(f"line {number} is not '<label> <text>'")


def _csv(path: Path, form: str, header: Sequence[str], limit: int | None) -> list[Row]:
    import pandas as pd

    frame = pd.read_csv(
        path,
        sep="\t" if form == "tsv" else ",",
        names=list(header) or None,
        header=None if header else "infer",
        dtype=str,
        keep_default_na=False,  # a text may well be "None"
        nrows=limit,
    )
    return _records(frame)


def _records(frame: "Frame") -> list[Row]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(k): v for k, v in row.items()} for row in plain.to_dict("records")]


def _parquet(path: Path, limit: int | None) -> list[Row]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        batches = (batch.to_pylist() for batch in file.iter_batches(batch_size=limit or 65_536))
        return list(islice((row for batch in batches for row in batch), limit))


def _json(path: Path, limit: int | None) -> list[Row]:
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("["):
        rows = json.loads(text)
    else:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("rows must be objects")
    return list(rows[:limit])


def from_memory(data: Source, *, split: str | None = None, limit: int | None = None) -> Rows:
    """The first rows of a pandas frame, a data set, a list of texts or of pairs, or an error."""
    if isinstance(data, list | tuple):
        return _from_texts(data[:limit])
    for library, read in (("pandas", _from_frame), ("datasets", _from_dataset)):
        if library in sys.modules:  # no object of a library that isn't imported
            rows = read(data, split, limit)
            if rows is not None:
                return Rows(rows)
    raise AttrialError(
        f"data must be a path, a datasets.Dataset, a pandas frame or a list of texts, "
        f"not {type(data).__name__}"
    )


def _from_texts(data: Sequence[object]) -> Rows:
    pairs = [tuple(text) if isinstance(text, tuple | list) else (text,) for text in data]
    widths = {len(pair) for pair in pairs}
    strings = all(isinstance(text, str) for pair in pairs for text in pair)
    if not strings or not (widths <= {1} or widths <= {2}):
        raise AttrialError("a list of texts holds strings, or pairs of strings, and nothing else")
    texts = PAIR[: max(widths, default=1)]
    return Rows([dict(zip(texts, pair, strict=True)) for pair in pairs], texts)


def _from_frame(data: object, split: str | None, limit: int | None) -> list[Row] | None:
    import pandas as pd

    return _records(data.iloc[:limit]) if isinstance(data, pd.DataFrame) else None


def _from_dataset(data: DataSet, split: str | None, limit: int | None) -> list[Row] | None:
    import datasets

    if isinstance(data, datasets.DatasetDict | datasets.IterableDatasetDict):
        if split is None or _whole(split) not in data:
            raise AttrialError(f"the data set has no split {split!r}; {near(str(split), data)}")
        data = data[_whole(split)]
    if isinstance(data, datasets.IterableDataset):
        return list(islice(data, limit))
    if not isinstance(data, datasets.Dataset):
        return None
    return _some(data, limit)


def _some(data: DataSet, limit: int | None) -> list[Row]:
    count = len(data) if limit is None else min(limit, len(data))
    rows: list[Row] = data.with_format(None).select(range(count)).to_list()
    return rows


def from_hub(
    name: str,
    *,
    config: str | None,
    revision: str | None,
    split: str | None,
    limit: int | None = None,
) -> Rows:
    """The first rows of a data set of the Hugging Face Hub, or of its copy in the local cache.

    Raises:
        AttrialError: For whatever goes wrong on the way, with its reason and how to go without.
    """
    import datasets
    import huggingface_hub

    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    try:
        if not huggingface_hub.constants.HF_HUB_OFFLINE:  # asked first: load_dataset retries long
            huggingface_hub.HfApi().dataset_info(name, revision=revision, timeout=10)
        data = datasets.load_dataset(name, config, revision=revision, split=split)
    except Exception as error:
        raise AttrialError(_unreachable(name, error)) from error
    return Rows(_some(data, limit))


def _unreachable(name: str, error: Exception) -> str:
    reason = (str(error).splitlines() or [""])[0]
    return (
        f"can't load the data set {name} from the Hugging Face Hub ({type(error).__name__}: "
        f"{reason[:120]}); give a local copy instead: --data FILE --model DIR"
    )


def describe(data: Source) -> str:
    """A name for data that the user gave, for messages and records: no path of this machine."""
    if isinstance(data, str | Path):
        return Path(data).name
    if isinstance(data, list | tuple):
        return "texts"
    return f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
