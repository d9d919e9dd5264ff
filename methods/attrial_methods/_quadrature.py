"""Points and weights of quadratures on [0, 1]."""

from collections.abc import Callable, Mapping

import numpy as np

from attrial.errors import AttrialError, near
from attrial.masks import Floats


def rule(name: str, steps: int) -> tuple[Floats, Floats]:
    """Points (k,) and weights (k,), which sum to 1; the trapezoid has a point more than steps."""
    if name not in RULES:
        raise AttrialError(f"no quadrature {name!r}; {near(name, RULES)}")
    return RULES[name](steps)


def _gauss_legendre(steps: int) -> tuple[Floats, Floats]:
    at, weights = np.polynomial.legendre.leggauss(steps)
    return (at + 1) / 2, weights / 2


def _midpoint(steps: int) -> tuple[Floats, Floats]:
    return (np.arange(steps) + 0.5) / steps, np.full(steps, 1 / steps)


def _left(steps: int) -> tuple[Floats, Floats]:
    return np.arange(steps) / steps, np.full(steps, 1 / steps)


def _right(steps: int) -> tuple[Floats, Floats]:
    return np.arange(1, steps + 1) / steps, np.full(steps, 1 / steps)


def _trapezoid(steps: int) -> tuple[Floats, Floats]:
    weights = np.full(steps + 1, 1 / steps)
    weights[[0, -1]] /= 2
    return np.arange(steps + 1) / steps, weights


RULES: Mapping[str, Callable[[int], tuple[Floats, Floats]]] = {
    "gauss_legendre": _gauss_legendre,
    "midpoint": _midpoint,
    "trapezoid": _trapezoid,
    "left": _left,
    "right": _right,
}
