"""Committed tables are what their committed records say; the embedded board holds what it must."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from attrial import leaderboard
from attrial.record import Trial
from attrial.store import Entry, Store
from attrial.suite import default_suite

PUBLISHED = sorted(p.parent for p in Path("leaderboards").glob("*/runs"))
EMBEDDED = Path("leaderboards/embedded")
ASKERS = ("occlusion", "shapley", "integrated_gradients")
KINDS = {"text classifier", "causal language model", "encoder-decoder", "image classifier"}
MOST = 0.9  # of the examples


@lru_cache
def entries() -> list[Entry]:
    return Store(EMBEDDED).all()


@lru_cache
def rows() -> list[leaderboard.Row]:
    return leaderboard.rows(entries())


def table() -> dict[tuple[str, str, str], leaderboard.Row]:
    """The rows under the removal that methods explained under."""
    own = (row for row in rows() if row.removal == row.explained_under)
    return {(row.task, row.metric, row.method): row for row in own}


def explained(task: str, method: str) -> Sequence[Trial]:
    """What one method said of a task's examples, once each."""
    (found,) = (
        e
        for e in entries()
        if (e.record.spec.data.task, e.record.spec.label) == (task, method)
        and e.record.spec.removal == e.record.spec.explained_under
    )
    assert len(found.trials) == 30
    return found.trials


def first(trial: Trial, k: int = 1) -> bool:
    """Whether the k pieces of evidence have the k highest scores, above all others'."""
    scores, truth = np.array(trial.scores), np.array(trial.truth)
    assert truth.sum() == k
    return bool(scores[truth].min() > scores[~truth].max())


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_a_published_table_is_made_of_its_records(folder: Path) -> None:
    store = Store(folder)
    rows = leaderboard.rows(store.all())
    assert rows and not store.warnings
    assert (folder / "leaderboard.json").read_text() == leaderboard.to_json(rows)
    assert (folder / "leaderboard.csv").read_text() == leaderboard.to_csv(rows)


def test_something_is_published() -> None:
    assert [folder.name for folder in PUBLISHED] == ["embedded"]


def test_the_embedded_board_is_the_default_suite() -> None:
    suite, ranked = default_suite(), [row for row in rows() if not row.control]
    assert {row.task for row in ranked} == set(suite.tasks)
    assert {row.method for row in ranked} == set(suite.methods)
    assert {row.metric for row in ranked} == set(suite.metrics)
    assert {e.record.asks for e in entries()} == KINDS
    assert all(e.record.about for e in entries())


def test_every_cell_of_the_embedded_board_has_a_value_on_every_example() -> None:
    assert {(row.applicable, row.n, row.undefined) for row in rows()} == {(True, 30, 0)}


def test_the_page_tells_the_command_and_no_place() -> None:
    for name in ("leaderboard.html", "leaderboard.md", "leaderboard.tex"):
        text = (EMBEDDED / name).read_text()
        assert "attrial run --out leaderboards/embedded" in text
        assert not any(place in text for place in ("/work", "/tmp", "/home", "/root"))


def test_the_embedded_board_says_what_theory_says() -> None:
    found = table()
    for method in ASKERS:
        value = found["planted_keyword", "average_precision", method].value
        assert value is not None and value >= 0.95
    inside = []
    for task, metric in {(task, metric) for task, metric, _ in found}:
        drawn, expected = (found[task, metric, name] for name in ("random", "random_order"))
        assert drawn.low is not None and drawn.high is not None and expected.value is not None
        inside.append(drawn.low <= expected.value <= drawn.high)
    # Of 95 % intervals; the metrics of one task read the same 30 draws.
    assert len(inside) == 64 and sum(inside) >= 56
    assert max(row.above_best for row in rows() if not row.control) <= 0.05 * 30


def test_rollout_sees_no_class_and_the_majority_shows_it() -> None:
    rollout, best = (
        table()["planted_majority", "average_precision", name]
        for name in ("attention_rollout", "shapley")
    )
    assert rollout.rank_low is not None and best.rank_high is not None
    assert rollout.rank_low > best.rank_high


@pytest.mark.parametrize("method", ASKERS)
def test_a_contrast_puts_the_subject_of_the_verb_first(method: str) -> None:
    found = explained("planted_agreement", method)
    assert all({name.strip() for name in trial.names} == {"is", "are"} for trial in found)
    assert np.mean([first(trial) for trial in found]) >= MOST


@pytest.mark.parametrize("method", ASKERS)
def test_a_contrast_of_names_puts_receiver_and_giver_first(method: str) -> None:
    found = explained("planted_indirect_object", method)
    assert np.mean([first(trial, 2) for trial in found]) >= MOST


@pytest.mark.parametrize("method", [*ASKERS, "attention_rollout"])
def test_the_aligned_word_of_a_translation_is_first(method: str) -> None:
    assert np.mean([first(trial) for trial in explained("planted_translation", method)]) >= MOST


@pytest.mark.parametrize("method", [*ASKERS, "attention_rollout", "gradient_norm"])
def test_the_red_patch_of_an_image_has_the_most_relevance(method: str) -> None:
    assert np.mean([first(trial) for trial in explained("planted_shapes", method)]) >= MOST


@pytest.mark.parametrize("task", default_suite().tasks)
def test_random_scores_find_the_evidence_by_chance_alone(task: str) -> None:
    """What the tests above ask is not to be had by luck."""
    found = explained(task, "random")
    hit = [np.array(t.truth)[int(np.argmax(t.scores))] for t in found]
    assert np.mean(hit) < 0.5
