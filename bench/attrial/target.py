"""What of a model's answer is explained: one class, read through one function, fixed beforehand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, log_softmax, logsumexp

from attrial.example import Example
from attrial.masks import Floats, Values


def _logit(outputs: Floats, index: int) -> Values:
    return outputs[:, index]


def _log_probability(outputs: Floats, index: int) -> Values:
    return np.asarray(log_softmax(outputs, axis=1)[:, index])


def _probability(outputs: Floats, index: int) -> Values:
    return np.asarray(np.exp(_log_probability(outputs, index)))


def _log_odds(outputs: Floats, index: int) -> Values:
    rest = np.delete(outputs, index, axis=1)
    return np.asarray(outputs[:, index] - logsumexp(rest, axis=1))


def _margin(outputs: Floats, index: int) -> Values:
    rest = np.delete(outputs, index, axis=1)
    return np.asarray(outputs[:, index] - rest.max(axis=1))


def _sigmoid(outputs: Floats, index: int) -> Values:
    return np.asarray(expit(outputs[:, index]))


def _log_sigmoid(outputs: Floats, index: int) -> Values:
    return np.asarray(log_expit(outputs[:, index]))


FUNCTIONS: Mapping[str, Callable[[Floats, int], Values]] = {
    "log_odds": _log_odds,
    "probability": _probability,
    "log_probability": _log_probability,
    "logit": _logit,
    "margin": _margin,
}
# What each of them is where every output speaks of a label by itself.
APART: Mapping[str, str] = {
    "log_odds": "logit",
    "probability": "sigmoid",
    "log_probability": "log_sigmoid",
    "logit": "logit",
    "margin": "logit",
}
_READ = {**FUNCTIONS, "sigmoid": _sigmoid, "log_sigmoid": _log_sigmoid}


@dataclass(frozen=True)
class Target:
    """One class of the outputs and the function through which it is read.

    ``log_odds`` is log p/(1-p): the logit minus the log-sum-exp of the other classes' logits, in
    nats. ``margin`` is the logit minus the greatest other: below 0 another class is decided for.
    A model with a single output has no other class: only ``logit`` is defined there, and
    every function reads it. Where several labels may hold at once (``Example.apart``), p is the
    sigmoid of the label's own output, so that ``log_odds`` and ``margin`` are that output itself.
    """

    index: int
    function: str = "log_odds"

    @classmethod
    def of(cls, x: Example, index: int, function: str = "log_odds") -> "Target":
        """One class or label of an example, read as its outputs are meant."""
        return cls(index, APART[function] if x.apart else function)

    def through(self, function: str) -> "Target":
        """The same class, read through another function."""
        return Target(self.index, function)

    def read(self, outputs: Floats) -> Values:
        """Values of all rows: (k, classes) raw outputs -> (k,)."""
        outputs = np.asarray(outputs, np.float64)
        function = "logit" if outputs.shape[1] == 1 else self.function
        return _READ[function](outputs, self.index)
