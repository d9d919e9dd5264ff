"""What a check works on: one method, a task's examples, their model, and altered forms of it.

A check is a function ``NAME(bench: Bench, *, seed: int, option: type = default) -> Outcome``. It
re-explains, which metrics never do, and still it never holds a model's insides: what must be done
to a model is asked of ``bench.altered``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from attrial.assignment import seed_of
from attrial.check_record import Verdict
from attrial.errors import NotApplicable as NotApplicable
from attrial.example import Example
from attrial.masks import Floats, Masks, Scores, Values, everything
from attrial.plugin_call import PluginMethod
from attrial.target import Target
from attrial.value import Answer, Model, Subject, Value, answer

Cell = float | str  # a number, or why there is none
Explained = Scores | str  # scores, or why there are none
Draw = Sequence[Cell]  # one cell an example


class Alterations(Protocol):
    """Altered forms of a model; each is a copy, and the model itself stays as it is.

    All raise ``NotApplicable`` where an architecture doesn't let it be done.
    """

    @property
    def strata(self) -> tuple[str, ...]:
        """Names of the groups of parameters that are randomised together, the output's first."""

    def randomised(self, strata: Sequence[str], *, seed: int, how: str = "shuffle") -> Model:
        """With the parameters of some strata at random: ``shuffle`` or ``init``."""

    def shifted(self, *, seed: int) -> Model:
        """The same function of ids, with word embeddings moved by a constant made up for later."""

    def noisy(self, *, radius: float, seed: int) -> Model:
        """With noise of ``radius`` times its norm on the embedding of every word of the inputs."""

    def permuted(self, *, seed: int) -> Model:
        """The same function, with hidden units in another order."""

    def padded(self, extra: int) -> Model:
        """The same function, every row padded by so many more positions."""

    def rebatched(self, tokens: int) -> Model:
        """The same function, batches of so many token positions."""

    def mislabelled(self) -> Model:
        """A model of the same architecture that was trained on shuffled labels."""


@dataclass(frozen=True, eq=False)
class Bench:
    """One method on trial.

    Attributes:
        method: The method.
        model: The model that is explained.
        altered: Altered forms of it.
        examples: The task's examples.
        classes: The class predicted on each full input: what is explained, and never chosen again.
        removal: How players are removed when the method asks for it.
        function: Through which the class is read.
    """

    method: PluginMethod
    model: Model
    altered: Alterations
    examples: tuple[Example, ...]
    classes: tuple[int, ...]
    removal: str
    function: str

    def declares(self, name: str, default: object = False) -> object:
        """A declaration of the method's module, such as ``CLASS_SPECIFIC``."""
        return self.method.bound.constant(name, default)

    def explain(
        self,
        model: Model | None = None,
        *,
        seed: int,
        examples: Sequence[Example] | None = None,
        classes: Sequence[int] | None = None,
        function: str | None = None,
    ) -> list[Explained]:
        """Scores of each example side by side, asked anew: nothing is remembered between calls.

        Args:
            model: Another one than the bench's.
            seed: Of the method's draws, together with each example's content.
            examples: Others than the bench's.
            classes: What is explained of them, if not the bench's.
            function: Through which the classes are read, if not the bench's.
        """
        given = self.examples if examples is None else examples
        index = self.classes if classes is None else classes
        subjects = [
            Subject(x, self.removal, Target.of(x, c, function or self.function))
            for x, c in zip(given, index, strict=True)
        ]
        askers = [(s, self.method(s.example, seed_of(seed, s.example))) for s in subjects]
        return [_scores(got) for got in answer(Value(model or self.model), askers)]

    def outputs(self, model: Model | None = None) -> list[Floats]:
        """Raw outputs (classes,) of each full input."""
        asks = [(s, everything(s.example.n)) for s in self._subjects()]
        return [rows[0] for rows in (model or self.model).keep(asks)]

    def values(self, masks: Sequence[Masks]) -> list[Values]:
        """Values (k,) of each example's target when only some players stay: masks (k, n)."""
        return Value(self.model).keep(list(zip(self._subjects(), masks, strict=True)))[0]

    def _subjects(self) -> list[Subject]:
        pairs = zip(self.examples, self.classes, strict=True)
        return [Subject(x, self.removal, Target.of(x, c, self.function)) for x, c in pairs]


def _scores(got: Answer[Scores]) -> Explained:
    return got.undefined or "unknown" if got.result is None else got.result


@dataclass(frozen=True)
class Told:
    """A verdict that a check reaches by other means than its rule, and the sentence to it."""

    verdict: Verdict
    sentence: str


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a check measured.

    Attributes:
        draws: A cell an example, once or for several random models.
        null: The level to judge against: as many cells, or None for the check's constant ``NULL``.
        detail: Further numbers to report.
        told: A verdict of its own.
    """

    draws: Sequence[Draw]
    null: Sequence[Draw] | None = None
    detail: Mapping[str, float] = field(default_factory=dict)
    told: Told | None = None


def defined(cells: Sequence[Cell]) -> Values:
    """The numbers among cells."""
    return np.array([c for c in cells if not isinstance(c, str)], np.float64)


def averaged(cells: Sequence[Cell]) -> Cell:
    """Mean of the numbers among cells; the first reason where there is none."""
    found = defined(cells)
    return float(found.mean()) if found.size else next(iter(cells), "nothing to average")


def means(details: Mapping[str, Sequence[Cell]]) -> dict[str, float]:
    """Named means, those without any number left out (their cells are counted elsewhere)."""
    found = {name: averaged(cells) for name, cells in details.items()}
    return {name: value for name, value in found.items() if not isinstance(value, str)}
