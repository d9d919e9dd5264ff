"""A trial is resumed where it stopped, computes nothing twice, and ends in the same bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from attrial import chunk, evaluator, leaderboard, plugin_call, report
from attrial.ask import Attend, Attention, Slope, Slopes
from attrial.assignment import BASELINES, CONTROLS, Assignment, digest_of, jobs, seed_of
from attrial.curves import normalise
from attrial.errors import NotApplicable
from attrial.example import Example, plain
from attrial.masks import Floats, Masks
from attrial.record import DataSpec, ModelSpec
from attrial.store import Entry, Store
from attrial.target import Target
from attrial.value import Subject, Value, answer

METHODS = ("random", "occlusion", "shapley")
METRICS = ("aopc", "deletion_auc", "comprehensiveness", "average_precision")


@dataclass
class Interacting:
    """Two classes whose logits interact; the removal ``delete`` weakens what stays."""

    rows: list[tuple[str, str, bytes]] = field(default_factory=list)
    answers: frozenset[str] = frozenset({"keep"})

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        return [self._outputs(subject, masks) for subject, masks in asks]

    def _outputs(self, subject: Subject, masks: Masks) -> Floats:
        x = subject.example
        self.rows += [(x.digest, subject.removal, m.tobytes()) for m in masks]
        weights = np.sin(x.ids * 1.7 + 1)
        pairs = np.cos(np.add.outer(x.ids, 2 * x.ids)) / x.n
        shrink = 0.5 if subject.removal == "delete" else 1.0
        logit = shrink * (
            masks @ weights + np.einsum("ki,ij,kj->k", masks * 1.0, pairs, masks * 1.0)
        )
        return np.stack([logit, -logit], axis=1)

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        raise AssertionError("not asked")

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        raise AssertionError("not asked")


def some_examples(count: int) -> list[Example]:
    return [
        replace(plain(n), id=f"e{i}", ids=np.arange(n) + 10 * i, truth=np.arange(n) == i % n)
        for i, n in enumerate(3 + k % 4 for k in range(count))
    ]


def assignment(
    examples: Sequence[Example], *, methods: Sequence[str] = METHODS, seed: int = 0
) -> Assignment:
    return Assignment(
        data=DataSpec(
            task="made", source="a test", digest=digest_of(examples), count=len(examples)
        ),
        model=ModelSpec(name="interacting", weights="0" * 64),
        players="words",
        function="log_odds",
        removals=("mask", "delete"),
        methods={name: plugin_call.method(name) for name in methods},
        metrics={name: plugin_call.metric(name) for name in METRICS},
        seed=seed,
    )


def table(entries: Sequence[Entry]) -> str:
    return leaderboard.to_json(leaderboard.rows(entries))


def tried(folder: Path, model: Interacting, count: int = 10, chunk_size: int = 8) -> list[Entry]:
    examples, store = some_examples(count), Store(folder)
    return evaluator.evaluate(assignment(examples), model, examples, store, chunk_size=chunk_size)


def test_a_second_run_computes_nothing_and_gives_the_same_bytes(tmp_path: Path) -> None:
    first, again = Interacting(), Interacting()
    a = tried(tmp_path, first)
    b = tried(tmp_path, again)
    assert first.rows and not again.rows
    assert table(a) == table(b)


class Killed(BaseException):
    """What stands for a signal: nothing in the engine catches it."""


@pytest.mark.parametrize("stop_after", [1, 2])
def test_an_interrupted_run_goes_on_and_ends_in_the_same_bytes(
    tmp_path: Path, stop_after: int
) -> None:
    whole = table(tried(tmp_path / "whole", Interacting(), chunk_size=4))

    def stop(done: int, total: int, rows: int) -> None:
        if done == 4 * stop_after:
            raise Killed

    examples, cut, rest = some_examples(10), Interacting(), Interacting()
    store = Store(tmp_path / "cut")
    with pytest.raises(Killed):
        evaluator.evaluate(assignment(examples), cut, examples, store, progress=stop, chunk_size=4)
    assert not store.all()
    entries = evaluator.evaluate(assignment(examples), rest, examples, store, chunk_size=4)
    assert table(entries) == whole
    assert not set(cut.rows) & set(rest.rows)
    finished = {x.digest for x in examples[: 4 * stop_after]}
    assert not finished & {row[0] for row in rest.rows}


def test_chunks_do_not_matter(tmp_path: Path) -> None:
    small = table(tried(tmp_path / "1", Interacting(), chunk_size=1))
    large = table(tried(tmp_path / "99", Interacting(), chunk_size=99))
    assert small == large


def test_a_method_added_later_asks_only_what_is_new(tmp_path: Path) -> None:
    examples, store = some_examples(6), Store(tmp_path)
    first, later = Interacting(), Interacting()
    evaluator.evaluate(assignment(examples, methods=["random"]), first, examples, store)
    entries = evaluator.evaluate(assignment(examples), later, examples, store)
    assert not set(first.rows) & set(later.rows)
    fresh = table(tried(tmp_path / "fresh", Interacting(), count=6))
    assert table(entries) == fresh


def test_no_row_is_computed_twice(tmp_path: Path) -> None:
    model = Interacting()
    tried(tmp_path, model)
    assert len(model.rows) == len(set(model.rows))


def test_controls_stand_on_every_board_in_their_order(tmp_path: Path) -> None:
    entries = tried(tmp_path, Interacting())
    for entry in entries:
        assert set(entry.record.cells) == {
            m for m in METRICS if m != "average_precision" or entry.record.spec.removal == "mask"
        }
    frame = leaderboard.frame(leaderboard.rows(entries))
    for (_, metric), group in frame.groupby(["removal", "metric"]):
        by = group.set_index("method").value
        sign = 1 if group.direction.iloc[0] == "higher" else -1
        assert sign * by["worst_order"] < sign * by["best_order"]
        for name in (*METHODS, "random_order"):
            ranked = sign * np.array([by["worst_order"], by[name], by["best_order"]])
            assert (np.diff(ranked) >= -1e-12).all(), (metric, name)
        assert set(CONTROLS) <= set(by.index)


def test_normalised_values_are_recomputed_from_the_controls(tmp_path: Path) -> None:
    entries = {
        (e.record.spec.label, e.record.spec.removal): e for e in tried(tmp_path, Interacting())
    }
    for removal in ("mask", "delete"):
        best, worst, own = (
            entries[name, removal].trials for name in ("best_order", "worst_order", "occlusion")
        )
        for b, w, t in zip(best, worst, own, strict=True):
            for metric in ("aopc", "deletion_auc", "comprehensiveness"):
                low, high, value = w.values[metric], b.values[metric], t.values[metric]
                assert low is not None and high is not None and value is not None
                slow = (value - low) / (high - low)
                assert t.normalised[metric] == pytest.approx(slow, abs=1e-9)
                assert normalise(value, high, low) == pytest.approx(slow, abs=1e-9)


def test_the_class_stays_the_one_of_the_full_input(tmp_path: Path) -> None:
    examples = some_examples(6)
    entries = tried(tmp_path, Interacting(), count=6)
    outputs = Interacting().keep(
        [(Subject(x, "mask", Target(0)), np.ones((1, x.n), bool)) for x in examples]
    )
    classes = [int(o[0].argmax()) for o in outputs]
    assert 0 < sum(classes) < len(classes)  # both classes occur
    for entry in entries:
        assert [t.target for t in entry.trials] == classes


def test_seeds_follow_content_and_run() -> None:
    a, b = some_examples(2)
    assert seed_of(0, a) == seed_of(0, replace(a, id="renamed"))
    assert len({seed_of(0, a), seed_of(0, b), seed_of(1, a)}) == 3


def test_every_job_has_a_digest_of_its_own() -> None:
    examples = some_examples(3)
    names = [job.spec.digest for job in jobs(assignment(examples))]
    assert len(names) == len(set(names)) == 2 * (len(METHODS) + len(CONTROLS))
    other = [job.spec.digest for job in jobs(assignment(examples, seed=1))]
    assert not set(names) & set(other)


def test_only_methods_that_the_model_lacks_are_an_error_before_anything_is_computed(
    tmp_path: Path,
) -> None:
    examples, model = some_examples(3), Interacting()
    a = assignment(examples, methods=["attention"])
    with pytest.raises(NotApplicable, match="attention is not applicable: needs 'attend'"):
        evaluator.evaluate(a, model, examples, Store(tmp_path))
    assert not model.rows


def test_a_method_that_the_model_lacks_is_a_marked_row_among_others(tmp_path: Path) -> None:
    examples = some_examples(8)
    a = assignment(examples, methods=["occlusion", "random", "attention"])
    entries = evaluator.evaluate(a, Interacting(), examples, Store(tmp_path))
    rows = [r for r in leaderboard.rows(entries) if r.method == "attention"]
    why = {"not applicable: needs 'attend', which this model can't answer": 8}
    assert len(rows) == 4 + 3  # evidence is measured under one removal only
    assert all((r.n, r.value, r.rank_low, r.reasons) == (0, None, None, why) for r in rows)
    assert not any(r.applicable for r in rows)
    page, text = report.render(entries, "html"), report.render(entries, "md")
    assert page.count(">not applicable</td>") == 7 and text.count("| n/a") == 2 * 7
    assert "`attention` is not applicable: needs 'attend'" in text


@dataclass
class Attending(Interacting):
    """The same model when it can show its attention."""

    answers: frozenset[str] = frozenset({"keep", "attend"})

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        return [Attention(_uniform(len(s.example.ids), q)) for s, q in asks]


def _uniform(t: int, q: Attend) -> Floats:
    return np.full((1, t, t) if q.fuse else (1, 1, t, t), 1 / t)


def test_what_was_not_applicable_is_tried_once_it_is(tmp_path: Path) -> None:
    examples, store = some_examples(5), Store(tmp_path)
    a = assignment(examples, methods=["occlusion", "attention"])
    first = evaluator.evaluate(a, Interacting(), examples, store)
    again = evaluator.evaluate(a, Attending(), examples, store)
    for before, after in zip(first, again, strict=True):
        assert before.record.spec == after.record.spec
        assert (before.record.cells != after.record.cells) == (
            after.record.spec.label == "attention"
        )
    assert all(e.record.cells["aopc"].n == 5 for e in again)


def test_baselines_are_control_rows_unless_asked_for(tmp_path: Path) -> None:
    examples = some_examples(6)
    both = {name: plugin_call.method(name) for name in BASELINES}
    a = replace(assignment(examples, methods=["random", "position"]), baselines=both)
    entries = evaluator.evaluate(a, Interacting(), examples, Store(tmp_path))
    labels = [
        (e.record.spec.label, e.record.spec.control)
        for e in entries
        if e.record.spec.removal == "mask"
    ]
    assert labels == [("random", False), ("position", False), ("constant", True)] + [
        (name, True) for name in CONTROLS
    ]
    rows = leaderboard.rows(entries)
    assert {r.rank_low is None for r in rows if r.method == "constant"} == {True}
    assert all(r.rank_low is not None for r in rows if r.method == "position")
    names = [r.method for r in rows if (r.removal, r.metric, r.control) == ("mask", "aopc", True)]
    assert names == ["best_order", "random_order", "constant", "worst_order"]


def test_constant_scores_get_what_a_random_order_gets(tmp_path: Path) -> None:
    examples = some_examples(6)
    a = assignment(examples, methods=["random"])
    a = replace(a, baselines={"constant": plugin_call.method("constant")})
    entries = evaluator.evaluate(a, Interacting(), examples, Store(tmp_path))
    by = {(e.record.spec.label, e.record.spec.removal): e.trials for e in entries}
    for removal in a.removals:
        for flat, chance in zip(by["constant", removal], by["random_order", removal], strict=True):
            assert flat.values["aopc"] == pytest.approx(chance.values["aopc"], abs=1e-12)


def test_reading_the_other_function_costs_no_row_and_is_what_a_run_would_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_it, without, direct = Interacting(), Interacting(), Interacting()
    entries = tried(tmp_path / "with", with_it)
    with monkeypatch.context() as patch:
        patch.setattr(chunk, "_read_otherwise", lambda *_: None)
        tried(tmp_path / "without", without)
    assert with_it.rows == without.rows and with_it.rows
    for entry in (e for e in entries if not e.record.spec.control):
        for x, t in zip(some_examples(10), entry.trials, strict=True):
            assert list(t.swapped) == ["aopc", "deletion_auc", "comprehensiveness"]
            subject = Subject(x, entry.record.spec.removal, Target(t.target, "log_odds"))
            asker = plugin_call.metric("aopc").value(x, np.array(t.scores), seed_of(0, x))
            (got,) = answer(Value(direct), [(subject, asker)])
            assert t.swapped["aopc"] == pytest.approx(got.result, abs=1e-12)
            assert t.swapped["aopc"] != pytest.approx(t.values["aopc"], abs=1e-3)
    assert all(not t.swapped for e in entries if e.record.spec.control for t in e.trials)
    assert Store(tmp_path / "with").get(entries[0].record.spec.digest) == entries[0]


REFUSES = '''"""Refuses short inputs."""
import numpy as np
from attrial.ask import Asking, Undefined, note
from attrial.example import Example
from attrial.masks import Scores
ASKS, VERSION = (), 1
def refuses(x: Example, *, seed: int) -> Asking[Scores]:
    """Refuse."""
    yield from note({})
    if x.n < 5:
        raise Undefined("too short")
    return np.arange(x.n, dtype=float)
'''


def test_a_method_without_scores_is_counted_not_filled(tmp_path: Path) -> None:
    path = tmp_path / "refuses.py"
    path.write_text(REFUSES)
    examples = some_examples(8)  # 3, 4, 5, 6 players, twice
    a = assignment(examples, methods=["random"])
    a = replace(a, methods={**a.methods, "refuses": plugin_call.method(str(path))})
    entries = evaluator.evaluate(a, Interacting(), examples, Store(tmp_path / "out"))
    by = {(e.record.spec.label, e.record.spec.removal): e for e in entries}
    for removal in a.removals:
        cell = by["refuses", removal].record.cells["aopc"]
        assert (cell.n, cell.undefined) == (4, {"no scores: too short": 4})
        assert by["random", removal].record.cells["aopc"].n == 8
        assert by["refuses", removal].trials[0].scores == []
    page = report.render(entries, "html")
    assert "no scores: too short" in page and "refuses" in report.render(entries, "md")
