"""Releases of the ERASER benchmark: a row's document is a file, its evidence ranges of words.

DeYoung et al. 2020, "ERASER: A Benchmark to Evaluate Rationalized NLP Models". A folder, or the
``tar.gz`` that it comes as, holds ``SPLIT.jsonl`` and ``docs/``.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from attrial._data_item import Row

SPLITS = {"validation": "val"}  # as the release calls them


def is_archive(path: Path) -> bool:
    """Whether it is a packed release."""
    return path.name.endswith((".tar.gz", ".tgz"))


def is_release(folder: Path) -> bool:
    """Whether a folder is an unpacked one."""
    return (folder / "docs").is_dir() and any(folder.glob("*.jsonl"))


def rows(path: Path, split: str | None, limit: int | None) -> list[Row]:
    """The first rows of a split: review, label, and evidences as pairs (first word, end).

    Raises:
        ValueError: If there is no such split, or a row's evidence is of several documents.
    """
    files = _packed(path) if is_archive(path) else _unpacked(path)
    whole = (split or "test").partition("[")[0]
    name = f"{SPLITS.get(whole, whole)}.jsonl"
    if name not in files:
        raise ValueError(f"no {name} in it")
    lines = islice(files[name].splitlines(), limit)
    return [_row(json.loads(line), files) for line in lines]


def _packed(path: Path) -> Mapping[str, str]:
    with tarfile.open(path) as archive:
        return {_name(Path(m.name)): _text(archive, m) for m in archive if m.isfile()}


def _text(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    return "" if file is None else file.read().decode()


def _unpacked(folder: Path) -> Mapping[str, str]:
    found = [*folder.glob("*.jsonl"), *(folder / "docs").iterdir()]
    return {_name(p): p.read_text(encoding="utf-8") for p in found}


def _name(path: Path) -> str:
    """``test.jsonl`` or ``docs/negR_000.txt``, wherever the release lies."""
    return f"docs/{path.name}" if path.parent.name == "docs" else path.name


def _row(told: Mapping[str, object], files: Mapping[str, str]) -> Row:
    evidences = list(_flat(told.get("evidences")))
    documents = {str(e["docid"]) for e in evidences} or {str(told["annotation_id"])}
    if len(documents) != 1:
        raise ValueError(f"{told['annotation_id']} has evidence of {len(documents)} documents")
    text = files[f"docs/{documents.pop()}"]
    ranges = [[e["start_token"], e["end_token"]] for e in evidences]
    return {"review": text, "label": told["classification"], "evidences": ranges}


def _flat(groups: object) -> Iterator[Mapping[str, object]]:
    """Evidence comes as groups: lists of lists."""
    if isinstance(groups, Sequence):
        for group in groups:
            yield from group
