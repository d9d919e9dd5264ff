"""The guard: every kind of change to a model is named, and a model's own modes come back."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

from attrial.ask import Attend, Slope
from attrial.masks import everything
from attrial.models.guard import guarded
from attrial.models.text import TextClassifier
from attrial.target import Target
from attrial.value import Subject
from tests import tiny


def _train(model: PreTrainedModel) -> None:
    model.train()


def _hook(model: PreTrainedModel) -> None:
    head(model).register_forward_hook(lambda module, given, output: output)


def _backward_hook(model: PreTrainedModel) -> None:
    head(model).register_full_backward_hook(lambda module, given, output: None)


def _thaw(model: PreTrainedModel) -> None:
    next(model.parameters()).requires_grad_(True)


def _move(model: PreTrainedModel) -> None:
    nn.Module.to(model, "meta")


def _eager(model: PreTrainedModel) -> None:
    model.set_attn_implementation("eager")


def _own_forward(model: PreTrainedModel) -> None:
    layer = head(model)
    layer.forward = layer.forward  # type: ignore[method-assign]  # what a patching tool does


def _write(model: PreTrainedModel) -> None:
    with torch.no_grad():
        head(model).bias.add_(1)


def _replace(model: PreTrainedModel) -> None:
    head(model).bias.data = head(model).bias.data.clone()


CHANGES: dict[str, tuple[Callable[[PreTrainedModel], None], str]] = {
    "train": (_train, "train mode"),
    "hook": (_hook, "hooks"),
    "backward hook": (_backward_hook, "hooks"),
    "thaw": (_thaw, "grad flags"),
    "move": (_move, "device"),
    "eager": (_eager, "attention implementation"),
    "own forward": (_own_forward, "class attributes"),
    "write": (_write, "weights"),
    "replace": (_replace, "weights"),
}


def head(model: PreTrainedModel) -> nn.Linear:
    return [m for m in model.modules() if isinstance(m, nn.Linear)][-1]


@pytest.mark.parametrize("change", list(CHANGES))
def test_every_change_is_named(change: str) -> None:
    act, name = CHANGES[change]
    model = tiny.model("bert")
    with pytest.raises(RuntimeError, match=f"changed while it was asked: .*{name}"):
        with guarded(model):
            act(model)


def test_a_patched_class_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny.model("bert")
    layer = type(next(m for m in model.modules() if type(m).__name__ == "BertSelfAttention"))
    with pytest.raises(RuntimeError, match="class attributes"), guarded(model):
        monkeypatch.setattr(layer, "forward", lambda self, x: x)


def test_the_models_own_modes_come_back_even_after_an_error() -> None:
    model = tiny.model("bert")
    model.train()
    model.set_attn_implementation("eager")
    next(model.parameters()).requires_grad_(False)
    flags = [p.requires_grad for p in model.parameters()]
    for fails in (False, True):
        try:
            with guarded(model):
                assert not any(m.training for m in model.modules())
                assert not any(p.requires_grad for p in model.parameters())
                assert model.config._attn_implementation == "sdpa"
                if fails:
                    raise KeyError("inside")
        except KeyError:
            assert fails
        assert all(m.training for m in model.modules())
        assert [p.requires_grad for p in model.parameters()] == flags
        assert model.config._attn_implementation == "eager"


@pytest.mark.parametrize("family", list(tiny.FAMILIES))
def test_no_question_leaves_a_trace(family: str) -> None:
    c = TextClassifier.of(tiny.model(family), tiny.tokenizer(family))
    before = {name: t.clone() for name, t in c.forward.model.state_dict().items()}
    x = c.encode("x", [tiny.TEXT])
    subject = Subject(x, "zero", Target(0))
    for _ in range(2):
        c.keep([(subject, everything(x.n)), (subject, ~everything(x.n))])
        c.slope([(subject, Slope(np.full((1, x.n), 0.5)))])
        c.attend([(subject, Attend(gradient=True, scale=0.5)), (subject, Attend(fuse="max"))])
        c.predict([x])
    after = c.forward.model.state_dict()
    assert all(torch.equal(after[name], t) for name, t in before.items())
    assert all(p.grad is None for p in c.forward.model.parameters())
    assert not any(m._forward_hooks for m in c.forward.model.modules())
