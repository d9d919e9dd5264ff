"""The value function: what a model says when only some players are kept, asked once and remembered.

Methods and metrics never call a model. They *ask* (``attrial.ask``), and one loop here sees every
question of a round at once: it drops what is known, pools the rest of all examples into shared
calls, remembers the outputs, and reads each asker's target from them afterwards.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar, cast

import numpy as np

from attrial.ask import (
    Asking,
    Attend,
    Attention,
    Keep,
    Note,
    Noted,
    Question,
    Relevance,
    Relevances,
    Reply,
    Slope,
    Slopes,
    Undefined,
)
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.known import Known as Known
from attrial.masks import Masks, Values, keys
from attrial.subject import Model as Model
from attrial.subject import Propagating as Propagating
from attrial.subject import Subject as Subject

R = TypeVar("R")
S = TypeVar("S")
Q = TypeVar("Q")
WINDOW = 512  # askers that run side by side


@dataclass
class Cost:
    """What one asker asked for; ``computed`` are the rows that nobody had asked before."""

    rows: int = 0
    computed: int = 0
    slopes: int = 0
    attends: int = 0


def _unwatched(computed: int) -> None:
    """Nobody wants to know."""


@dataclass
class Value:
    """A model behind a memory of its outputs, keyed by content and removal.

    Attributes:
        model: What answers.
        memory: Its outputs so far.
        computed: Rows that it was asked for.
        watch: Told ``computed`` whenever it has grown.
    """

    model: Model
    memory: dict[tuple[str, str], Known] = field(default_factory=dict)
    computed: int = 0
    watch: Callable[[int], None] = _unwatched

    def known(self, subject: Subject) -> Known:
        """The memory of one example under one removal."""
        return self.memory.setdefault((subject.example.digest, subject.removal), Known())

    def forget(self, examples: Iterable[Example]) -> None:
        """Drop what is remembered of these examples."""
        gone = {x.digest for x in examples}
        self.memory = {key: known for key, known in self.memory.items() if key[0] not in gone}

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> tuple[list[Values], list[int]]:
        """Values of every ask, and how many rows of each nobody had asked before."""
        asked = [keys(masks) for _, masks in asks]
        fresh = [0] * len(asks)
        pending: dict[tuple[str, str], tuple[Subject, dict[bytes, Masks]]] = {}
        for i, ((subject, masks), row_keys) in enumerate(zip(asks, asked, strict=True)):
            place = (subject.example.digest, subject.removal)
            rows = pending.setdefault(place, (subject, {}))[1]
            known, before = self.known(subject).index, len(rows)
            for key, mask in zip(row_keys, masks, strict=True):
                if key not in known and key not in rows:
                    rows[key] = mask
            fresh[i] = len(rows) - before
        self._compute([(subject, rows) for subject, rows in pending.values() if rows])
        values = [
            subject.target.read(self.known(subject).rows(row_keys))
            for (subject, _), row_keys in zip(asks, asked, strict=True)
        ]
        return values, fresh

    def _compute(self, pending: list[tuple[Subject, dict[bytes, Masks]]]) -> None:
        asks = [(subject, np.stack(list(rows.values()))) for subject, rows in pending]
        for (subject, rows), outputs in zip(
            pending, self.model.keep(asks) if asks else [], strict=True
        ):
            if not np.isfinite(outputs).all():
                raise ArithmeticError(
                    f"the model's outputs on example {subject.example.id} are not finite"
                )
            self.known(subject).add(list(rows), np.asarray(outputs, np.float64))
            self.computed += len(rows)
        self.watch(self.computed)

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Gradients, one pass for all who ask alike."""
        return _once(asks, [_slope_key(s, q) for s, q in asks], self.model.slope)

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """Attention weights, one pass for all who ask alike."""
        alike = [(s.example.digest, s.target if q.gradient else None, q) for s, q in asks]
        return _once(asks, alike, self.model.attend)

    def relevance(self, asks: Sequence[tuple[Subject, Relevance]]) -> list[Relevances]:
        """Relevance, one pass for all who ask alike; of a model that says that it answers."""
        alike = [(s.example.digest, s.target, q) for s, q in asks]
        return _once(asks, alike, cast(Propagating, self.model).relevance) if asks else []


def _slope_key(subject: Subject, q: Slope) -> object:
    points = np.ascontiguousarray(q.points).tobytes()
    draws = None if q.draws is None else tuple(np.asarray(q.draws).tolist())
    return (subject.example.digest, subject.target, points, q.baseline, q.noise, q.seed, draws)


