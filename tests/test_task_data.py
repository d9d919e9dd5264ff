"""Data of every form: the same items come out, and what is wrong is said with its row."""

import json
from collections.abc import Callable
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pytest

from attrial.errors import AttrialError
from attrial.task import Columns, File, Hub, Item, Source, Task, items, source_name

COLUMNS = Columns(texts=("sentence",), label="label", labels=("negative", "positive"))
ROWS: list[dict[str, object]] = [
    {"sentence": "None", "label": 0, "other": 1.5},  # a text that pandas would take for missing
    {"sentence": "a gorgeous , witty film", "label": 1, "other": 2.5},
    {"sentence": '007 says "dull, dull"', "label": 0, "other": 3.5},
]
EXPECTED = [Item(str(i), (str(r["sentence"]),), int(str(r["label"]))) for i, r in enumerate(ROWS)]


def task(columns: Columns = COLUMNS, **fields: object) -> Task:
    return Task.model_validate({"name": "t", "description": "d", "columns": columns, **fields})


def as_csv(path: Path) -> None:
    pd.DataFrame(ROWS).to_csv(path, index=False)


def as_tsv(path: Path) -> None:
    pd.DataFrame(ROWS).to_csv(path, index=False, sep="\t")


def as_parquet(path: Path) -> None:
    pd.DataFrame(ROWS).to_parquet(path)


def as_lines(path: Path) -> None:
    path.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")


def as_list(path: Path) -> None:
    path.write_text(json.dumps(ROWS, indent=1))


def as_label_text(path: Path) -> None:
    path.write_text("".join(f"{row['label']} {row['sentence']}\n" for row in ROWS))


WRITERS: dict[str, Callable[[Path], None]] = {
    "d.csv": as_csv,
    "d.CSV": as_csv,
    "d.tsv": as_tsv,
    "d.parquet": as_parquet,
    "d.jsonl": as_lines,
    "d.json": as_list,
    "d [x]*.csv": as_csv,
    "stsa.binary.dev": as_label_text,
    "d": as_label_text,
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_every_form_give_the_same_items(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    assert items(task(), data=path) == EXPECTED
    assert items(task(), data=str(path), limit=2) == EXPECTED[:2]
    assert [p.name for p in tmp_path.iterdir()] == [name]  # nothing is left beside it


@pytest.mark.parametrize(("name", "form"), [("d.csv", "csv"), ("d", "parquet"), ("d.txt", "json")])
def test_a_task_of_its_own_file(tmp_path: Path, name: str, form: str) -> None:
    {"csv": as_csv, "parquet": as_parquet, "json": as_lines}[form](tmp_path / name)
    own = task(origin=File(path=tmp_path / name, name=name, format=form), limit=2)
    assert items(own) == EXPECTED[:2]
    assert items(own, limit=3) == EXPECTED
    assert items(own, data=["a", "b", "c"], limit=1) == [Item("0", ("a",))]


MEMORY: dict[str, Callable[[], Source]] = {
    "datasets.Dataset": lambda: datasets.Dataset.from_list(ROWS),
    "datasets.IterableDataset": lambda: datasets.Dataset.from_list(ROWS).to_iterable_dataset(),
    "pandas.DataFrame": lambda: pd.DataFrame(ROWS, index=[7, 8, 9]),
}


@pytest.mark.parametrize("kind", MEMORY)
def test_objects_in_memory(kind: str) -> None:
    data = MEMORY[kind]()
    assert source_name(data) == kind
    assert items(task(), data=data) == EXPECTED
    assert items(task(), data=data, limit=2) == EXPECTED[:2]


def test_a_formatted_data_set_is_read_as_plain_values() -> None:
    data = datasets.Dataset.from_list(ROWS).with_format("numpy")
    assert items(task(), data=data) == EXPECTED


def test_splits_of_data_sets_and_folders(tmp_path: Path) -> None:
    data = datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)})
    assert items(task(), data=data, split="test[:2]", limit=2) == EXPECTED[:2]
    with pytest.raises(AttrialError, match=r"no split 'tset'; did you mean test"):
        items(task(), data=data, split="tset")
    data["test"].to_parquet(str(tmp_path / "test-00000-of-00001.parquet"))
    as_lines(tmp_path / "train.jsonl")
    assert items(task(), data=tmp_path, split="test") == EXPECTED
    assert len(items(task(), data=tmp_path)) == 6
    with pytest.raises(AttrialError, match=r"no file of split 'dev', but test-00000.*give one"):
        items(task(split="dev"), data=tmp_path)
    data.save_to_disk(str(tmp_path / "saved"))
    assert items(task(split="test"), data=tmp_path / "saved") == EXPECTED


def test_texts_and_pairs_need_no_columns() -> None:
    assert items(task(), data=["one", "two"]) == [Item("0", ("one",)), Item("1", ("two",))]
    assert items(task(), data=[("a", "b")]) == [Item("0", ("a", "b"))]
    pairs = task(Columns(texts=("premise", "hypothesis")))
    with pytest.raises(AttrialError, match="task t takes pairs of texts"):
        items(pairs, data=["one"])
    for mixed in (["one", ("a", "b")], [1, 2], [("a", "b", "c")]):
        with pytest.raises(AttrialError, match="holds strings, or pairs of strings"):
            items(task(), data=mixed)
    with pytest.raises(AttrialError, match=r"data must be a path, .* not dict"):
        items(task(), data={"text": ["a"]})


