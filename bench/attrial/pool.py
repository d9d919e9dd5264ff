"""A model behind a memory of its outputs: every question of a round, pooled and asked once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np

from attrial.ask import (
    Attend,
    Attention,
    Infill,
    Layers,
    Relevance,
    Relevances,
    Slope,
    Slopes,
    Soften,
    Suppress,
)
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.known import Known
from attrial.masks import Floats, Masks, Values, keys
from attrial.subject import (
    Infilling,
    Layered,
    Model,
    Propagating,
    Softening,
    Subject,
    Suppressing,
)

S = TypeVar("S")
Q = TypeVar("Q")


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
            _check(subject, outputs)
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

    def layers(self, asks: Sequence[tuple[Subject, Layers]]) -> list[Attention]:
        """Each layer's own matrices, one pass for all who ask alike."""
        alike = [(s.example.digest, q) for s, q in asks]
        return _once(asks, alike, cast(Layered, self.model).layers) if asks else []

    def soften(self, asks: Sequence[tuple[Subject, Soften]]) -> list[Values]:
        """Values of fading players, one row for all who ask alike."""
        alike = [(s.example.digest, q.shares.tobytes(), q.seed) for s, q in asks]
        return self._read(asks, alike, cast(Softening, self.model).soften) if asks else []

    def suppress(self, asks: Sequence[tuple[Subject, Suppress]]) -> list[Values]:
        """Values of players that are attended to less."""
        alike = [(s.example.digest, q.shares.tobytes()) for s, q in asks]
        return self._read(asks, alike, cast(Suppressing, self.model).suppress) if asks else []

    def infill(self, asks: Sequence[tuple[Subject, Infill]]) -> list[Values]:
        """Values with stand-ins for removed players."""
        alike = [(s.example.digest, q.masks.tobytes(), q.seed) for s, q in asks]
        return self._read(asks, alike, cast(Infilling, self.model).infill) if asks else []

    def _read(
        self,
        asks: Sequence[tuple[Subject, Q]],
        alike: Sequence[object],
        run: Callable[[Sequence[tuple[Subject, Q]]], list[Floats]],
    ) -> list[Values]:
        """Each asker's target of outputs that all who ask alike share."""

        def counted(distinct: Sequence[tuple[Subject, Q]]) -> list[Floats]:
            outputs = run(distinct)
            for (subject, _), found in zip(distinct, outputs, strict=True):
                _check(subject, found)
                self.computed += len(found)
            self.watch(self.computed)
            return outputs

        found = _once(asks, alike, counted)
        return [s.target.read(outputs) for (s, _), outputs in zip(asks, found, strict=True)]


def _check(subject: Subject, outputs: Floats) -> None:
    if not np.isfinite(outputs).all():
        raise AttrialError(f"the model's outputs on example {subject.example.id} are not finite")


def _slope_key(subject: Subject, q: Slope) -> object:
    points = np.ascontiguousarray(q.points).tobytes()
    draws = None if q.draws is None else tuple(np.asarray(q.draws).tolist())
    how = (q.baseline, q.noise, q.seed, draws, q.at)
    return (subject.example.digest, subject.target, points, how)


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
