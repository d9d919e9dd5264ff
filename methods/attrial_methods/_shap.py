"""The shap package's explainers over sets of players: its masker, its tree, its import."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.library import Ask, join
from attrial.masks import Bools, Floats, Scores, Values
from attrial_methods._gap import gap_noted

SetFunction = Callable[[npt.ArrayLike], Values]  # presence (k, n), 1 = kept -> (k,)
Explainer = Callable[[ModuleType, SetFunction], Any]  # shap, the value -> scores (n,)


def explained(x: Example, explainer: Explainer, *, seed: int) -> Asking[Scores]:
    """What one of shap's explainers says of the value as a function of the players kept."""
    ends: dict[bool, float] = {}  # v(none) and v(all), which each of them asks for

    def value(ask: Ask, rows: npt.ArrayLike) -> Values:
        kept = np.asarray(rows) > 0.5
        found = ask(keep(kept))
        ends.update((bool(k[0]), float(v)) for k, v in zip(kept, found, strict=True) if _even(k))
        return found

    scores = yield from join(
        lambda ask: explainer(_shap(), lambda rows: value(ask, rows)), seed=seed
    )
    shaped = np.asarray(scores, np.float64).reshape(x.n)
    return (yield from gap_noted(shaped, ends[True] - ends[False]))


def _even(kept: Bools) -> bool:
    return bool((kept == kept[0]).all())


def _shap() -> ModuleType:
    with warnings.catch_warnings():
        # it announces its own future import layout
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        import shap
    return shap  # type: ignore[no-any-return]  # it ships no types


@dataclass(frozen=True)
class PlayerMasker:
    """What shap calls to hide players: presence itself, no background to average over."""

    n: int
    clustering: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """One input of n features."""
        return 1, self.n

    def __call__(self, mask: Bools, _: object) -> tuple[Bools]:
        """One row: who stays."""
        return (np.asarray(mask, bool).reshape(1, self.n),)


def balanced_tree(n: int) -> Floats:
    """Players in reading order, halved again and again, as SciPy's linkage matrix: (n - 1, 4).

    A row joins two clusters (players are 0 to n - 1, row r makes cluster n + r), at a height that
    is the number of players under it, which is the last column too. The left half is the larger.

    >>> balanced_tree(3)
    array([[0., 1., 2., 2.],
           [3., 2., 3., 3.]])
    """
    rows: list[tuple[int, int, int, int]] = []

    def cluster(first: int, end: int) -> int:
        if end - first == 1:
            return first
        middle = (first + end + 1) // 2
        left, right = cluster(first, middle), cluster(middle, end)
        rows.append((left, right, end - first, end - first))
        return n + len(rows) - 1

    cluster(0, n)
    return np.array(rows, np.float64).reshape(-1, 4)
