"""A folder of records: what goes in comes out, half-written work is harmless, nothing is lost."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import trials_table
from attrial.errors import AttrialError
from attrial.record import Trial
from attrial.store import Entry, Store
from tests import made_up

any_float = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)
names = st.text(min_size=1, max_size=12)


@st.composite
def some_trials(draw: st.DrawFn) -> list[Trial]:
    metrics = draw(st.lists(names, max_size=3, unique=True))
    curves, noted, cost = (draw(st.lists(names, max_size=2, unique=True)) for _ in range(3))

    def one() -> Trial:
        cells = st.none() | any_float
        n = draw(st.integers(0, 3))
        return Trial(
            id=draw(names),
            players=[draw(names) for _ in range(n)],
            scores=[draw(any_float) for _ in range(n)],
            truth=draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n)),
            target=draw(st.integers(0, 9)),
            label=draw(st.none() | st.integers(0, 9)),
            truncated=draw(st.integers(0, 99)),
            values={m: draw(cells) for m in metrics},
            normalised={m: draw(cells) for m in metrics},
            swapped={m: draw(cells) for m in metrics},
            reasons={m: draw(names) for m in metrics if draw(st.booleans())},
            curves={
                c: draw(st.lists(any_float, max_size=3)) for c in curves if draw(st.booleans())
            },
            notes={c: draw(any_float | st.lists(any_float, max_size=2)) for c in noted},
            cost={c: draw(st.integers(0, 10**9)) for c in cost if draw(st.booleans())},
            names=draw(st.lists(names, max_size=2)),
        )

    return [one() for _ in range(draw(st.integers(0, 3)))]


def exactly(trials: list[Trial]) -> list[str]:
    """All fields as text: unlike ``==`` it tells nan and -0.0 apart (order of names is free)."""
    dumped = [trial.model_dump() for trial in trials]
    return [
        repr({k: sorted(v.items()) if isinstance(v, dict) else v for k, v in d.items()})
        for d in dumped
    ]


@given(some_trials())
@settings(max_examples=60, deadline=None)
def test_trials_round_trip_bit_for_bit(trials: list[Trial]) -> None:
    assert exactly(trials_table.from_bytes(trials_table.to_bytes(trials))) == exactly(trials)


def test_none_nan_and_small_numbers_are_kept_apart() -> None:
    whole = made_up.entry(made_up.Made(n=1), "random", 0.0).trials[0]
    values = {"aopc": None, "deletion_auc": math.nan, "sufficiency": 5e-324, "insertion_auc": -0.0}
    read = trials_table.from_bytes(
        trials_table.to_bytes([whole.model_copy(update={"values": values})])
    )[0].values
    assert read["aopc"] is None
    assert read["deletion_auc"] is not None and math.isnan(read["deletion_auc"])
    assert read["sufficiency"] == 5e-324
    assert str(read["insertion_auc"]) == "-0.0"


def test_a_metric_that_some_trials_lack_reads_as_none() -> None:
    a, b = made_up.entry(made_up.Made(n=2), "random", 0.0).trials
    b = b.model_copy(update={"normalised": {}})
    back = trials_table.from_bytes(trials_table.to_bytes([a, b]))
    assert back[0].normalised == a.normalised
    assert back[1].normalised == dict.fromkeys(a.normalised)


def test_columns_can_be_read_without_attrial(tmp_path: Path) -> None:
    entry = made_up.entry(made_up.Made(n=3), "occlusion", 0.9)
    Store(tmp_path).put(entry.record, entry.trials)
    table = pq.read_table(tmp_path / "runs" / entry.record.spec.digest / "examples.parquet")
    assert table.column("value.aopc").to_pylist() == [t.values["aopc"] for t in entry.trials]
    assert table.column("curve.deletion").to_pylist()[0] == entry.trials[0].curves["deletion"]
    assert {"scores", "players", "truth", "normalised.aopc", "notes"} <= set(table.column_names)


@pytest.fixture
def entry() -> Entry:
    return made_up.entry(made_up.Made(n=4), "occlusion", 0.9)


def test_what_is_put_is_got(tmp_path: Path, entry: Entry) -> None:
    store = Store(tmp_path / "new" / "folder")
    digest = entry.record.spec.digest
    assert not store.has(digest) and store.all() == [] and store.parts(digest) == {}
    store.put(entry.record, entry.trials)
    assert store.has(digest)
    assert store.get(digest) == entry
    assert store.get(digest).record.spec.digest == digest
    assert Store(store.folder).all() == [entry]
    assert store.warnings == []


def test_all_is_in_a_fixed_order(tmp_path: Path) -> None:
    found = [made_up.entry(made_up.Made(n=2, seed=seed), "random", 0.0) for seed in range(5)]
    store = Store(tmp_path)
    for e in found:
        store.put(e.record, e.trials)
    digests = [e.record.spec.digest for e in store.all()]
    assert digests == sorted(e.record.spec.digest for e in found)


def test_parts_come_back_and_go(tmp_path: Path, entry: Entry) -> None:
    store, digest = Store(tmp_path), entry.record.spec.digest
    odd = entry.trials[0].model_copy(update={"notes": {"gap": math.nan, "steps": [1.0, math.inf]}})
    store.put_part(digest, 3, entry.trials[:2])
    store.put_part(digest, 0, [odd])
    assert not store.has(digest) and store.all() == []
    assert sorted(store.parts(digest)) == [0, 3]
    assert store.parts(digest)[3] == entry.trials[:2]
    assert exactly(store.parts(digest)[0]) == exactly([odd])
    store.put(entry.record, entry.trials)
    store.clear_parts(digest)
    assert store.parts(digest) == {} and store.get(digest) == entry


def test_a_broken_part_is_passed_over_and_told(tmp_path: Path, entry: Entry) -> None:
    store, digest = Store(tmp_path), entry.record.spec.digest
    store.put_part(digest, 0, entry.trials)
    store.put_part(digest, 1, entry.trials)
    broken = tmp_path / "runs" / digest / "part-00001.json"
    broken.write_text(broken.read_text()[:-20])
    assert list(store.parts(digest)) == [0]
    assert len(store.warnings) == 1 and "part-00001.json" in store.warnings[0]


BREAK = {
    "not json": ("record.json", b"{"),
    "not utf-8": ("record.json", b"\xff\xfe\x00"),
    "not a record": ("record.json", b'{"schema_version": 1}'),
    "of a newer attrial": ("record.json", b'{"schema_version": 99}'),
    "a list": ("record.json", b"[]"),
    "not parquet": ("examples.parquet", b"PAR1 and no more"),
    "empty": ("examples.parquet", b""),
}


@pytest.mark.parametrize("fault", BREAK)
def test_an_unreadable_record_is_skipped_told_and_kept(
    tmp_path: Path, entry: Entry, fault: str
) -> None:
    store, digest = Store(tmp_path), entry.record.spec.digest
    other = made_up.entry(made_up.Made(n=2), "random", 0.0)
    store.put(entry.record, entry.trials)
    store.put(other.record, other.trials)
    name, content = BREAK[fault]
    path = tmp_path / "runs" / digest / name
    path.write_bytes(content)

    assert store.all() == [other]
    assert store.all() == [other]
    assert len(store.warnings) == 1 and digest in store.warnings[0]
    assert "\n" not in store.warnings[0]
    assert not store.has(digest)
    with pytest.raises(AttrialError, match="unreadable record"):
        store.get(digest)

    store.put(entry.record, entry.trials)
    assert store.get(digest) == entry
    assert path.with_name(f"{name}.unreadable-1").read_bytes() == content


def test_a_second_unreadable_record_does_not_replace_the_first(
    tmp_path: Path, entry: Entry
) -> None:
    store, run = Store(tmp_path), tmp_path / "runs" / entry.record.spec.digest
    for content in ("first", "second"):
        store.put(entry.record, entry.trials)
        (run / "record.json").write_text(content)
    store.put(entry.record, entry.trials)
    kept = [(run / f"record.json.unreadable-{k}").read_text() for k in (1, 2)]
    assert kept == ["first", "second"]


def test_leftovers_of_a_killed_process_are_harmless(tmp_path: Path, entry: Entry) -> None:
    store, digest = Store(tmp_path), entry.record.spec.digest
    run = tmp_path / "runs" / digest
    run.mkdir(parents=True)
    (run / ".record.json.abc").write_text('{"half')
    (run / ".part-00000.json.abc").write_text("[")
    (run / "examples.parquet").write_bytes(b"PAR1")
    (tmp_path / "runs" / "notes.txt").write_text("mine")
    assert not store.has(digest) and store.parts(digest) == {} and store.all() == []
    store.put(entry.record, entry.trials)
    store.clear_parts(digest)
    assert store.all() == [entry] and store.warnings == []
    assert (tmp_path / "runs" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["../../etc", "", "abc", "ABCDEF0123", "a" * 65, "abcdef01/.."])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    for ask in (store.get, store.has, store.parts, store.clear_parts, store.get_outputs):
        with pytest.raises(AttrialError, match="names no run"):
            ask(name)
    with pytest.raises(AttrialError, match="names no run"):
        store.put_outputs(name, np.ones((1, 2), bool), np.ones((1, 2)))
    assert list(tmp_path.iterdir()) == []


def test_saving_fails_in_one_line_that_names_the_path(tmp_path: Path, entry: Entry) -> None:
    (tmp_path / "runs").write_text("a file where a folder should be")
    store, digest = Store(tmp_path), entry.record.spec.digest
    with pytest.raises(AttrialError, match="can't write") as told:
        store.put(entry.record, entry.trials)
    assert digest in str(told.value) and "\n" not in str(told.value)
    with pytest.raises(AttrialError, match="can't write"):
        store.put_part(digest, 0, entry.trials)


def test_a_record_never_holds_what_json_lacks(tmp_path: Path, entry: Entry) -> None:
    cells = {"aopc": made_up.cell("aopc", entry.trials).model_copy(update={"value": math.nan})}
    with pytest.raises(ValueError, match="JSON compliant"):
        Store(tmp_path).put(entry.record.model_copy(update={"cells": cells}), entry.trials)
    assert not Store(tmp_path).has(entry.record.spec.digest)


KEY = "0123abcd" * 8


def test_outputs_are_remembered_exactly(tmp_path: Path) -> None:
    store, rng = Store(tmp_path), np.random.default_rng(0)
    masks, outputs = rng.random((7, 5)) < 0.5, rng.normal(size=(7, 3)) * 1e-300
    assert store.get_outputs(KEY) is None
    store.put_outputs(KEY, masks, outputs)
    kept = store.get_outputs(KEY)
    assert kept is not None
    assert kept[0].dtype == bool and np.array_equal(kept[0], masks)
    assert kept[1].tobytes() == outputs.tobytes()
    assert store.warnings == []


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", b"\x80\x04K\x01.", None])
def test_unreadable_memory_is_no_memory(tmp_path: Path, content: bytes | None) -> None:
    store = Store(tmp_path)
    store.put_outputs(KEY, np.ones((2, 3), bool), np.ones((2, 2)))
    path = tmp_path / "memory" / f"{KEY}.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content is None else content)
    assert store.get_outputs(KEY) is None
    assert len(store.warnings) == 1 and KEY in store.warnings[0]


@pytest.mark.parametrize(
    ("masks", "outputs"),
    [
        (np.ones((2, 3), bool), np.ones((3, 2))),
        (np.ones((2, 3)), np.ones((2, 2))),
        (np.ones(3, bool), np.ones((3, 2))),
        (np.array([[object()]]), np.ones((1, 2))),
    ],
)
def test_memory_of_another_kind_is_refused(
    tmp_path: Path, masks: npt.NDArray[np.generic], outputs: npt.NDArray[np.float64]
) -> None:
    store = Store(tmp_path)
    path = tmp_path / "memory" / f"{KEY}.npz"
    path.parent.mkdir()
    np.savez_compressed(path, masks=masks, outputs=outputs)
    assert store.get_outputs(KEY) is None
    assert len(store.warnings) == 1


WRITER = """
import sys
from pathlib import Path
from attrial.store import Store
from tests import made_up
store = Store(Path(sys.argv[1]))
made = made_up.entry(made_up.Made(n=40), "occlusion", 0.9)
print(made.record.spec.digest, flush=True)
while True:
    for k in range(4):
        store.put_part(made.record.spec.digest, k, made.trials[10 * k : 10 * k + 10])
    store.put(made.record, made.trials)
"""


def test_a_killed_writer_leaves_nothing_half_written(tmp_path: Path) -> None:
    """Kill -9 at several moments of writing: what is there is whole."""
    whole = made_up.entry(made_up.Made(n=40), "occlusion", 0.9)
    for pause in (0.0, 0.013, 0.031):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert writer.stdout is not None
        digest = writer.stdout.readline().decode().strip()
        time.sleep(pause)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        store = Store(tmp_path)
        assert store.all() in ([], [whole])
        for number, trials in store.parts(digest).items():
            assert trials == whole.trials[10 * number : 10 * number + 10]
        assert store.warnings == []
