"""Attributions made elsewhere, row by row: what is read, and what is wrong is said in one line."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial.attribution import Attribution, attribution
from attrial.errors import AttrialError
from attrial.outside import Submission, submissions
from attrial.outside_rows import Sheet, from_columns, from_file, from_frame, from_memory

ROW: dict[str, object] = {"id": "0", "players": ["a", "b"], "scores": [1.5, -2]}
ROWS: list[dict[str, object]] = [ROW, {"id": 7, "players": ["c"], "scores": [0.25]}]
EXPECTED = (
    Attribution("", "m", "0", (), ("a", "b"), (1.5, -2.0)),
    Attribution("", "m", "7", (), ("c",), (0.25,)),
)


def read(path: Path) -> Submission:
    (found,) = submissions([from_file(path)])
    return found


def bare(found: Submission) -> tuple[tuple[str | None, tuple[str, ...], tuple[float, ...]], ...]:
    return tuple((row.id, row.players, row.scores) for row in found.rows)


def as_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")


def as_list(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text(json.dumps(rows, indent=1))


def as_parquet(path: Path, rows: list[dict[str, object]]) -> None:
    pd.DataFrame([{**row, "id": str(row["id"]), "more": 1} for row in rows]).to_parquet(path)


WRITERS: dict[str, Callable[[Path, list[dict[str, object]]], None]] = {
    "m.jsonl": as_lines,
    "m.ndjson": as_lines,
    "m.json": as_list,
    "m.JSON": as_lines,
    "m.parquet": as_parquet,
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_every_form_give_the_same_attributions(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name, ROWS)
    found = read(tmp_path / name)
    assert found.label == "m"
    assert bare(found) == bare(Submission("m", "", EXPECTED))
    assert found.shipped_by.startswith(f"file {name} sha256 ")
    assert str(tmp_path) not in found.shipped_by  # a record holds no path of a machine


def test_memory_of_every_form_gives_the_same_attributions() -> None:
    columns = {name: [row[name] for row in ROWS] for name in ("id", "players", "scores")}
    frame = pd.DataFrame(columns)
    arrays = [{**row, "scores": np.array(row["scores"], np.float32)} for row in ROWS]
    sheets = [
        from_memory("m", ROWS),
        from_memory("m", arrays),
        from_frame("m", frame),
        from_columns("m", columns),
    ]
    for (found,) in (submissions([sheet]) for sheet in sheets):
        assert bare(found) == bare(Submission("m", "", EXPECTED))
        assert found.shipped_by.startswith("rows sha256 ")


def test_the_hash_is_of_the_content_alone(tmp_path: Path) -> None:
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        as_lines(tmp_path / folder / "m.jsonl", ROWS if folder != "c" else ROWS[:1])
    a, b, c = (read(tmp_path / folder / "m.jsonl").shipped_by for folder in "abc")
    assert a == b != c
    assert from_memory("x", ROWS).shipped_by == from_memory("y", ROWS).shipped_by
    assert from_memory("x", ROWS).shipped_by != from_memory("x", ROWS[::-1]).shipped_by


def test_a_column_names_methods_and_targets(tmp_path: Path) -> None:
    rows = [{**ROW, "method": name, "target": target} for name, target in [("x", 1), ("y", "pos")]]
    as_lines(tmp_path / "m.jsonl", [*rows, {**ROW, "method": None, "target": None}])
    found = {s.label: s.rows[0].target for s in submissions([from_file(tmp_path / "m.jsonl")])}
    assert found == {"x": 1, "y": "pos", "m": None}


def test_a_frame_with_gaps_keeps_whole_numbers_whole() -> None:
    frame = pd.DataFrame([{**ROW, "target": 1}, {**ROW, "id": "1"}])
    assert frame.target.dtype == float
    (found,) = submissions([from_frame("m", frame)])
    assert [row.target for row in found.rows] == [1, None]


BAD: Mapping[str, tuple[dict[str, object], str]] = {
    "no players": ({"id": "0", "scores": [1]}, "no 'players'"),
    "near name": ({"id": "0", "player": [], "scores": []}, "did you mean player"),
    "no scores": ({"id": "0", "players": ["a"]}, "no 'scores'"),
    "no example": ({"players": ["a"], "scores": [1]}, "give the example's 'id'"),
    "pair alone": ({"text_pair": "a", "players": ["a"], "scores": [1]}, "without 'text'"),
    "id": ({**ROW, "id": 1.5}, "id 1.5 is neither"),
    "id of truth": ({**ROW, "id": True}, "id True is neither"),
    "text": ({**ROW, "text": 5}, "text 5 is no text"),
    "players as text": ({**ROW, "players": "a b"}, "players is 'a b'; a list of strings"),
    "player": ({**ROW, "players": ["a", 3]}, "player 1 is 3, which is no string"),
    "scores as number": ({**ROW, "scores": 3.0}, "scores is 3.0; a list of numbers"),
    "lengths": ({**ROW, "scores": [1, 2, 3]}, "3 scores for 2 players"),
    "nan": ({**ROW, "scores": [1, float("nan")]}, "score 1, of 'b', is nan; a finite"),
    "infinite": ({**ROW, "scores": [float("-inf"), 1]}, "score 0, of 'a', is -inf; a finite"),
    "huge": ({**ROW, "scores": [10**400, 1]}, "a finite number"),
    "none": ({**ROW, "scores": [1, None]}, "score 1, of 'b', is None; a number"),
    "words": ({**ROW, "scores": ["1", "2"]}, "score 0, of 'a', is '1'; a number"),
    "truths": ({**ROW, "scores": [True, 1]}, "is True; a number"),
    "target": ({**ROW, "target": [1]}, "target [1] is neither"),
    "target between": ({**ROW, "target": 0.5}, "target 0.5 is neither"),
    "method": ({**ROW, "method": 5}, "method 5 is no text"),
    "method of lines": ({**ROW, "method": "a\nb"}, "must be one line"),
    "own name": ({**ROW, "method": "shapley"}, "'shapley' is a name of attrial's own"),
    "own call": ({**ROW, "method": "lime(samples=5)"}, "is a name of attrial's own"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_row_is_told_by_its_line(case: str, tmp_path: Path) -> None:
    row, said = BAD[case]
    path = tmp_path / "m.jsonl"
    as_lines(path, [{**ROW, "id": "9"}, row])
    with pytest.raises(AttrialError) as told:
        read(path)
    assert said in str(told.value) and str(told.value).startswith(f"{path}, line 2: ")
    assert "\n" not in str(told.value)


FILES = {
    "empty.jsonl": (b"", "is empty"),
    "blank.jsonl": (b"\n  \n", "is empty"),
    "none.json": (b"[]", "is empty"),
    "half.jsonl": (
        b'{"id": "0", "players": [], "scores": []}\n\n{"id',
        "half.jsonl, line 3: broken",
    ),
    "list.jsonl": (b'5\n"x"', "line 1: a JSON object is expected, not 5"),
    "deep.jsonl": (b"{" + b'"a":[' * 100_000, "line 1: broken JSON"),
    "half.json": (b'[{"id": "0"}', "half.json: broken JSON"),
    "odd.jsonl": (b"\xff\xfe", "is no UTF-8 text"),
    "odd.parquet": (b"PAR1 not really PAR1", "can't be read as parquet"),
    "empty.parquet": (b"", "can't be read as parquet"),
    "m.csv": (b"id,players", "give a file of .parquet, .jsonl"),
    "m.pkl": (b"cos\nsystem\n", "give a file of .parquet, .jsonl"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    data, said = FILES[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(AttrialError) as told:
        read(tmp_path / name)
    assert said in str(told.value) and "\n" not in str(told.value)


def test_a_parquet_file_without_rows_or_columns_and_what_is_no_file(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), tmp_path / "e.parquet")
    with pytest.raises(AttrialError, match="is empty"):
        read(tmp_path / "e.parquet")
    pq.write_table(pa.table({"id": ["0"], "score": [[1.0]]}), tmp_path / "c.parquet")
    with pytest.raises(AttrialError, match="row 0: no 'players'"):
        read(tmp_path / "c.parquet")
    (tmp_path / "d.parquet").mkdir()
    for name, said in {"d.parquet": "is a folder", "n.parquet": "no file"}.items():
        with pytest.raises(AttrialError, match=said):
            read(tmp_path / name)


def test_memory_that_is_none_is_told() -> None:
    cases: list[tuple[Callable[[], Sheet], str]] = [
        (lambda: from_memory("m", []), "m is empty"),
        (lambda: from_memory("m", [ROW, 5]), "row 1: a dict is expected, not a value of type int"),
        (lambda: from_columns("m", {"id": ["0"], "players": []}), "lists of one length"),
    ]
    for call, said in cases:
        with pytest.raises(AttrialError, match=said):
            call()


def test_two_files_with_a_method_of_one_name_are_refused() -> None:
    sheets = [Sheet("m", f"file {k}", (("place", ROW),)) for k in "ab"]
    with pytest.raises(AttrialError, match="another file has a method 'm' too"):
        submissions(sheets)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_scores_come_back_bit_for_bit(scores: list[float]) -> None:
    row: dict[str, object] = {
        "id": "0",
        "players": [f"p{i}" for i in range(len(scores))],
        "scores": scores,
    }
    read_back = attribution("here", json.loads(json.dumps(row)), method="m")
    assert np.array(read_back.scores).tobytes() == np.array(scores, np.float64).tobytes()
