"""What each layer of a model is called with: found by watching, in any architecture.

A layer is the outermost member of a ``ModuleList`` that attends exactly once while it runs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from torch import Tensor, nn
from transformers import Cache, PreTrainedModel

from attrial.errors import NotApplicable
from attrial.models.hooks import hooked
from attrial.models.tap import mixed

Given = dict[str, object]
FIRST = "hidden_states"


@dataclass(frozen=True, eq=False)
class Call:
    """One call of one layer on one input.

    Attributes:
        layer: The module.
        states: (1, t, d) what came into it.
        rest: Positional arguments after the states.
        named: Named arguments but for the states.
    """

    layer: nn.Module
    states: Tensor
    rest: tuple[object, ...]
    named: Given

    def on(self, states: Tensor) -> Tensor:
        """The layer's output (B, t, d) on other states (B, t, d)."""
        out = self.layer(states, *self.rest, **self.named)
        first = out[0] if isinstance(out, tuple) else out
        assert isinstance(first, Tensor)
        return first

    def copies(self, k: int) -> Tensor:
        """The layer's own states, k times: (k, t, d)."""
        return self.states.expand(k, -1, -1)


def calls(model: PreTrainedModel, run: Callable[[], object]) -> list[Call]:
    """The calls of a model's layers in one forward on one input, nearest the input first.

    Raises:
        NotApplicable: If attention can't be tapped, or isn't once in every layer.
    """
    if model.config.is_encoder_decoder:
        raise NotApplicable(f"{type(model).__name__} has two stacks: no square matrix a layer")
    log = _Log()
    members = {
        id(m): m for part in model.modules() if isinstance(part, nn.ModuleList) for m in part
    }
    handles = [m.register_forward_pre_hook(log.begin, with_kwargs=True) for m in members.values()]
    handles += [m.register_forward_hook(log.end) for m in members.values()]
    with hooked(handles):
        mixed(model, run, log.attend)
    found = log.layers()
    expected = getattr(model.config, "num_hidden_layers", None) or 1
    if len(found) < expected or len(found) < log.attended:
        raise NotApplicable(
            f"{type(model).__name__} attends {log.attended} times in {expected} layers, of which "
            f"{len(found)} could be told apart"
        )
    return found


@dataclass(frozen=True, eq=False)
class _Span:
    """A call, and how often there had been attention when it began and ended."""

    call: Call
    begun: int
    ended: int = -1


@dataclass
class _Log:
    attended: int = 0
    spans: list[_Span] = field(default_factory=list)
    open: list[int] = field(default_factory=list)

    def begin(self, module: nn.Module, args: tuple[object, ...], named: Given) -> None:
        kept = tuple(_without_memory(a) for a in args)
        others = {name: _without_memory(a) for name, a in named.items()}
        states = kept[0] if kept else others.pop(FIRST, None)
        self.open.append(len(self.spans))
        if isinstance(states, Tensor):
            call = Call(module, states, kept[1:], others)
            self.spans.append(_Span(call, self.attended))

    def end(self, module: nn.Module, args: object, output: object) -> None:
        at = self.open.pop()
        if at < len(self.spans):
            self.spans[at] = replace(self.spans[at], ended=self.attended)

    def attend(self, weights: Tensor, values: Tensor) -> Tensor:
        self.attended += 1
        return weights @ values

    def layers(self) -> list[Call]:
        """Of each attention, the outermost call in which there was no other."""
        first: dict[int, Call] = {}
        for span in self.spans:
            if span.ended == span.begun + 1:
                first.setdefault(span.begun, span.call)
        return [first[i] for i in sorted(first)]


def _without_memory(argument: object) -> object:
    """A layer that runs again must not remember what it was called with before."""
    return None if isinstance(argument, Cache) else argument
