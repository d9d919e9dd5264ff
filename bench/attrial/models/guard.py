"""A guard around every use of a model: what was there before is there after, or the run fails."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain

from torch import Tensor, nn
from transformers import PreTrainedModel

from attrial.models.eager import EAGER
from attrial.models.switch import can_switch, switched

State = dict[str, object]
HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
)
BY_LENGTH = ("longrope", "dynamic")


@contextmanager
def guarded(model: PreTrainedModel) -> Iterator[None]:
    """Hold a model still: eval mode, parameters frozen, its fastest exact attention.

    On leaving, its own modes come back.

    Raises:
        RuntimeError: If train mode, hooks, grad flags, device, attention implementation, class
            attributes or weights are not the same after as before; it says which.
    """
    before = _state(model)
    with _held(model):
        held = _state(model)
        yield
        changed = _differing(held, _state(model))
    changed += [name for name in _differing(before, _state(model)) if name not in changed]
    if changed:
        raise RuntimeError(f"the model was changed while it was asked: {', '.join(changed)}")


def _differing(a: State, b: State) -> list[str]:
    return [name for name in a if a[name] != b[name]]


@contextmanager
def _held(model: PreTrainedModel) -> Iterator[None]:
    training = [m for m in model.modules() if m.training]
    trainable = [p for p in model.parameters() if p.requires_grad]
    with _fastest(model):
        try:
            _set(training, trainable, on=False)
            yield
        finally:
            _set(training, trainable, on=True)


def _fastest(model: PreTrainedModel) -> AbstractContextManager[None]:
    if model._supports_sdpa:
        return switched(model, "sdpa")
    return switched(model, EAGER) if can_switch(model) else nullcontext()


def _set(training: list[nn.Module], trainable: list[nn.Parameter], *, on: bool) -> None:
    for module in training:
        module.training = on
    for parameter in trainable:
        parameter.requires_grad_(on)


def _state(model: PreTrainedModel) -> State:
    modules = list(model.modules())
    parameters = list(model.parameters())
    return {
        "train mode": [m.training for m in modules],
        "hooks": [tuple(getattr(m, hooks)) for m in modules for hooks in HOOKS],
        "grad flags": [p.requires_grad for p in parameters],
        "device": [p.device for p in parameters],
        "attention implementation": model.config._attn_implementation,
        "class attributes": _class_attributes(modules),
        "weights": [_print(t) for t in chain(parameters, _buffers(modules))],
    }


def _class_attributes(modules: list[nn.Module]) -> dict[str, object]:
    """Functions of the modules' classes, and forwards that were set on single modules."""
    classes = {type(m) for m in modules}
    own = {str(i): m.__dict__["forward"] for i, m in enumerate(modules) if "forward" in m.__dict__}
    return own | {
        f"{cls.__module__}.{cls.__qualname__}.{name}": value
        for cls in classes
        for name, value in vars(cls).items()
        if callable(value)
    }


def _buffers(modules: list[nn.Module]) -> Iterator[Tensor]:
    """Buffers, but for rotary frequencies that the model itself sets anew by a text's length."""
    for m in modules:
        if not any(kind in str(getattr(m, "rope_type", "")) for kind in BY_LENGTH):
            yield from m.buffers(recurse=False)


def _print(tensor: Tensor) -> tuple[int, int]:
    """Where a tensor lies and how often it was written to."""
    return tensor.data_ptr(), -1 if tensor.is_inference() else tensor._version
