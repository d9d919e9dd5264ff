"""One loop answers all askers: nothing is computed twice, nothing depends on company."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attrial import testing
from attrial.ask import Asking, Attend, Attention, Slope, Slopes, attend, keep, note, slope
from attrial.errors import AttrialError, NotApplicable, Undefined
from attrial.example import plain
from attrial.masks import Floats, Masks, Values, everything, keys
from attrial.target import Target
from attrial.value import Subject, Value, answer

LOGIT = Target(0, "logit")


@dataclass
class Counting:
    """An additive model of two outputs that counts the rows that it computes."""

    weights: Floats
    rows: list[bytes] = field(default_factory=list)
    calls: int = 0
    answers: frozenset[str] = frozenset({"keep"})

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        self.calls += 1
        for subject, masks in asks:
            self.rows += [subject.removal.encode() + k for k in keys(masks)]
        return [np.stack([m @ self.weights, -(m @ self.weights)], axis=1) for _, m in asks]

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        raise AssertionError("not asked")

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        raise AssertionError("not asked")


def ask_twice(masks: Masks) -> Asking[Values]:
    first = yield from keep(masks)
    again = yield from keep(masks[::-1])
    np.testing.assert_array_equal(first, again[::-1])
    return first


@given(hnp.arrays(bool, st.tuples(st.integers(1, 9), st.just(13))), st.integers(1, 5))
def test_no_row_is_computed_twice_however_many_ask(masks: Masks, window: int) -> None:
    model = Counting(np.arange(13.0))
    subject = Subject(plain(13), "mask", LOGIT)
    got = answer(Value(model), [(subject, ask_twice(masks)) for _ in range(4)], window=window)
    assert len(model.rows) == len(set(model.rows)) == len(np.unique(masks, axis=0))
    assert sum(a.cost.computed for a in got) == len(model.rows)
    assert all(a.cost.rows == 2 * len(masks) for a in got)
    for a in got:
        assert a.result is not None
        np.testing.assert_allclose(a.result, masks @ np.arange(13.0))


def test_one_round_is_one_call_for_all_askers() -> None:
    model = Counting(np.arange(3.0))
    seats = [(Subject(plain(3), r, LOGIT), keep(everything(3))) for r in ("mask", "delete")]
    answer(Value(model), seats)
    assert model.calls == 1


def test_removals_and_examples_are_told_apart_but_targets_share_outputs() -> None:
    model = Counting(np.arange(3.0))
    value = Value(model)
    a, b = plain(3), replace(plain(3), ids=np.array([5, 6, 7]))
    subjects = [
        Subject(a, "mask", LOGIT),
        Subject(b, "mask", LOGIT),
        Subject(a, "delete", LOGIT),
        Subject(a, "mask", Target(1, "probability")),
    ]
    answer(value, [(s, keep(everything(3))) for s in subjects])
    assert len(model.rows) == 3


def silent(result: float) -> Asking[float]:
    """An asker that knows without asking."""
    yield from ()
    return result


def test_a_window_full_of_askers_that_ask_nothing_is_not_the_end() -> None:
    subject = Subject(plain(3), "mask", LOGIT)
    seats = [(subject, silent(i)) for i in range(10)]
    got = answer(Value(Counting(np.ones(3))), seats, window=4)
    assert [a.result for a in got] == list(range(10))


def test_askers_are_admitted_through_the_window() -> None:
    alive: set[int] = set()
    most = 0

    def asker(i: int) -> Asking[int]:
        nonlocal most
        alive.add(i)
        most = max(most, len(alive))
        yield from keep(everything(3))
        alive.discard(i)
        return i

    seats = ((Subject(plain(3), "mask", LOGIT), asker(i)) for i in range(20))
    got = answer(Value(Counting(np.ones(3))), seats, window=4)
    assert [a.result for a in got] == list(range(20)) and most <= 4


def test_an_undefined_cell_keeps_its_reason_and_its_notes() -> None:
    def asker() -> Asking[float]:
        yield from note({"before": 1.0})
        yield from keep(everything(2))
        raise Undefined("no evidence")

    (got,) = answer(Value(Counting(np.ones(2))), [(Subject(plain(2), "mask", LOGIT), asker())])
    assert (got.result, got.undefined, got.notes) == (None, "no evidence", {"before": 1.0})


def test_a_question_that_the_model_cannot_answer_is_named() -> None:
    game = testing.game(2, lambda masks: masks.sum(1))
    for asker, name in ((slope(np.ones((1, 2))), "slope"), (attend(), "attend")):
        with pytest.raises(NotApplicable, match=name):
            answer(Value(game), [(Subject(plain(2), "mask", LOGIT), asker)])


def test_outputs_that_are_not_finite_are_refused() -> None:
    game = testing.game(2, lambda masks: np.full(len(masks), np.nan))
    with pytest.raises(AttrialError, match="outputs on example game are not finite"):
        testing.attribute("occlusion", game)


@given(hnp.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 40))))
def test_known_masks_read_back(masks: Masks) -> None:
    value = Value(Counting(np.ones(masks.shape[1])))
    subject = Subject(plain(masks.shape[1]), "mask", LOGIT)
    answer(value, [(subject, keep(masks))])
    again = value.known(subject).masks(masks.shape[1])
    np.testing.assert_array_equal(np.unique(again, axis=0), np.unique(masks, axis=0))


def test_targets_read_what_they_say() -> None:
    outputs = np.array([[1.0, 2.0, -1.0], [0.0, 800.0, 3.0]])
    p = np.exp(outputs[0]) / np.exp(outputs[0]).sum()
    assert Target(1, "logit").read(outputs)[0] == 2.0
    assert Target(1, "probability").read(outputs)[0] == pytest.approx(p[1], abs=1e-12)
    assert Target(1, "log_probability").read(outputs)[0] == pytest.approx(np.log(p[1]), abs=1e-12)
    assert Target(1).read(outputs)[0] == pytest.approx(np.log(p[1] / (1 - p[1])), abs=1e-12)
    assert Target(1).read(outputs)[1] == pytest.approx(800 - np.log(1 + np.exp(3)))
    assert Target(0).read(np.array([[3.0]]))[0] == 3.0