def test_pairs_from_columns(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("b,a,y\ntwo,one,1\n")
    pairs = task(Columns(texts=("a", "b"), label="y"))
    assert items(pairs, data=tmp_path / "p.csv") == [Item("0", ("one", "two"), 1)]


def test_a_file_without_header_and_labels_from_one(tmp_path: Path) -> None:
    (tmp_path / "ag.csv").write_text('"3","Fears, again"\n"1","b"\n')
    columns = Columns(("title",), "class", labels=("x", "y", "z"), label_values=("1", "2", "3"))
    header = ("class", "title")
    own = task(columns, origin=File(path=tmp_path / "ag.csv", name="ag.csv", header=header))
    assert items(own) == [Item("0", ("Fears, again",), 2), Item("1", ("b",), 0)]


@pytest.mark.parametrize(
    ("value", "label"),
    [(1, 1), ("1", 1), (1.0, 1), (np.int64(1), 1), ("positive", 1), ("", None), (None, None)],
)
def test_labels_are_names_or_numbers(value: object, label: int | None) -> None:
    frame = pd.DataFrame({"sentence": ["a"], "label": [value]}, dtype=object)
    assert items(task(), data=frame) == [Item("0", ("a",), label)]


@pytest.mark.parametrize("value", ["pos", 2, -1, "1.5", True])
def test_a_label_that_no_name_has(value: object) -> None:
    frame = pd.DataFrame({"sentence": ["a", "b"], "label": [0, value]}, dtype=object)
    line = rf"row 1: label '{value}' is none of 0 \(negative\), 1 \(positive\)"
    with pytest.raises(AttrialError, match=line):
        items(task(), data=frame)


def test_without_label_names_only_numbers_are_labels() -> None:
    columns = Columns(("sentence",), "label")
    frame = pd.DataFrame({"sentence": ["a"], "label": [5]})
    assert items(task(columns), data=frame)[0].label == 5
    with pytest.raises(AttrialError, match=r"label 'x' is none of the numbers 0, 1"):
        items(task(columns), data=frame.assign(label="x"))


def refusal(data: Source) -> str:
    with pytest.raises(AttrialError) as caught:
        items(task(), data=data)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_wrong_is_said_in_one_line(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    assert "no column 'sentence'; did you mean sentences" in refusal(
        frame.rename(columns={"sentence": "sentences"})
    )
    for empty in ("", "  ", None, float("nan")):
        blank = frame.astype(object)
        blank.loc[1, "sentence"] = empty
        assert "row 1: the text in column 'sentence' is empty" in refusal(blank)
    assert "has no rows" in refusal(frame.iloc[:0])
    assert "texts has no rows" in refusal([])
    assert "no data file" in refusal(tmp_path / "none.csv")


BROKEN = {
    "d.parquet": "not parquet",
    "d.jsonl": '{"sentence": "a"}\n{"sent',
    "d.json": '["a", "b"]',
    "e.csv": "",
    "label_text": "1\n",
    "f.csv": 'a,b\n"x\n',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(BROKEN[name])
    assert f"{name} can't be read as" in refusal(tmp_path / name)


def test_blank_lines_are_skipped_and_ids_stay_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("\n0 bad film\n   \n1 good film\n\n")
    bad, good = Item("1", ("bad film",), 0), Item("3", ("good film",), 1)
    assert items(task(), data=path) == [bad, good]
    assert items(task(), data=path, limit=1) == [bad]
    path.write_text("\n0 bad film\n1\n")
    assert "line 3 is not" in refusal(path)
    path.write_text("\n \n")
    assert "has no rows" in refusal(path)


def test_given_data_need_no_label_and_a_tasks_own_do(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS).drop(columns="label")
    assert [item.label for item in items(task(), data=frame)] == [None] * 3
    frame.to_csv(tmp_path / "d.csv", index=False)
    own = task(origin=File(path=tmp_path / "d.csv", name="d.csv"))
    with pytest.raises(AttrialError, match="no column 'label'"):
        items(own)


@pytest.mark.parametrize("text", [["a", "film"], {"a": 1}, b"film"])
def test_a_text_that_is_no_string_is_told_by_its_kind(text: object) -> None:
    frame = pd.DataFrame({"sentence": [text], "label": [0]})
    said = f"row 0: the text in column 'sentence' is a {type(text).__name__}, no string"
    assert said in refusal(frame)


def test_the_hub_is_asked_for_the_pinned_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def info(api: object, name: str, *, revision: str, timeout: float) -> None:
        asked.append((name, revision))

    def load(name: str, config: str, *, revision: str, split: str) -> datasets.Dataset:
        asked.append((name, config, revision, split))
        return datasets.Dataset.from_list(ROWS)

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.HfApi.dataset_info", info)
    monkeypatch.setattr("datasets.load_dataset", load)
    hub = task(origin=Hub(name="a/b", config="c", revision="r"), split="validation", limit=2)
    assert items(hub) == EXPECTED[:2]
    assert asked == [("a/b", "r"), ("a/b", "c", "r", "validation")]
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    items(hub)
    assert asked[2:] == asked[1:2]  # offline, the cache alone is asked


def test_an_unreachable_hub_names_the_way_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def info(api: object, name: str, *, revision: str, timeout: float) -> None:
        raise ConnectionError("no route\nto host")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.HfApi.dataset_info", info)
    with pytest.raises(AttrialError) as caught:
        items(task(origin=Hub(name="a/b")))
    line = str(caught.value)
    assert "can't load the data set a/b from the Hugging Face Hub (ConnectionError: no r" in line
    assert "--data FILE --model DIR" in line
    assert "\n" not in line
