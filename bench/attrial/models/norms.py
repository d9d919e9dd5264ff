"""Layer norm and root-mean-square norm taken apart: what is scaled, and by how much."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

NAMES = ("input", "normalized_shape", "weight", "bias", "eps")
RMS_NAMES = ("input", "normalized_shape", "weight", "eps")


@dataclass(frozen=True, eq=False)
class Norm:
    """One call of a norm: centred(x) * scale * weight + bias, over the last dimensions.

    Attributes:
        x: What is normed.
        dims: The dimensions that it is normed over.
        weight: Factor of each element; None for 1.
        bias: What is added; None for nothing (root-mean-square norm has none).
        eps: What is added under the root.
        centres: Whether the mean is taken out first.
    """

    x: Tensor
    dims: list[int]
    weight: Tensor | None
    bias: Tensor | None
    eps: float
    centres: bool

    @property
    def centred(self) -> Tensor:
        """Without its mean, where the norm takes it out."""
        return self.x - self.x.mean(dim=self.dims, keepdim=True) if self.centres else self.x

    @property
    def scale(self) -> Tensor:
        """One over the root of the mean square, of one element a norm."""
        return (self.centred.square().mean(dim=self.dims, keepdim=True) + self.eps).rsqrt()

    def at(self, scale: Tensor) -> Tensor:
        """The norm's output, were this its scale: linear in x but for the bias."""
        out = self.centred * scale
        out = out if self.weight is None else out * self.weight
        return out if self.bias is None else out + self.bias


def norm_of(
    func: Callable[..., object], args: tuple[object, ...], named: Mapping[str, object]
) -> Norm:
    """What a call of ``F.layer_norm`` or ``F.rms_norm`` norms, and how."""
    centres = func is F.layer_norm
    given = dict(zip(NAMES if centres else RMS_NAMES, args, strict=False)) | dict(named)
    x, shape, eps = given["input"], given["normalized_shape"], given.get("eps")
    weight, bias = given.get("weight"), given.get("bias")
    assert isinstance(x, Tensor) and isinstance(shape, (tuple, list))
    assert weight is None or isinstance(weight, Tensor)
    assert bias is None or isinstance(bias, Tensor)
    least = (1e-5 if centres else torch.finfo(x.dtype).eps) if eps is None else eps
    assert isinstance(least, float)
    return Norm(x, list(range(-len(shape), 0)), weight, bias, least, centres)
