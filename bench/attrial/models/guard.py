"""A guard around every use of a model: what was there before is there after, or the run fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

from torch import Tensor, nn
from transformers import PreTrainedModel

State = dict[str, object]
HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
)


@contextmanager
def guarded(model: PreTrainedModel) -> Iterator[None]:
    """Hold a model still: eval mode, parameters frozen, its fastest exact attention.

    On leaving, its own modes come back.

    Raises:
        RuntimeError: If train mode, hooks, grad flags, device, attention implementation, class
            attributes or weights are not the same after as before; it says which.
    """
    before = _state(model)
    restore = _hold(model)
    held = _state(model)
    try:
        yield
        changed = _differing(held, _state(model))
    finally:
        restore()
    changed += [name for name in _differing(before, _state(model)) if name not in changed]
    if changed:
        raise RuntimeError(f"the model was changed while it was asked: {', '.join(changed)}")


def _differing(a: State, b: State) -> list[str]:
    return [name for name in a if a[name] != b[name]]


def _hold(model: PreTrainedModel) -> Callable[[], None]:
    """Put the model to eval, freeze it and switch to sdpa; returns what takes that back."""
    training = [m for m in model.modules() if m.training]
    trainable = [p for p in model.parameters() if p.requires_grad]
    attention = attention_of(model)

    def restore() -> None:
        for module in training:
            module.training = True
        for parameter in trainable:
            parameter.requires_grad_(True)
        if attention_of(model) != attention:
            model.set_attn_implementation(attention)

    for module in training:
        module.training = False
    for parameter in trainable:
        parameter.requires_grad_(False)
    if attention != "sdpa" and model._supports_sdpa:
        model.set_attn_implementation("sdpa")
    return restore


def attention_of(model: PreTrainedModel) -> str:
    """The name of the attention implementation that a model runs."""
    return str(model.config._attn_implementation)


def _state(model: PreTrainedModel) -> State:
    modules = list(model.modules())
    parameters = list(model.parameters())
    return {
        "train mode": [m.training for m in modules],
        "hooks": [tuple(getattr(m, hooks)) for m in modules for hooks in HOOKS],
        "grad flags": [p.requires_grad for p in parameters],
        "device": [p.device for p in parameters],
        "attention implementation": attention_of(model),
        "class attributes": _class_attributes(modules),
        "weights": [_print(t) for t in chain(parameters, model.buffers())],
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


def _print(tensor: Tensor) -> tuple[int, int]:
    """Where a tensor lies and how often it was written to."""
    return tensor.data_ptr(), -1 if tensor.is_inference() else tensor._version
