"""Metrics on a board: whose word the evidence is, what is measured once, what is counted."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import attrial
from attrial import evaluator, leaderboard, plugin_call, registry
from attrial.ask import Attend, Attention, Slope, Slopes, Soften
from attrial.assignment import Assignment, digest_of
from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example, plain
from attrial.masks import Floats, Masks
from attrial.record import DataSpec, ModelSpec
from attrial.row import Row
from attrial.store import Store
from attrial.task import items, load_task
from attrial.value import Subject

METRICS = [n for n, p in registry.plugins("metrics").items() if p.module.startswith("attrial.")]
AGAINST_EVIDENCE = (
    *("average_precision", "iou_f1", "mrr", "pointing_game", "precision_at_k"),
    *("relevance_mass", "relevance_rank", "roc_auc", "token_f1"),
)


@dataclass
class Indifferent:
    """Two classes, always the same outputs."""

    answers: frozenset[str] = frozenset({"keep", "soften"})

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        return [np.tile([1.0, -1.0], (len(masks), 1)) for _, masks in asks]

    def soften(self, asks: Sequence[tuple[Subject, Soften]]) -> list[Floats]:
        return [np.tile([1.0, -1.0], (len(q.shares), 1)) for _, q in asks]

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        raise AssertionError("not asked")

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        raise AssertionError("not asked")


def some_examples() -> list[Example]:
    return [
        replace(plain(n), id=f"e{n}", ids=np.arange(n) + 10 * n, truth=np.arange(n) == 1)
        for n in (3, 4, 6)
    ]


def assignment(metrics: Sequence[str], *, rationale: bool = False) -> Assignment:
    examples = some_examples()
    digest = digest_of(examples, rationale=rationale)
    return Assignment(
        data=DataSpec(task="made", source="a test", digest=digest, count=len(examples)),
        model=ModelSpec(name="indifferent", weights="0" * 64),
        players="words",
        function="log_odds",
        removals=("mask", "delete"),
        methods={"random": plugin_call.method("random")},
        metrics={m: replace(plugin_call.metric(m), rationale=rationale) for m in metrics},
        seed=0,
    )


def rows(metrics: Sequence[str], folder: Path, *, rationale: bool = False) -> list[Row]:
    a = assignment(metrics, rationale=rationale)
    entries = evaluator.evaluate(a, Indifferent(), some_examples(), Store(folder))
    return [row for row in leaderboard.rows(entries) if row.method == "random"]


def test_what_an_indifferent_model_leaves_undefined_is_counted(tmp_path: Path) -> None:
    found = {r.metric: r for r in rows(METRICS, tmp_path) if r.removal == "mask"}
    assert set(found) == set(METRICS)
    for metric, row in found.items():
        assert row.n + row.undefined == 3 and sum(row.reasons.values()) == row.undefined
        assert row.normalised_n + sum(row.normalised_reasons.values()) == row.n, metric
        if row.family == "faithfulness":
            assert row.normalised is None and row.normalised_n == 0, metric
    assert found["naopc"].reasons == {"best and worst order coincide": 3}
    assert found["deletion_auc"].normalised_reasons == {"best and worst order coincide": 3}
    assert found["soft_sufficiency"].undefined == 3
    assert found["average_precision"].normalised_n == 3


def test_what_no_removal_can_change_is_measured_once(tmp_path: Path) -> None:
    again = {r.metric for r in rows(METRICS, tmp_path) if r.removal == "delete"}
    asks_otherwise = {m for m in METRICS if "soft" in m}
    of_scores = {"gini", "entropy", "effective_size", *AGAINST_EVIDENCE}
    assert again == set(METRICS) - asks_otherwise - of_scores


@pytest.mark.parametrize("rationale", [False, True])
def test_peoples_reasons_stand_in_a_table_of_their_own(tmp_path: Path, rationale: bool) -> None:
    found = rows(METRICS, tmp_path, rationale=rationale)
    family = "plausibility" if rationale else "evidence"
    assert tuple(r.metric for r in found if r.family == family) == AGAINST_EVIDENCE
    assert {r.family for r in found} == {"faithfulness", "complexity", family}


def test_the_same_flags_from_people_are_another_data_set() -> None:
    people, planted = (digest_of(some_examples(), rationale=r) for r in (True, False))
    assert people != planted == digest_of(some_examples())


def test_a_metric_that_the_model_cannot_answer_is_refused_at_once(tmp_path: Path) -> None:
    model = Indifferent(frozenset({"keep"}))
    a = assignment(["aopc", "pi_soft_sufficiency"])
    with pytest.raises(NotApplicable, match="metric pi_soft_sufficiency needs 'soften'"):
        evaluator.evaluate(a, model, some_examples(), Store(tmp_path))


def written(folder: Path, source: str) -> Path:
    """A task with a rationale column, from the first examples of a planted one."""
    found = items(load_task("planted_keyword"), limit=3)
    lines = [
        json.dumps({"text": i.texts[0], "why": [[s, e] for _, s, e in i.evidence or ()]})
        for i in found
    ]
    (folder / "data.jsonl").write_text("\n".join(lines))
    path = folder / "told.toml"
    path.write_text(
        'description = "Told."\n[data]\npath = "data.jsonl"\n[rationale]\ncolumn = "why"\n' + source
    )
    return path


@pytest.mark.parametrize(
    ("source", "family"),
    [
        ("", "plausibility"),
        ('source = "people"\n', "plausibility"),
        ('source = "planted"\n', "evidence"),
    ],
)
def test_a_task_says_whose_word_its_evidence_is(tmp_path: Path, source: str, family: str) -> None:
    model = load_task("planted_keyword").model
    assert model is not None
    board = attrial.run(
        tasks=[str(written(tmp_path, source))],
        methods=["occlusion"],
        metrics=["average_precision", "gini"],
        models=[model],
    )
    found = {row.metric: row.family for row in leaderboard.rows(board.entries)}
    assert found == {"average_precision": family, "gini": "complexity"}


def test_generated_evidence_is_planted_and_a_wrong_source_is_refused(tmp_path: Path) -> None:
    assert not load_task("planted_keyword").rationale
    with pytest.raises(AttrialError, match=r"rationale\.source"):
        load_task(written(tmp_path, 'source = "me"\n'))
