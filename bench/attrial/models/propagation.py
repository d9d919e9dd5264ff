"""Layer-wise relevance propagation by operation: backward rules for whatever runs inside.

Under these rules gradient times input is relevance. They act on torch functions as they are
called, never on a class or a module of torch or transformers, and leave every forward value as it
is. Written from the formulas of Ali et al. 2022 (CP-LRP) and Achtibat et al. 2024 (AttnLRP).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from attrial.errors import AttrialError, NotApplicable, near
from attrial.models.norms import Norm, norm_of

Rule = Literal["conservative", "attention"]
RULES: Mapping[str, Rule] = {"conservative": "conservative", "attention": "attention"}
Operation = Callable[..., Tensor]
Arguments = tuple[object, ...]
Named = Mapping[str, object]


def _operations(*lists: Sequence[object]) -> frozenset[object]:
    return frozenset(operation for several in lists for operation in several)


SCALES = _operations([torch.rsqrt, Tensor.rsqrt])
SOFTMAXES = _operations([F.softmax, torch.softmax, Tensor.softmax])
ACTIVATIONS = _operations(
    [F.gelu, F.silu, F.relu, F.tanh, F.leaky_relu, F.elu, F.mish, torch.relu, Tensor.relu],
    [torch.tanh, Tensor.tanh, torch.square, Tensor.square],
)
PRODUCTS = _operations(
    [torch.mul, torch.multiply, Tensor.mul, Tensor.multiply, Tensor.__mul__, Tensor.__rmul__],
    [torch.matmul, Tensor.matmul, Tensor.__matmul__, Tensor.__rmatmul__],
    [torch.bmm, Tensor.bmm, torch.einsum],
)
SUMMED = _operations([torch.baddbmm, Tensor.baddbmm])  # their first argument is added
POWERS = _operations([torch.pow, Tensor.pow, Tensor.__pow__])
QUOTIENTS = _operations([torch.div, Tensor.div, Tensor.__truediv__])
NORMS = _operations([F.layer_norm, F.rms_norm])
FUSED = _operations([F.scaled_dot_product_attention])


class Propagation(TorchFunctionMode):
    """Relevance rules for the operations of one forward.

    - Layer norm, RMS norm and ``rsqrt``: the scale is a constant.
    - Products of activations: half of the relevance to each factor (uniform rule). A divisor is a
      constant.
    - Activation functions: all to their input (identity rule).
    - Softmax: a constant under ``conservative``, differentiated under ``attention``.

    Attributes:
        rule: ``conservative`` (CP-LRP) or ``attention`` (AttnLRP).
        fixed: Embeddings that were looked up inside: each begins a graph of its own, so that what
            position and type embeddings take is known.
    """

    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self.rule = rule
        self.fixed: list[Tensor] = []

    def __torch_function__(
        self,
        func: Operation,
        types: Iterable[type],
        args: Arguments = (),
        kwargs: Named | None = None,
    ) -> object:
        """Run one operation as it is, but for the way that its gradient takes."""
        named = kwargs or {}
        if func in PRODUCTS:
            args, named = _halved(args, named)
        if func in SUMMED:
            factors, named = _halved(args[1:], named)
            args = (args[0], *factors)
        if func in QUOTIENTS:
            args = (args[0], *(_constant(a) for a in args[1:]))
        if func in FUSED:
            raise NotApplicable("relevance needs attention in single operations, not a fused one")
        out = func(*args, **named)
        return out if not isinstance(out, Tensor) else self._ruled(func, args, named, out)

    def _ruled(self, func: Operation, args: Arguments, named: Named, out: Tensor) -> Tensor:
        if func in SCALES or (func in SOFTMAXES and self.rule == "conservative"):
            return out.detach()
        if func in POWERS and negative(args[1:], named):
            return out.detach()
        if func in ACTIVATIONS or func in POWERS:
            return identity(_first(args, named), out)
        if func in NORMS:
            return _normed(norm_of(func, args, named), out)
        if func is F.embedding:
            self.fixed.append(out.detach().requires_grad_())
            return self.fixed[-1]
        return out


def rule(name: str) -> Rule:
    """The rule of that name.

    Raises:
        AttrialError: If there is none.
    """
    if name not in RULES:
        raise AttrialError(f"no rule {name!r} of relevance; {near(name, RULES)}")
    return RULES[name]


def identity(x: Tensor, y: Tensor) -> Tensor:
    """The output y of an activation function at x, with all relevance to x: the slope is y/x."""
    at = x.detach()
    slope = torch.where(at == 0, 0.0, y.detach() / torch.where(at == 0, 1.0, at))
    return _valued(y, slope * x)


def _valued(value: Tensor, linear: Tensor) -> Tensor:
    """The value of one tensor and the gradient of another."""
    return value.detach() + (linear - linear.detach())


def _first(args: Arguments, named: Named) -> Tensor:
    x = args[0] if args else named["input"]
    assert isinstance(x, Tensor)
    return x


def _normed(norm: Norm, out: Tensor) -> Tensor:
    scale = norm.scale.detach()
    weighted = scale if norm.weight is None else scale * norm.weight.detach()
    return _valued(out, norm.centred * weighted)


def _halved(args: Arguments, named: Named) -> tuple[Arguments, Named]:
    """Each of two factors with a gradient gets half of it; values stay as they are."""
    factors = [a for a in (*args, *named.values()) if isinstance(a, Tensor) and a.requires_grad]
    if len(factors) < 2:
        return args, named
    return tuple(_half(a) for a in args), {name: _half(a) for name, a in named.items()}


def _half(a: object) -> object:
    if not isinstance(a, Tensor) or not a.requires_grad:
        return a
    half = a * 0.5
    return half + half.detach()


def _constant(a: object) -> object:
    return a.detach() if isinstance(a, Tensor) else a


def negative(args: Arguments, named: Named) -> bool:
    """Whether a power's exponent (the rest of its arguments) is a negative number."""
    exponent = args[0] if args else named["exponent"]
    return isinstance(exponent, (int, float)) and exponent < 0
