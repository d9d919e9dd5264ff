"""Libraries that call a model function of their own, joined to the questions by a worker thread.

A generator can't yield from inside somebody else's call. So the library runs in a thread, each
call of its function becomes a question of the generator, and the thread waits for the answer::

    def my_method(x: Example, *, seed: int) -> Asking[Scores]:
        return join(lambda ask: their_explainer(lambda masks: ask(keep(masks))), seed=seed)

Only one of the two runs at any moment, so nothing is shared and nothing is locked.
"""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from attrial.ask import Asking

R = TypeVar("R")
T = TypeVar("T")


class Ask(Protocol):
    """What the library's thread calls to have a question answered: ``ask(keep(masks))``."""

    def __call__(self, asking: Asking[R], /) -> R:
        """The answer; waits for it."""


class Generator(Protocol):
    """A global random generator that a library draws from."""

    def seed(self, seed: int) -> None:
        """Start afresh."""

    def state(self) -> Any:  # noqa: ANN401  # whatever the generator calls its state
        """What it is at."""

    def restore(self, state: Any) -> None:  # noqa: ANN401
        """Go back to a state."""


class NumPyGlobal:
    """NumPy's global generator, which shap draws from."""

    def seed(self, seed: int) -> None:
        """Start afresh; the seed is taken modulo 2^32."""
        np.random.seed(seed % 2**32)  # noqa: NPY002  # the very state that libraries draw from

    def state(self) -> Any:  # noqa: ANN401
        """What it is at."""
        return np.random.get_state()  # noqa: NPY002

    def restore(self, state: Any) -> None:  # noqa: ANN401
        """Go back to a state."""
        np.random.set_state(state)  # noqa: NPY002


class PythonGlobal:
    """The generator of Python's ``random``."""

    def seed(self, seed: int) -> None:
        """Start afresh."""
        random.seed(seed)

    def state(self) -> Any:  # noqa: ANN401
        """What it is at."""
        return random.getstate()

    def restore(self, state: Any) -> None:  # noqa: ANN401
        """Go back to a state."""
        random.setstate(state)


EVERYWHERE: tuple[Generator, ...] = (NumPyGlobal(), PythonGlobal())


class _Closed(BaseException):
    """Nobody waits for the library's result any more: unwinds its thread."""


@dataclass(frozen=True)
class _Asked:
    asking: Asking[Any]


@dataclass(frozen=True)
class _Ended(Generic[T]):
    result: T | None = None
    error: BaseException | None = None


@dataclass
class _Worker(Generic[T]):
    """The library's thread: it runs while ``resume`` waits, and waits otherwise."""

    work: Callable[[Ask], T]
    told: SimpleQueue[Any] = field(default_factory=SimpleQueue)
    asked: SimpleQueue[_Asked | _Ended[T]] = field(default_factory=SimpleQueue)
    closed: bool = False

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, name="attrial library", daemon=True)
        self.thread.start()

    def resume(self, reply: object) -> _Asked | _Ended[T]:
        """Let the library run on with a reply until it asks again or ends."""
        self.told.put(reply)
        return self.asked.get()

    def close(self) -> None:
        """Unwind the library wherever it waits, and see its thread end."""
        self.closed = True
        self.told.put(None)
        self.thread.join()

    def _run(self) -> None:
        try:
            self._wait()
            self.asked.put(_Ended(result=self.work(self._ask)))
        except _Closed:
            return
        except BaseException as error:
            self.asked.put(_Ended(error=error))

    def _ask(self, asking: Asking[R], /) -> R:
        if self.closed:  # a library that swallowed the first one
            raise _Closed
        self.asked.put(_Asked(asking))
        reply: R = self._wait()
        return reply

    def _wait(self) -> Any:  # noqa: ANN401  # the answer to whatever was asked
        reply = self.told.get()
        if self.closed:
            raise _Closed
        return reply


def join(work: Callable[[Ask], T], *, seed: int, generators: Sequence[Generator] = ()) -> Asking[T]:
    """Run ``work`` in a thread of its own; what it asks becomes this generator's questions.

    Global random generators (NumPy's, Python's, and those given) are seeded for the library and
    hold its state only while it runs: at each question, and at the end, everybody else's is back.

    Args:
        work: Calls the library; its argument answers questions: ``ask(keep(masks))``.
        seed: Of the global generators.
        generators: More of them, such as torch's.

    Raises:
        Exception: Whatever ``work`` raises.
    """
    own = _OwnStates((*EVERYWHERE, *generators), seed)
    worker = _Worker(work)
    try:
        reply: object = None
        while True:
            with own.installed():
                event = worker.resume(reply)
            if isinstance(event, _Ended):
                return _result(event)
            reply = yield from event.asking
    finally:
        with own.installed():
            worker.close()


def _result(ended: _Ended[T]) -> T:
    if ended.error is not None:
        raise ended.error
    return ended.result  # type: ignore[return-value]  # what ended without an error has a result


class _OwnStates:
    """The library's states of the global generators, kept while others run."""

    def __init__(self, generators: Sequence[Generator], seed: int) -> None:
        self.generators = generators
        before = self._states()
        for generator in generators:
            generator.seed(seed)
        self.own = self._states()
        self._restore(before)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """The library's states inside, everybody else's after."""
        before = self._states()
        self._restore(self.own)
        try:
            yield
        finally:
            self.own = self._states()
            self._restore(before)

    def _states(self) -> list[Any]:
        return [generator.state() for generator in self.generators]

    def _restore(self, states: Sequence[Any]) -> None:
        for generator, state in zip(self.generators, states, strict=True):
            generator.restore(state)
