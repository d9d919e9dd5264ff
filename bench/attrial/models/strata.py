"""A model's parameters in strata from output to input, found from its module lists, not by name."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, PreTrainedModel

from attrial.models.vision_model import Patched


@dataclass(frozen=True)
class Stratum:
    """Parameters that are randomised together: a block, or what comes before or after blocks."""

    name: str
    parameters: tuple[str, ...]


def strata(model: PreTrainedModel) -> tuple[Stratum, ...]:
    """All parameters, the output's stratum first.

    Items of the outermost module lists are strata of their own; runs of parameters between them
    are named after the modules that hold them. Parameters are registered from input to output in
    all models of transformers, which is the only thing that is relied on.
    """
    lists = [name for name, m in model.named_modules() if isinstance(m, nn.ModuleList)]
    outermost = [a for a in lists if not any(a.startswith(f"{b}.") for b in lists if b != a)]
    runs = groupby((name for name, _ in model.named_parameters()), lambda n: _block(n, outermost))
    found = [_stratum(block, tuple(names)) for block, names in runs]
    return tuple(reversed(found))


def _stratum(block: str, names: tuple[str, ...]) -> Stratum:
    return Stratum(block or " + ".join(dict.fromkeys(map(_owner, names))), names)


def _block(parameter: str, outermost: Sequence[str]) -> str:
    """The item of an outermost list that holds a parameter, or nothing."""
    for name in outermost:
        if parameter.startswith(f"{name}."):
            return f"{name}.{parameter[len(name) + 1 :].partition('.')[0]}"
    return ""


def _owner(parameter: str) -> str:
    """The module two levels down, at most, that a parameter belongs to."""
    return ".".join(parameter.split(".")[:-1][:2]) or parameter


def shuffle(model: PreTrainedModel, names: Sequence[str], *, seed: int) -> None:
    """Put each parameter's entries in random order, in place; one seed draws alike in any company.

    What a tensor is made of stays: norms and gains keep the size that training gave them.
    """
    parameters = dict(model.named_parameters())
    for name in names:
        tensor = parameters[name]
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        order = torch.from_numpy(rng.permutation(tensor.numel())).to(tensor.device)
        _put(tensor, tensor.detach().reshape(-1)[order].reshape(tensor.shape))


def begin_anew(model: PreTrainedModel, names: Sequence[str], *, seed: int) -> None:
    """Give parameters the values that the architecture begins with, in place."""
    parameters = dict(model.named_parameters())
    fresh = dict(_fresh(model, seed))
    for name in names:
        _put(parameters[name], fresh[name].to(parameters[name]))


def _fresh(model: PreTrainedModel, seed: int) -> Iterator[tuple[str, Tensor]]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = _made(model)
    yield from made.named_parameters()


def _made(model: PreTrainedModel) -> PreTrainedModel:
    if isinstance(model, Patched):
        return Patched(type(model.inner)(model.config), model.words.patches)
    made: PreTrainedModel = AutoModelForSequenceClassification.from_config(model.config)  # type: ignore[no-untyped-call]
    return made


def _put(parameter: Tensor, values: Tensor) -> None:
    with torch.no_grad():
        parameter.copy_(values)
