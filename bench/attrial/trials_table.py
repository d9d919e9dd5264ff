"""Trials as a Parquet table and back: every number bit for bit, None and NaN kept apart."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from attrial.record import SCHEMA, Trial

# Fields that are one column each.
PLAIN: Mapping[str, pa.DataType] = {
    "id": pa.string(),
    "players": pa.list_(pa.string()),
    "scores": pa.list_(pa.float64()),
    "truth": pa.list_(pa.bool_()),
    "target": pa.int64(),
    "label": pa.int64(),
    "truncated": pa.int64(),
    "names": pa.list_(pa.string()),
}
LATER = ("names",)  # fields that older files lack
# Fields that map names to values become one column a name, called PREFIX.NAME.
SPREAD: Mapping[str, tuple[str, pa.DataType]] = {
    "values": ("value", pa.float64()),
    "normalised": ("normalised", pa.float64()),
    "reasons": ("reason", pa.string()),
    "curves": ("curve", pa.list_(pa.float64())),
    "cost": ("cost", pa.int64()),
    "swapped": ("swapped", pa.float64()),
}
# Here an empty cell is a None, elsewhere an absent name.
NULLABLE = ("values", "normalised", "swapped")


def to_bytes(trials: Sequence[Trial]) -> bytes:
    """A Parquet file of one row a trial.

    Notes hold numbers or lists of them under one name, so they are one column of JSON. A metric
    that only some trials have reads back as None in the others.
    """
    columns = {
        name: _column([getattr(t, name) for t in trials], kind) for name, kind in PLAIN.items()
    }
    for field, (prefix, kind) in SPREAD.items():
        cells: list[Mapping[str, object]] = [getattr(t, field) for t in trials]
        for name in dict.fromkeys(name for cell in cells for name in cell):
            columns[f"{prefix}.{name}"] = _column([cell.get(name) for cell in cells], kind)
    columns["notes"] = _column([json.dumps(t.notes) for t in trials], pa.string())
    table = pa.table(columns).replace_schema_metadata({"attrial.schema": str(SCHEMA)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())


def _column(cells: Sequence[object], kind: pa.DataType) -> pa.Array:
    return pa.array(cells, kind, from_pandas=False)  # True would turn NaN into None


def from_bytes(data: bytes) -> list[Trial]:
    """The trials of a Parquet file.

    Raises:
        ValueError, KeyError, OSError, pyarrow.ArrowException: If the file is none of ours.
    """
    table = pq.read_table(pa.BufferReader(data))
    return [_trial(row) for row in table.to_pylist()]


def _trial(row: Mapping[str, Any]) -> Trial:
    known = [name for name in PLAIN if name in row or name not in LATER]
    fields: dict[str, object] = {name: row[name] for name in known}
    for field, (prefix, _) in SPREAD.items():
        cells = {
            k.removeprefix(f"{prefix}."): v for k, v in row.items() if k.startswith(f"{prefix}.")
        }
        fields[field] = {k: v for k, v in cells.items() if field in NULLABLE or v is not None}
    return Trial.model_validate({**fields, "notes": json.loads(row["notes"])})
