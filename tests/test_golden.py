"""Old records load for ever, and make the table that they made when they were written."""

import json
from pathlib import Path

import pytest

from attrial import leaderboard, report
from attrial.store import Store

GOLDEN = Path(__file__).with_name("golden")
ISSUED = list(leaderboard.Row.model_fields)[:13]  # task ... rank_high: what tables promise


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("record-v*")), ids=lambda p: p.name)
def test_old_records_load_and_rank_as_they_did(folder: Path) -> None:
    store = Store(folder)
    entries = store.all()
    assert store.warnings == []
    assert len(entries) == len(list((folder / "runs").iterdir()))
    then = json.loads((folder / "leaderboard.json").read_text())["rows"]
    now = [row.model_dump() for row in leaderboard.rows(entries)]
    assert [{k: row[k] for k in ISSUED} for row in now] == [
        {k: row[k] for k in ISSUED} for row in then
    ]
    assert "Attribution methods on trial" in report.page(entries)


def test_the_first_schema_is_kept() -> None:
    trials = Store(GOLDEN / "record-v1").get("03cced0ebb642f4f").trials
    assert len(trials) == 3
    assert all(len(t.players) == len(t.scores) == len(t.truth or []) for t in trials)
    assert all(len(t.curves["deletion"]) == len(t.players) + 1 for t in trials)
