"""The functions of a target on torch tensors, so that gradients can be taken through them."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor


def _logit(logits: Tensor, index: Tensor) -> Tensor:
    return logits.gather(1, index[:, None])[:, 0]


def _log_probability(logits: Tensor, index: Tensor) -> Tensor:
    return _logit(logits.log_softmax(dim=1), index)


def _probability(logits: Tensor, index: Tensor) -> Tensor:
    return _log_probability(logits, index).exp()


def _others(logits: Tensor, index: Tensor) -> Tensor:
    own = torch.nn.functional.one_hot(index, logits.shape[1]).bool()
    return logits.masked_fill(own, -torch.inf)


def _log_odds(logits: Tensor, index: Tensor) -> Tensor:
    return _logit(logits, index) - _others(logits, index).logsumexp(dim=1)


def _margin(logits: Tensor, index: Tensor) -> Tensor:
    return _logit(logits, index) - _others(logits, index).amax(dim=1)


def _sigmoid(logits: Tensor, index: Tensor) -> Tensor:
    return _logit(logits, index).sigmoid()


def _log_sigmoid(logits: Tensor, index: Tensor) -> Tensor:
    return torch.nn.functional.logsigmoid(_logit(logits, index))


FUNCTIONS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "log_odds": _log_odds,
    "probability": _probability,
    "log_probability": _log_probability,
    "logit": _logit,
    "margin": _margin,
    "sigmoid": _sigmoid,
    "log_sigmoid": _log_sigmoid,
}


def read(logits: Tensor, index: Tensor, function: str) -> Tensor:
    """Values (R,) of class ``index[r]`` of row r; float64. A single output is read as it is."""
    logits = logits.double()
    return FUNCTIONS["logit" if logits.shape[1] == 1 else function](logits, index)
