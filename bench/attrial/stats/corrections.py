"""Adjusted p of many tests: against any false claim, and against a share of false claims."""

import numpy as np
import numpy.typing as npt
from scipy.stats import false_discovery_control

from attrial.masks import Values


def holm(p: npt.ArrayLike) -> Values:
    """Holm's step-down adjusted p (m,): controls the chance of any false claim (Holm 1979).

    >>> holm([0.01, 0.02, 0.03])
    array([0.03, 0.04, 0.04])
    """
    raw = np.asarray(p, np.float64)
    order = np.argsort(raw, kind="stable")
    factors = len(raw) - np.arange(len(raw))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * factors), 1.0)
    return adjusted


def benjamini_hochberg(p: npt.ArrayLike) -> Values:
    """Adjusted p (m,) that control the share of false claims (Benjamini & Hochberg 1995).

    >>> benjamini_hochberg([0.01, 0.02, 0.03])
    array([0.03, 0.03, 0.03])
    """
    raw = np.asarray(p, np.float64)
    return np.asarray(false_discovery_control(raw)) if raw.size else raw
