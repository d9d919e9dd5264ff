"""Committed tables are what their committed records say."""

from pathlib import Path

import pytest

from attrial import leaderboard
from attrial.store import Store

PUBLISHED = sorted(p.parent for p in Path("leaderboards").glob("*/runs"))


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_a_published_table_is_made_of_its_records(folder: Path) -> None:
    store = Store(folder)
    rows = leaderboard.rows(store.all())
    assert rows and not store.warnings
    assert (folder / "leaderboard.json").read_text() == leaderboard.to_json(rows)
    assert (folder / "leaderboard.csv").read_text() == leaderboard.to_csv(rows)


def test_something_is_published() -> None:
    assert [folder.name for folder in PUBLISHED] == ["embedded"]


def test_the_embedded_board_says_what_theory_says() -> None:
    rows = leaderboard.rows(Store(Path("leaderboards/embedded")).all())
    table = {(row.task, row.metric, row.method): row for row in rows}
    for method in ("occlusion", "shapley", "integrated_gradients"):
        value = table["planted_keyword", "average_precision", method].value
        assert value is not None and value >= 0.95
    inside = []
    for task, metric in {(row.task, row.metric) for row in rows}:
        drawn, expected = (table[task, metric, name] for name in ("random", "random_order"))
        assert drawn.low is not None and drawn.high is not None and expected.value is not None
        inside.append(drawn.low <= expected.value <= drawn.high)
    assert len(inside) == 32 and sum(inside) >= 28  # of 95 % intervals, many on the same draws
    assert max(row.above_best for row in rows if not row.control) <= 0.05 * 30


def test_rollout_sees_no_class_and_the_majority_shows_it() -> None:
    rows = leaderboard.rows(Store(Path("leaderboards/embedded")).all())
    table = {(row.task, row.metric, row.method): row for row in rows}
    rollout, best = (
        table["planted_majority", "average_precision", name]
        for name in ("attention_rollout", "shapley")
    )
    assert rollout.rank_low is not None and best.rank_high is not None
    assert rollout.rank_low > best.rank_high
