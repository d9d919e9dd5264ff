"""The asking loop: askers of many examples advance side by side, their questions pooled.

Methods and metrics never call a model. They *ask* (``attrial.ask``), and one loop here sees every
question of a round at once; ``attrial.pool`` drops what is known, shares what is asked twice,
remembers the outputs, and reads each asker's target from them afterwards.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

from attrial.ask import (
    Asking,
    Attend,
    Infill,
    Keep,
    Layers,
    Note,
    Noted,
    Question,
    Relevance,
    Reply,
    Slope,
    Soften,
    Suppress,
    Undefined,
)
from attrial.errors import NOT_APPLICABLE, NotApplicable
from attrial.known import Known as Known
from attrial.pool import Value as Value
from attrial.subject import Model as Model
from attrial.subject import Propagating as Propagating
from attrial.subject import Subject as Subject

R = TypeVar("R")
Q = TypeVar("Q")
WINDOW = 512  # askers that run side by side


@dataclass
class Cost:
    """What one asker asked for; ``computed`` are the rows that nobody had asked before."""

    rows: int = 0
    computed: int = 0
    slopes: int = 0
    attends: int = 0


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
    spared: bool = False

    def advance(self, reply: Reply | NotApplicable) -> bool:
        """Send a reply and run to the next question; False when the asker has ended."""
        try:
            if isinstance(reply, NotApplicable):
                raise reply
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
        except NotApplicable as why:
            if not self.spared:
                raise
            self.answer.undefined = f"{NOT_APPLICABLE}: {why}"
            return False
        self.question = question
        return True


def answer(
    value: Value,
    askers: Iterable[tuple[Subject, Asking[R]]],
    *,
    window: int = WINDOW,
    spared: bool = False,
) -> list[Answer[R]]:
    """Run many askers side by side, ``window`` at a time, in rounds of shared questions.

    Args:
        value: The model behind its memory.
        askers: What asks, and about what.
        window: How many run at a time.
        spared: Whether an asker of what the model turns out not to answer ends with that for a
            reason, and the others go on.

    Returns:
        One ``Answer`` an asker, in their order.

    Raises:
        NotApplicable: If the model can't answer a question that is asked, and none is spared.
    """
    waiting: Iterator[tuple[Subject, Asking[R]]] = iter(askers)
    answers: list[Answer[R]] = []
    seats: deque[_Seat[R]] = deque()
    while True:
        admitted = len(answers)
        for subject, asker in islice(waiting, window - len(seats)):
            seat = _Seat(subject, asker, Answer(), spared=spared)
            answers.append(seat.answer)
            if seat.advance(None):
                seats.append(seat)
        if not seats and len(answers) == admitted:
            return answers
        replies = _round(value, seats)
        seats = deque(s for s, reply in zip(seats, replies, strict=True) if s.advance(reply))


def _round(value: Value, seats: Sequence[_Seat[R]]) -> list[Reply | NotApplicable]:
    """Answer every seat's question, each kind pooled."""
    replies: dict[int, Reply | NotApplicable] = {**_keeps(value, seats)}
    replies |= _pooled(value, seats, Slope, value.slope)
    replies |= _pooled(value, seats, Attend, value.attend)
    replies |= _pooled(value, seats, Relevance, value.relevance)
    replies |= _pooled(value, seats, Soften, value.soften)
    replies |= _pooled(value, seats, Suppress, value.suppress)
    replies |= _pooled(value, seats, Infill, value.infill)
    replies |= _pooled(value, seats, Layers, value.layers)
    return [replies[i] for i in range(len(seats))]


def _keeps(value: Value, seats: Sequence[_Seat[R]]) -> dict[int, Reply]:
    asked = [(i, s, s.question) for i, s in enumerate(seats) if isinstance(s.question, Keep)]
    values, fresh = value.keep([(s.subject, q.masks) for _, s, q in asked])
    for (_, seat, q), new in zip(asked, fresh, strict=True):
        seat.answer.cost.rows += len(q.masks)
        seat.answer.cost.computed += new
    return {i: reply for (i, _, _), reply in zip(asked, values, strict=True)}


def _pooled(
    value: Value,
    seats: Sequence[_Seat[R]],
    kind: type[Q],
    run: Callable[[Sequence[tuple[Subject, Q]]], Sequence[Reply]],
) -> dict[int, Reply | NotApplicable]:
    """Answer the questions of one kind, and charge those who asked.

    Where the model can't answer one of them, and its asker is spared, each is asked by itself.
    """
    asked = [(i, s, s.question) for i, s in enumerate(seats) if isinstance(s.question, kind)]
    if not asked:
        return {}
    _demand(value.model, kind.__name__.lower())
    for _, seat, q in asked:
        _charge(seat.answer.cost, q)
    try:
        replies = run([(seat.subject, q) for _, seat, q in asked])
    except NotApplicable:
        if not all(seat.spared for _, seat, _ in asked):
            raise
        return {i: _alone(run, (seat.subject, q)) for i, seat, q in asked}
    return {i: reply for (i, _, _), reply in zip(asked, replies, strict=True)}


def _alone(
    run: Callable[[Sequence[tuple[Subject, Q]]], Sequence[Reply]], ask: tuple[Subject, Q]
) -> Reply | NotApplicable:
    try:
        return run([ask])[0]
    except NotApplicable as why:
        return why


def _charge(cost: Cost, question: object) -> None:
    match question:
        case Slope(points=points):
            cost.slopes += len(points)
        case Relevance():
            cost.slopes += 1  # one forward and one backward, as a slope's
        case Attend() | Layers():
            cost.attends += 1
        case Soften(shares=rows) | Suppress(shares=rows) | Infill(masks=rows):
            cost.rows += len(rows)
            cost.computed += len(rows)


def _demand(model: Model, question: str) -> None:
    if question not in model.answers:
        raise NotApplicable(
            f"this model can't answer {question!r}; it answers {sorted(model.answers)}"
        )
