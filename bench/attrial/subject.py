"""What questions are about, and what must be offered to answer them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from attrial.ask import Attend, Attention, Relevance, Relevances, Slope, Slopes
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
        """Which questions it can answer: of ``keep``, ``slope``, ``attend``, ``relevance``."""

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
