"""Which attention implementation a model runs: inspected, switched for a while, and put back."""

from collections.abc import Iterator
from contextlib import contextmanager

from transformers import PreTrainedConfig, PreTrainedModel


def can_switch(model: PreTrainedModel) -> bool:
    """Whether every part of the model takes its attention from transformers' interface.

    The classes are inspected, as ``set_attn_implementation`` itself does; no family is named.
    """
    parts = [m for m in model.modules() if isinstance(m, PreTrainedModel)]
    return all(part._can_set_attn_implementation() for part in parts)


@contextmanager
def switched(model: PreTrainedModel, implementation: str) -> Iterator[None]:
    """Run a model under another attention implementation; every (sub-)config's own comes back."""
    before = [(config, config._attn_implementation) for config in _configs(model)]
    try:
        model.set_attn_implementation(implementation)
        yield
    finally:
        for config, own in before:
            config._attn_implementation_internal = own


def _configs(model: PreTrainedModel) -> list[PreTrainedConfig]:
    """Every config that decides an implementation, nested ones included, each once."""
    found: dict[int, PreTrainedConfig] = {}
    waiting = [m.config for m in model.modules() if isinstance(m, PreTrainedModel)]
    while waiting:
        config = waiting.pop()
        if id(config) not in found:
            found[id(config)] = config
            nested = (getattr(config, name) for name in config.sub_configs)
            waiting += [sub for sub in nested if sub is not None]
    return list(found.values())
