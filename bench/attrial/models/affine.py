"""One layer from its attention's values to its first sum, as the affine map that it is.

Between the mixed values and the sum with the residual (and the layer norm on that sum, where it
stands there) nothing bends but the scale of norms. A layer is watched once to see which operations
these are; then it runs again with the scales held, and with a part of the values and the residual.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from attrial.errors import NotApplicable
from attrial.models.norms import norm_of
from attrial.models.propagation import NORMS, POWERS, SCALES, negative

Operation = Callable[..., object]
Arguments = tuple[object, ...]
Named = Mapping[str, object]
SUMS = frozenset([torch.add, Tensor.add, Tensor.__add__, Tensor.__radd__])
SUMS |= frozenset([Tensor.__iadd__, Tensor.add_])
SAME = frozenset([F.dropout, Tensor.to, Tensor.contiguous, Tensor.view, Tensor.reshape])


@dataclass(frozen=True, eq=False)
class Route:
    """The way from values to the sum. Operations are numbered as they run.

    Attributes:
        scales: Number of each norm (or root) on the way, and its scale.
        summed: Number of the sum with the residual, counted from the values.
        residual_first: Whether the residual is the first of its two operands.
        reached: Number of the operation whose output stands for the layer's mixing: the sum, or the
            layer norm on it where nothing else reads the sum.
        residual: (1, t, d) what attention's output is added to.
        attended: (1, t, d) attention's output.
        output: (1, t, d) what was reached.
    """

    scales: Mapping[int, Tensor]
    summed: int
    residual_first: bool
    reached: int
    residual: Tensor
    attended: Tensor
    output: Tensor


@dataclass
class _Sum:
    number: int
    residual_first: bool
    residual: Tensor
    attended: Tensor
    out: Tensor
    read_on: bool = False  # added to again: it is the residual stream itself
    norms: list[tuple[int, Tensor]] = field(default_factory=list)


class Watch(TorchFunctionMode):
    """Sees what becomes of the values that ``begin`` was given."""

    def __init__(self) -> None:
        super().__init__()
        self.count = -1
        self.derived: dict[int, Tensor] = {}  # by identity; held, so that none is used again
        self.scales: dict[int, Tensor] = {}
        self.sum: _Sum | None = None
        self.same: dict[int, Tensor] = {}  # the sum under other names

    def begin(self, values: Tensor) -> Tensor:
        """From here on: values, and all that depends on them."""
        self.count, self.derived[id(values)] = -1, values
        return values

    def __torch_function__(
        self,
        func: Operation,
        types: Iterable[type],
        args: Arguments = (),
        kwargs: Named | None = None,
    ) -> object:
        """Run one operation as it is, and take note."""
        self.count += 1
        named = kwargs or {}
        given = [a for a in (*args, *named.values()) if isinstance(a, Tensor)]
        own = [a for a in given if id(a) in self.derived]
        if not own:
            return func(*args, **named)
        found = self._sum(func, given, own) if self.sum is None else None
        out = func(*args, **named)
        for tensor in out if isinstance(out, (tuple, list)) else [out]:
            if isinstance(tensor, Tensor):
                self.derived[id(tensor)] = tensor
        if isinstance(out, Tensor):
            self._scale(func, args, named, out)
            self._use(func, given, out)
            if found is not None:
                self.sum, self.same = _Sum(self.count, *found, out), {id(out): out}
        return out

    def _sum(
        self, func: Operation, given: list[Tensor], own: list[Tensor]
    ) -> tuple[bool, Tensor, Tensor] | None:
        """Whether the residual comes first, the residual and attention's output in their sum."""
        if func not in SUMS or len(own) != 1 or len(given) != 2 or own[0].ndim != 3:
            return None
        first = given[1] is own[0]
        other = given[0 if first else 1]
        if other.shape != own[0].shape:
            return None
        return first, other.clone(), own[0].clone()

    def _scale(self, func: Operation, args: Arguments, named: Named, out: Tensor) -> None:
        if func in NORMS:
            self.scales[self.count] = norm_of(func, args, named).scale
        if func in SCALES or (func in POWERS and negative(args[1:], named)):
            self.scales[self.count] = out

    def _use(self, func: Operation, given: list[Tensor], out: Tensor) -> None:
        if self.sum is None or not any(id(a) in self.same for a in given):
            return
        if func in SAME:
            self.same[id(out)] = out
        self.sum.read_on |= func in SUMS
        if func in NORMS:
            self.sum.norms.append((self.count, out))

    def route(self) -> Route:
        """The way that was seen.

        Raises:
            NotApplicable: If the values never met a residual, or their sum leads elsewhere.
        """
        if self.sum is None:
            raise NotApplicable("a layer adds nothing to its attention: there is no residual")
        found = self.sum
        if not found.read_on and not found.norms:
            raise NotApplicable("a layer's first sum is neither normed nor its residual stream")
        number, out = (found.number, found.out) if found.read_on else found.norms[0]
        return Route(
            self.scales,
            found.number,
            found.residual_first,
            number,
            found.residual,
            found.attended,
            out,
        )


class Reached(Exception):
    """The way is at its end: what the layer does after it is of no interest."""


class Held(TorchFunctionMode):
    """The same way again: scales as they were, and at each position the residual or none of it.

    Attributes:
        attended: (B, t, d) attention's output, once the layer has run.
        output: (B, t, d) what was reached, once the layer has run.
    """

    def __init__(self, route: Route, kept: Tensor) -> None:
        """``kept`` (B, t) are shares of the residual."""
        super().__init__()
        self.route = route
        self.kept = kept
        self.count: int | None = None
        self.attended = self.output = route.output

    def begin(self, values: Tensor) -> Tensor:
        """Operations count from here."""
        self.count = -1
        return values

    def __torch_function__(
        self,
        func: Operation,
        types: Iterable[type],
        args: Arguments = (),
        kwargs: Named | None = None,
    ) -> object:
        """Run one operation, linear at the point where it was watched.

        Raises:
            Reached: At the end of the way.
        """
        named = kwargs or {}
        if self.count is None:
            return func(*args, **named)
        self.count += 1
        if self.count == self.route.summed:
            args = self._parted(args)
        if self.count not in self.route.scales:
            out = func(*args, **named)
        elif func in NORMS:
            out = norm_of(func, args, named).at(self.route.scales[self.count])
        else:
            out = self.route.scales[self.count]
        if self.count == self.route.reached:
            assert isinstance(out, Tensor)
            self.output = out
            raise Reached
        return out

    def _parted(self, args: Arguments) -> Arguments:
        """The operands of the sum: one of a batch is attention's, the other the residual."""
        first, second = args[:2]
        assert isinstance(first, Tensor) and isinstance(second, Tensor)
        share = self.kept[:, :, None]
        if self.route.residual_first:
            self.attended = second
            return (first * share, second, *args[2:])
        self.attended = first
        return (first, second * share, *args[2:])
