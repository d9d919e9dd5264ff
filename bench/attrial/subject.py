"""What questions are about, and what must be offered to answer them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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
from attrial.example import Example
from attrial.masks import Floats, Masks
from attrial.target import Target


@dataclass(frozen=True)
class Subject:
    """What a question is about: an example, how players are removed, and what is read."""

    example: Example
    removal: str
    target: Target


class Model(Protocol):
    """What answers questions; outputs are raw (logits), targets are read from them later."""

    @property
    def answers(self) -> frozenset[str]:
        """Which questions it can answer, by their lower-case names; ``keep`` is always one."""

    def keep(self, asks: Sequence[tuple[Subject, Masks]]) -> list[Floats]:
        """Outputs (k, classes) of each ask's k masks."""

    def slope(self, asks: Sequence[tuple[Subject, Slope]]) -> list[Slopes]:
        """Gradients at each ask's points."""

    def attend(self, asks: Sequence[tuple[Subject, Attend]]) -> list[Attention]:
        """Attention weights on each ask's full input."""


class Propagating(Model, Protocol):
    """A model that answers ``relevance`` too."""

    def relevance(self, asks: Sequence[tuple[Subject, Relevance]]) -> list[Relevances]:
        """Relevance of each ask's word embeddings on the full input."""


class Softening(Model, Protocol):
    """A model that answers ``soften`` too."""

    def soften(self, asks: Sequence[tuple[Subject, Soften]]) -> list[Floats]:
        """Outputs (k, classes) of each ask's k rows of shares."""


class Suppressing(Model, Protocol):
    """A model that answers ``suppress`` too."""

    def suppress(self, asks: Sequence[tuple[Subject, Suppress]]) -> list[Floats]:
        """Outputs (k, classes) of each ask's k rows of shares."""


class Infilling(Model, Protocol):
    """A model that answers ``infill`` too."""

    def infill(self, asks: Sequence[tuple[Subject, Infill]]) -> list[Floats]:
        """Outputs (k, classes) of each ask's k masks."""


class Layered(Model, Protocol):
    """A model that answers ``layers`` too."""

    def layers(self, asks: Sequence[tuple[Subject, Layers]]) -> list[Attention]:
        """What each layer hands from position to position on each ask's full input."""
