"""What each layer of a classifier hands from position to position, by its value vectors too."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from attrial.ask import Attention, Layers
from attrial.errors import AttrialError, NotApplicable, near
from attrial.masks import Floats
from attrial.models.affine import Held, Reached, Route, Watch
from attrial.models.attention import unanswered
from attrial.models.forward import Forward
from attrial.models.layer_calls import Call, calls
from attrial.models.local import length, proximity, rows, shares, turned
from attrial.models.tap import Mix, mixed
from attrial.value import Subject

Measure = Callable[[Tensor, Tensor], Tensor]  # parts (k, t, d), output (t, d) -> (k, t)
POSITIONS = 1 << 12  # of all copies that run at once
EXACT = 1e-3  # what parts may miss of their sum, as a share of it
ROUNDINGS = 8  # or so many of the roundings of the model's own numbers, where those are coarse


def layered(subject: Subject, ask: Layers, forward: Forward) -> Attention:
    """Matrices (L, t, t) of one full input, query i and key j; call it under the guard.

    Rows sum to 1, but for ``mixing``, which is diagonal.

    Raises:
        AttrialError: For an unknown kind.
        NotApplicable: If attention can't be tapped, or a layer isn't a residual around it.
    """
    arguments = unanswered(subject, forward)
    return Attention(matrices(forward.model, lambda: forward(arguments), ask.kind))


def matrices(model: PreTrainedModel, run: Callable[[], object], kind: str) -> Floats:
    """As ``layered``, (L, t, t), of one forward of a model in eval mode on one input."""
    if kind not in KINDS:
        raise AttrialError(f"no kind {kind!r} of layers; {near(kind, KINDS)}")
    found = [KINDS[kind](_Layer.of(model, call)) for call in calls(model, run)]
    return np.stack([m.cpu().numpy() for m in found])


@dataclass(frozen=True, eq=False)
class _Layer:
    """A layer that has run once on its own states.

    Attributes:
        model: Whose it is.
        call: What it was called with.
        watch: What was seen on the way.
        output: (t, d) what came out.
        sees: (t, t) whether a query gives a key any weight, or is its own.
    """

    model: PreTrainedModel
    call: Call
    watch: Watch
    output: Tensor
    sees: Tensor

    @classmethod
    def of(cls, model: PreTrainedModel, call: Call) -> "_Layer":
        watch, seen = Watch(), list[Tensor]()

        def mix(weights: Tensor, values: Tensor) -> Tensor:
            seen.append(weights[0].amax(dim=0) > 0)
            return watch.begin(weights @ values)

        def run() -> Tensor:
            with watch:
                return call.on(call.states)

        output = mixed(model, run, mix)[0].double()
        own = torch.eye(len(output), dtype=torch.bool, device=output.device)
        return cls(model, call, watch, output, seen[0] | own)

    def residual_route(self) -> Route:
        """The way to the sum with what came in.

        Raises:
            NotApplicable: If attention's output is added to anything else.
        """
        route = self.watch.route()
        if not torch.equal(route.residual, self.call.states):
            raise NotApplicable(
                f"{type(self.call.layer).__name__} adds its attention to something else than what "
                "came in, so that there is no residual to share with"
            )
        return route

    def held(self, route: Route, kept: Tensor, alone: Mix) -> Held:
        """The layer at fixed scales, with each copy's keys alone: ``kept`` is (k, t)."""
        held = Held(route, kept)

        def run() -> None:
            with suppress(Reached), held:
                self.call.on(self.call.copies(len(kept)))

        mixed(self.model, run, lambda weights, values: held.begin(alone(weights, values)))
        return held

    def chosen(self) -> Iterator[Tensor]:
        """One-hot rows (k, t) of all keys, a bearable number at once."""
        t = self.call.states.shape[1]
        one_hot = torch.eye(t, dtype=self.call.states.dtype, device=self.call.states.device)
        return iter(torch.split(one_hot, max(1, POSITIONS // t)))


def _keys(kept: Tensor) -> Mix:
    """Attention that hands on the values of the kept keys alone, its weights as they are."""
    return lambda weights, values: (weights * kept[:, None, None]) @ values


def _key(chosen: Tensor) -> Mix:
    """The same of one key a copy, whose part is an outer product; ``chosen`` (k, t) is one-hot."""
    copies, keys = torch.nonzero(chosen, as_tuple=True)

    def alone(weights: Tensor, values: Tensor) -> Tensor:
        return weights[copies, :, :, keys, None] * values[copies, :, keys, None]

    return alone


def _but(alone: Mix) -> Mix:
    """Attention of copies that agree, without what one key of each hands on."""
    return lambda weights, values: weights[:1] @ values[:1] - alone(weights, values)


def _parts(layer: _Layer, route: Route, measure: Measure, *, whole: bool) -> Tensor:
    """Measures of what each key contributes to each query: (t, t), rows of sum 1.

    With ``whole``, of the route's output with each position's residual in its own part; else of
    attention's output alone.
    """

    def read(held: Held) -> Tensor:
        return (held.output if whole else held.attended).double()

    goal = (route.output if whole else route.attended)[0].double()
    nothing = torch.zeros_like(layer.call.states[:, :, 0])
    offset = read(layer.held(route, nothing, _keys(nothing)))
    measured, total = [], offset[0].clone()
    for kept in layer.chosen():
        parts = read(layer.held(route, kept, _key(kept))) - offset
        total += parts.sum(dim=0)
        measured.append(measure(parts, goal))
    fine = max(EXACT, ROUNDINGS * torch.finfo(layer.call.states.dtype).eps)
    if float((total - goal).norm()) > fine * float(goal.norm()):
        raise NotApplicable(
            f"{type(layer.call.layer).__name__} isn't linear between its values and its residual"
        )
    return rows(torch.cat(measured).T * layer.sees)


def _norm(layer: _Layer) -> Tensor:
    return _parts(layer, layer.watch.route(), length, whole=False)


def _norm_residual(layer: _Layer) -> Tensor:
    return _parts(layer, layer.residual_route(), length, whole=True)


def _alti(layer: _Layer) -> Tensor:
    return _parts(layer, layer.residual_route(), proximity, whole=True)


def _value_zeroing(layer: _Layer) -> Tensor:
    found = []
    for chosen in layer.chosen():

        def run(k: int = len(chosen)) -> Tensor:
            return layer.call.on(layer.call.copies(k))

        outputs = mixed(layer.model, run, _but(_key(chosen))).double()
        found.append(turned(outputs, layer.output))
    return rows(torch.cat(found).T * layer.sees)


def _mixing(layer: _Layer) -> Tensor:
    route = layer.residual_route()
    return shares(route.residual[0].double(), route.attended[0].double())


KINDS: Mapping[str, Callable[[_Layer], Tensor]] = {
    "norm": _norm,
    "norm_residual": _norm_residual,
    "alti": _alti,
    "value_zeroing": _value_zeroing,
    "mixing": _mixing,
}
