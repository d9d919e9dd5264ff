"""Rows of a data set: from files, the Hub or Python code. Local data leave nothing behind."""

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from attrial import _data_eraser
from attrial._data_files import SUFFIXES, Form, Rows, read, records
from attrial._data_images import files, folder_rows
from attrial._data_item import Row
from attrial.errors import AttrialError, near

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = pd.DataFrame

DataSet: TypeAlias = Any  # datasets.Dataset, DatasetDict or IterableDataset, which ship no types
Source: TypeAlias = (
    "str | Path | Sequence[str] | Sequence[tuple[str, str]] | Frame | DataSet | None"
)
PAIR = ("text", "text_pair")


def from_path(
    path: Path, *, form: Form | None = None, split: str | None = None, limit: int | None = None
) -> Rows:
    """The first rows of a file, or of a folder's files of that split.

    Args:
        path: A file; or a folder that ``datasets`` saved, that holds files named after splits, or
            that is a release of ERASER.
        form: How the file is written; by its extension if left out.
        split: Which of a folder's files.
        limit: How many rows; None means all.

    Raises:
        AttrialError: If there is nothing there, or it isn't of that form.
    """
    if not path.exists():
        raise AttrialError(f"no data file {path}")
    if path.is_dir() and not _data_eraser.is_release(path):
        return _from_folder(path, split, limit)
    if path.is_dir():
        return read(path, Form("eraser"), split, limit)
    return read(path, form or Form(), split, limit)


def _from_folder(folder: Path, split: str | None, limit: int | None) -> Rows:
    if (folder / "dataset_dict.json").exists() or (folder / "state.json").exists():
        import datasets

        return from_memory(datasets.load_from_disk(str(folder)), split=split, limit=limit)
    if shows_images(folder):
        return Rows(folder_rows(folder, limit))
    known = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES)
    files = [p for p in known if split is None or p.stem.split("-")[0] == _whole(split)]
    if not files:
        names = ", ".join(p.name for p in known[:5])
        if not known:
            raise AttrialError(f"{folder} holds neither images nor files of {', '.join(SUFFIXES)}")
        raise AttrialError(f"{folder} has no file of split {split!r}, but {names}; give one file")
    parts = (read(p, Form(), split, limit).rows for p in files)
    return Rows(list(islice((row for part in parts for row in part), limit)))


def shows_images(place: Path) -> bool:
    """Whether it is a folder of image files that no table goes with."""
    if not place.is_dir() or (place / "dataset_dict.json").exists():
        return False
    tables = any(p.suffix.lower() in SUFFIXES for p in place.iterdir())
    return not tables and bool(files(place))


def _whole(split: str) -> str:
    """The split that a slice such as ``test[:100]`` is taken of; only the Hub knows slices."""
    return split.partition("[")[0]


def from_memory(data: Source, *, split: str | None = None, limit: int | None = None) -> Rows:
    """The first rows of a pandas frame, a data set, a list of texts or of pairs, or an error."""
    if isinstance(data, list | tuple):
        return _from_texts(data[:limit])
    for library, rows_of in (("pandas", _from_frame), ("datasets", _from_dataset)):
        if library in sys.modules:  # no object of a library that isn't imported
            rows = rows_of(data, split, limit)
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

    return records(data.iloc[:limit]) if isinstance(data, pd.DataFrame) else None


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
    return some(data, limit)


def some(data: DataSet, limit: int | None) -> list[Row]:
    """The first rows of a data set, as plain values."""
    count = len(data) if limit is None else min(limit, len(data))
    rows: list[Row] = data.with_format(None).select(range(count)).to_list()
    return rows


def describe(data: Source) -> str:
    """A name for data that the user gave, for messages and records: no path of this machine."""
    if isinstance(data, str | Path):
        return Path(data).name
    if isinstance(data, list | tuple):
        return "texts"
    return f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
