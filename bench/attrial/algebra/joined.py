"""Two stacks as one: the layers of an encoder and a decoder over the positions of both."""

import numpy as np
import numpy.typing as npt

from attrial.algebra.matrices import add_residual, fuse, weights_of
from attrial.algebra.paths import crossing
from attrial.errors import AttrialError
from attrial.masks import Floats


def joined(
    encoder: npt.ArrayLike,
    decoder: npt.ArrayLike,
    cross: npt.ArrayLike,
    residual: float = 0.5,
) -> Floats:
    """The steps that both stacks take after each other, each over the decoder's t and the s inputs.

    In the encoder's L steps the decoder's positions stay what they are; a decoder layer is two
    steps, one to itself and one to the encoder's outputs. The last step's first t rows are those of
    ``rollout_encoder_decoder`` once all are multiplied.

    Args:
        encoder: (L, s, s), or (L, H, s, s), whose mean over heads is taken.
        decoder: (L', t, t) or (L', H, t, t).
        cross: (L', t, s) or (L', H, t, s).
        residual: Share of the identity in each step.

    Returns:
        (L + 2 L', t + s, t + s), rows of sum 1; the decoder's positions come first.

    Raises:
        AttrialError: If the shapes don't fit, or a weight is negative or not finite.
    """
    inner = add_residual(fuse(weights_of(encoder)), residual)
    own, looks = add_residual(fuse(weights_of(decoder)), residual), crossing(cross)
    (t, s), depth = looks.shape[1:], len(looks)
    if own.shape != (depth, t, t) or inner.shape[1] != s:
        raise AttrialError(f"matrices {inner.shape}, {own.shape} and {looks.shape} don't fit")
    steps = np.tile(np.eye(t + s), (len(inner) + 2 * depth, 1, 1))
    steps[: len(inner), t:, t:] = inner
    steps[len(inner) :: 2, :t, :t] = own
    seen = (1 - residual) * looks
    steps[len(inner) + 1 :: 2, :t, t:] = seen
    steps[len(inner) + 1 :: 2, :t, :t] *= 1 - seen.sum(-1, keepdims=True)
    return steps
