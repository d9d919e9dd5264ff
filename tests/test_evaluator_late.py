"""Methods of which it turns out only while they ask that a model can't answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from attrial import evaluator
from attrial.ask import Attend, Attention
from attrial.errors import NotApplicable
from attrial.store import Store
from attrial.value import Subject
from tests.test_evaluator import Attending, assignment, some_examples

WHY = "no square matrix a layer"


@dataclass
class Late(Attending):
    """It says that it shows its attention, and then can't."""

    asked: list[str] = field(default_factory=list)

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        self.asked += [subject.example.id for subject, _ in asks]
        raise NotApplicable(WHY)


def test_what_turned_out_not_applicable_is_not_tried_again(tmp_path: Path) -> None:
    examples, model = some_examples(5), Late()
    a = assignment(examples, methods=["occlusion", "attention"])
    first = evaluator.evaluate(a, model, examples, Store(tmp_path))
    assert set(model.asked) == {x.id for x in examples}
    asked, rows = len(model.asked), len(model.rows)
    again = evaluator.evaluate(a, model, examples, Store(tmp_path))
    assert (len(model.asked), len(model.rows)) == (asked, rows)
    assert [e.record for e in again] == [e.record for e in first]
    lacking = [e.record for e in again if e.record.spec.label == "attention"]
    assert len(lacking) == 2  # removals
    for cell in (cell for record in lacking for cell in record.cells.values()):
        assert cell.undefined == {f"not applicable: {WHY}": 5}


def test_no_method_that_turns_out_applicable_is_an_error_each_time(tmp_path: Path) -> None:
    examples, model = some_examples(3), Late()
    a = assignment(examples, methods=["attention"])
    for _ in range(2):
        with pytest.raises(NotApplicable, match=f"attention is not applicable: {WHY}"):
            evaluator.evaluate(a, model, examples, Store(tmp_path))
    assert len(set(model.asked)) == 3
    both = assignment(examples, methods=["attention", "random"])
    assert evaluator.evaluate(both, model, examples, Store(tmp_path))
