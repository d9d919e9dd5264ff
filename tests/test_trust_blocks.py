"""Methods ranked over blocks that share nothing: examples of one metric, or tasks with models."""

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata

from attrial.report.account import document
from attrial.report.parts import Drawing
from attrial.report.parts_markdown import markdown
from attrial.store import Entry
from attrial.trust import grounds, trust
from attrial.trust.ranking import over_examples, over_tasks, primary
from tests.hand_made import By, Cells, entry

N = 12


def drawn(seed: int, level: float = 0.0) -> list[float]:
    return [float(v) for v in level + np.random.default_rng(seed).normal(size=N)]


def turned(values: list[float]) -> list[float]:
    """The same metric as ``deletion_auc``, which is better where it is lower."""
    return [3.0 - v for v in values]


def task(name: str, levels: Mapping[str, float], *, seed: int) -> list[Entry]:
    """Three methods on one task: aopc, its mirror image, and a metric of its own."""
    found = []
    for k, (method, level) in enumerate(levels.items()):
        one, two = drawn(seed + k, level), drawn(seed + 50 + k)
        values: dict[str, Cells] = {"aopc": one, "deletion_auc": turned(one), "insertion_auc": two}
        found.append(entry(By(method, values), task=name))
    return found


LEVELS = {"a": 2.0, "b": 1.0, "c": 0.0}
TWO = [*task("one", LEVELS, seed=1), *task("two", LEVELS, seed=100)]


def test_metrics_and_removals_of_one_task_are_no_blocks() -> None:
    entries = [
        entry(By(m, {"aopc": drawn(k), "sufficiency": drawn(k + 9)}, removal=removal))
        for k, m in enumerate("abc")
        for removal in ("mask", "delete")
    ]
    found = trust(entries)
    part = found.parts[0]
    assert found.overall == () and part.primary is not None
    assert (part.primary.metric, part.primary.removal, part.primary.blocks) == ("aopc", "mask", N)
    assert len(part.others) == 3 and {b.blocks for b in part.others} == {N}
    values = np.array([drawn(k) for k in range(3)])
    assert part.primary.ranking is not None
    assert part.primary.ranking.test.chi2 == pytest.approx(friedmanchisquare(*values).statistic)
    assert sum(isinstance(p, Drawing) for p in document(entries)) == 1


def test_the_metric_that_speaks_is_the_first_that_was_asked_for() -> None:
    names = ("average_precision", "sufficiency", "aopc")
    entries = [entry(By(m, {n: drawn(k) for n in names})) for k, m in enumerate("ab")]
    (ground,) = grounds(entries)
    first = primary(ground)
    assert first is not None and first.metric == "sufficiency"
    (other,) = grounds([entry(By(m, {"gini": drawn(k)})) for k, m in enumerate("ab")])
    only = primary(other)
    assert only is not None and only.metric == "gini"
    assert "Ranked by sufficiency (mask)" in markdown(document(entries))


def test_a_task_with_a_model_is_one_block_and_twins_count_once() -> None:
    """By hand: ranks of means by aopc and insertion_auc, averaged, ranked, squared."""
    over = over_tasks(grounds(TWO), "faithfulness")
    assert over is not None and over.ranking is not None
    assert (over.blocks, over.left_out) == (2, ())
    assert over.same == (("deletion_auc", "aopc"),)
    slow = []
    for seed in (1, 100):
        one = [np.mean(drawn(seed + k, level)) for k, level in enumerate(LEVELS.values())]
        two = [np.mean(drawn(seed + 50 + k)) for k in range(3)]
        slow.append(rankdata(np.mean([rankdata(np.negative(one)), rankdata(np.negative(two))], 0)))
    ranks = dict(zip(over.methods, over.ranking.ranks, strict=True))
    assert [ranks[m] for m in "abc"] == pytest.approx(np.mean(slow, 0))


def test_boards_of_one_task_and_model_are_one_block() -> None:
    again = []
    for e in TWO[:3]:
        spec = e.record.spec.model_copy(update={"seed": 1})
        again.append(Entry(e.record.model_copy(update={"spec": spec}), e.trials))
    assert over_tasks(grounds([*TWO[:3], *again]), "faithfulness") is None
    over = over_tasks(grounds([*TWO, *again]), "faithfulness")
    assert over is not None and over.blocks == 2


def test_metrics_that_only_look_alike_both_count() -> None:
    other = [
        entry(By(m, {"aopc": drawn(k), "insertion_auc": [*drawn(k)[:-1], 5.0 + k]}), task=name)
        for name in ("one", "two")
        for k, m in enumerate("ab")
    ]
    over = over_tasks(grounds(other), "faithfulness")
    assert over is not None and over.same == ()


def test_too_few_blocks_for_many_methods_are_said_to_be_too_few() -> None:
    many = {f"m{k}": float(k) for k in range(6)}
    found = [*task("one", many, seed=1), *task("two", many, seed=100)]
    text = markdown(document(found))
    assert "two blocks (task x model)" in text and "it takes 10 blocks at least" in text
    assert "it takes 10 blocks" not in markdown(document(TWO))


def test_a_method_that_a_block_lacks_is_left_out_by_name() -> None:
    both = [entry(By(m, {"aopc": drawn(1), "gini": drawn(2)}), task="one") for m in "abc"]
    less = [entry(By(m, {"aopc": drawn(k)}), task="two") for k, m in enumerate("ab")]
    over = trust([*both, *less]).overall
    assert [(b.family, b.left_out) for b in over] == [("faithfulness", ("c",))]


def test_a_method_that_answers_the_easy_examples_only_has_no_rank() -> None:
    easy = [None if k > 2 else 9.0 for k in range(N)]
    entries = [entry(By(m, {"aopc": drawn(k, k)})) for k, m in enumerate("ab")]
    found = over_examples(grounds([*entries, entry(By("cheat", {"aopc": easy}))])[0].grids[0])
    assert (found.methods, found.left_out, found.blocks) == (("a", "b"), ("cheat",), N)
    rows = {"a": easy, "b": [v and v - 1 for v in easy]}
    nobody = grounds([entry(By(m, {"aopc": row})) for m, row in rows.items()])[0].grids[0]
    alike = over_examples(nobody)  # what nobody has is missed by nobody
    assert (alike.methods, alike.left_out, alike.blocks) == (("a", "b"), (), 3)


def test_methods_that_tie_everywhere_or_are_alone_have_no_ranks() -> None:
    for labels, why in (("ab", "all methods tie in every block"), ("a", "fewer than two methods")):
        entries = [entry(By(m, {"aopc": drawn(0)})) for m in labels]
        found = trust(entries).parts[0].primary
        assert found is not None and found.ranking is None
        assert why in markdown(document(entries))