def _once(
    asks: Sequence[tuple[Subject, Q]],
    alike: Sequence[object],
    run: Callable[[Sequence[tuple[Subject, Q]]], list[S]],
) -> list[S]:
    """Run each distinct ask once and hand its answer to all who asked it."""
    first: dict[object, int] = {}
    for i, key in enumerate(alike):
        first.setdefault(key, i)
    answers = dict(zip(first, run([asks[i] for i in first.values()]) if asks else [], strict=True))
    return [answers[key] for key in alike]


@dataclass
class Answer(Generic[R]):
    """What became of one asker: its result, or why there is none, with its notes and its cost."""

    result: R | None = None
    undefined: str | None = None
    notes: dict[str, Noted] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)


@dataclass
class _Seat(Generic[R]):
    subject: Subject
    asker: Asking[R]
    answer: Answer[R]
    question: Question | None = None

    def advance(self, reply: Reply) -> bool:
        """Send a reply and run to the next question; False when the asker has ended."""
        try:
            question = self.asker.send(reply)
            while isinstance(question, Note):
                self.answer.notes.update(question.noted)
                question = self.asker.send(None)
        except StopIteration as stop:
            self.answer.result = stop.value
            return False
        except Undefined as why:
            self.answer.undefined = str(why)
            return False
        self.question = question
        return True


def answer(
    value: Value, askers: Iterable[tuple[Subject, Asking[R]]], *, window: int = WINDOW
) -> list[Answer[R]]:
    """Run many askers side by side, ``window`` at a time, in rounds of shared questions.

    Returns:
        One ``Answer`` an asker, in their order.

    Raises:
        NotApplicable: If the model can't answer a question that is asked.
    """
    waiting: Iterator[tuple[Subject, Asking[R]]] = iter(askers)
    answers: list[Answer[R]] = []
    seats: deque[_Seat[R]] = deque()
    while True:
        for subject, asker in islice(waiting, window - len(seats)):
            seat = _Seat(subject, asker, Answer())
            answers.append(seat.answer)
            if seat.advance(None):
                seats.append(seat)
        if not seats:
            return answers
        replies = _round(value, seats)
        seats = deque(s for s, reply in zip(seats, replies, strict=True) if s.advance(reply))


def _round(value: Value, seats: Sequence[_Seat[R]]) -> list[Reply]:
    """Answer every seat's question, each kind pooled."""
    replies: dict[int, Reply] = {}
    replies |= _keeps(value, seats)
    slopes = [(i, s, s.question) for i, s in enumerate(seats) if isinstance(s.question, Slope)]
    _demand(value.model, "slope", slopes)
    for _, seat, q in slopes:
        seat.answer.cost.slopes += len(q.points)
    replies |= _pooled(value.slope, [(i, s.subject, q) for i, s, q in slopes])
    attends = [(i, s, s.question) for i, s in enumerate(seats) if isinstance(s.question, Attend)]
    _demand(value.model, "attend", attends)
    for _, seat, _q in attends:
        seat.answer.cost.attends += 1
    replies |= _pooled(value.attend, [(i, s.subject, q) for i, s, q in attends])
    replies |= _relevances(value, seats)
    return [replies[i] for i in range(len(seats))]


def _keeps(value: Value, seats: Sequence[_Seat[R]]) -> dict[int, Reply]:
    asked = [(i, s, s.question) for i, s in enumerate(seats) if isinstance(s.question, Keep)]
    values, fresh = value.keep([(s.subject, q.masks) for _, s, q in asked])
    for (_, seat, q), new in zip(asked, fresh, strict=True):
        seat.answer.cost.rows += len(q.masks)
        seat.answer.cost.computed += new
    return {i: reply for (i, _, _), reply in zip(asked, values, strict=True)}


def _relevances(value: Value, seats: Sequence[_Seat[R]]) -> dict[int, Reply]:
    asked = [(i, s, s.question) for i, s in enumerate(seats) if isinstance(s.question, Relevance)]
    _demand(value.model, "relevance", asked)
    for _, seat, _q in asked:
        seat.answer.cost.slopes += 1  # one forward and one backward, as a slope's
    return _pooled(value.relevance, [(i, s.subject, q) for i, s, q in asked])


def _pooled(
    run: Callable[[Sequence[tuple[Subject, Q]]], Sequence[Reply]],
    asked: Sequence[tuple[int, Subject, Q]],
) -> dict[int, Reply]:
    replies = run([(subject, q) for _, subject, q in asked])
    return {i: reply for (i, _, _), reply in zip(asked, replies, strict=True)}


def _demand(model: Model, question: str, asks: Sequence[object]) -> None:
    if asks and question not in model.answers:
        raise NotApplicable(
            f"this model can't answer {question!r}; it answers {sorted(model.answers)}"
        )
