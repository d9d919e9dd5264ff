"""Known evidence: three ways to write it, one meaning."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial.errors import AttrialError
from attrial.task import Columns, Item, Task, items

WORDS = st.lists(st.text("abc',.", min_size=1, max_size=5), min_size=1, max_size=8)
GAPS = st.lists(st.sampled_from([" ", "  ", "\t"]), min_size=8, max_size=8)


def read(form: str, told: object, *texts: str) -> Item:
    columns = ("a", "b")[: len(texts)]
    task = Task(name="t", description="d", columns=Columns(columns, rationale="why", form=form))
    row = {**dict(zip(columns, texts, strict=True)), "why": told}
    return items(task, data=pd.DataFrame([row], dtype=object))[0]


@given(st.data(), WORDS, WORDS, GAPS)
def test_all_forms_point_at_the_same_words(
    data: st.DataObject, first: list[str], second: list[str], gaps: list[str]
) -> None:
    flags = [data.draw(st.booleans()) for _ in first + second]
    texts = tuple(
        " " + "".join(w + g for w, g in zip(ws, gaps, strict=False)) for ws in (first, second)
    )
    item = read("flags", flags, *texts)
    assert item.evidence is not None
    marked = [texts[i][start:end] for i, start, end in item.evidence]
    assert marked == [w for w, flag in zip(first + second, flags, strict=True) if flag]
    numbers = [i for i, flag in enumerate(flags) if flag]
    assert read("words", numbers[::-1], *texts).evidence == item.evidence
    assert read("words", json.dumps(numbers), *texts).evidence == item.evidence
    assert read("spans", [list(s) for s in item.evidence], *texts).evidence == item.evidence


def test_spans_without_a_text_are_of_the_first() -> None:
    assert read("spans", [[0, 3], [1, 4, 7]], "one two", "and three").evidence == (
        (0, 0, 3),
        (1, 4, 7),
    )


@pytest.mark.parametrize("form", ["spans", "flags", "words"])
def test_nothing_known_is_unlike_known_to_be_none(form: str) -> None:
    for unknown in (None, "", float("nan")):
        assert read(form, unknown, "one two").evidence is None
    none = [0, 0] if form == "flags" else []
    assert read(form, none, "one two").evidence == ()


WRONG = [
    ("spans", [[0, 9]], r"evidence \(0, 0, 9\) lies outside its text"),
    ("spans", [[2, 2]], "lies outside its text"),
    ("spans", [[1, 0, 1]], "no .start, end. nor"),
    ("spans", [[1]], "no .start, end. nor"),
    ("spans", [3], "is not of the form 'spans'"),
    ("spans", "0-3", "evidence '0-3' is no list"),
    ("spans", 3, "evidence 3 is no list"),
    ("flags", [1], "must be 2 flags of 0 or 1"),
    ("flags", [0, 2], "must be 2 flags of 0 or 1"),
    ("flags", ["x", "y"], "is not of the form 'flags'"),
    ("words", [2], r"evidence \[2\] lies outside the 2 words"),
    ("words", [-1], "lies outside the 2 words"),
    ("words", [0.5], "is not of the form 'words'"),
    ("words", [float("inf")], "is not of the form"),
    ("words", [float("nan")], "is not of the form 'words'"),
]


@pytest.mark.parametrize(("form", "told", "message"), WRONG)
def test_evidence_that_can_not_be_meant(form: str, told: object, message: str) -> None:
    with pytest.raises(AttrialError, match=f"row 0: .*{message}"):
        read(form, told, "one two")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_evidence_in_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"d.{suffix}"
    flags = [0, 1, 1]
    frame = pd.DataFrame({"text": ["not so bad"], "why": [flags]})
    if suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    task = Task(
        name="t", description="d", columns=Columns(("text",), rationale="why", form="flags")
    )
    assert items(task, data=path)[0].evidence == ((0, 4, 6), (0, 7, 10))


def test_evidence_columns_are_asked_for_by_name() -> None:
    task = Task(name="t", description="d", columns=Columns(("text",), rationale="why"))
    with pytest.raises(AttrialError, match="no column 'why'"):
        items(task, data=pd.DataFrame({"text": ["a"]}))
    assert items(task, data=["a"])[0].evidence is None  # texts alone carry none
