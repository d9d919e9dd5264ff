"""Products of layers: what reached an output over all paths from the inputs."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from attrial.algebra.matrices import (
    add_residual,
    discard,
    finite,
    fuse,
    fuse_any,
    shares_of,
    weights_of,
)
from attrial.errors import AttrialError
from attrial.masks import Floats


def rollout(
    attention: npt.ArrayLike,
    residual: npt.ArrayLike = 0.5,
    fusion: str = "mean",
    *,
    start: int = 0,
    discard_ratio: float = 0.0,
    protect: Sequence[int] = (),
) -> Floats:
    """Attention rollout: R = A_L ... A_1 of residual-augmented, head-fused matrices.

    Args:
        attention: (L, H, n, n) or (L, n, n), layer 0 nearest the input, query rows.
        residual: Share of the identity in each layer; (L,) for one a layer.
        fusion: ``mean``, ``max`` or ``min`` over heads.
        start: First layer that counts (the ones below are left out).
        discard_ratio: Share of each layer's lowest weights that is set to 0 (rows are scaled to
            sum 1 again).
        protect: Columns of which nothing is discarded: special tokens.

    Returns:
        (n, n), rows sum to 1: the share of output i that came from input j.

    Raises:
        AttrialError: If a weight is negative or not finite, or a share is none from 0 to 1.

    Source: Abnar & Zuidema 2020, arXiv 2005.00928.
    """
    weights = fuse(weights_of(attention), fusion)
    shares = np.broadcast_to(shares_of(residual, weights.shape).T, weights.shape[1::-1]).T

    def augmented(layer: int) -> Floats:  # one at a time, so that long inputs take little memory
        own = slice(layer, layer + 1)
        fused = discard(weights[own], discard_ratio, protect=protect)
        return np.asarray(add_residual(fused, shares[own])[0])

    _check_start(start, len(weights))
    rolled = np.eye(weights.shape[-1])
    for layer in range(start, len(weights)):
        rolled = augmented(layer) @ rolled
    return rolled


def _check_start(start: int, layers: int) -> None:
    if not 0 <= start < layers:
        raise AttrialError(f"start={start}; there are {layers} layers, the first is 0")


def product(layers: Floats, *, start: int = 0) -> Floats:
    """A_L ... A_start: (L, n, n) -> (n, n)."""
    _check_start(start, len(layers))
    rolled = np.eye(layers.shape[-1])
    for layer in layers[start:]:
        rolled = np.asarray(layer @ rolled)
    return rolled


def rollout_encoder_decoder(
    encoder: npt.ArrayLike,
    decoder: npt.ArrayLike,
    cross: npt.ArrayLike,
    residual: float = 0.5,
    fusion: str = "mean",
) -> tuple[Floats, Floats]:
    """Rollout through an encoder and a decoder of L' layers, by strict composition of paths.

    A decoder layer first looks at itself, then at the encoder's outputs, and each time keeps
    ``residual`` of what it was.

    Args:
        encoder: (L, H, s, s) or (L, s, s).
        decoder: (L', H, t, t) or (L', t, t), the decoder's attention to itself.
        cross: (L', H, t, s) or (L', t, s), its attention to the encoder's outputs.
        residual: Share of the identity in each step.
        fusion: ``mean``, ``max`` or ``min`` over heads.

    Returns:
        D (t, t) and X (t, s): the shares of output i that came from the decoder's and from the
        encoder's inputs. Rows of [D | X] sum to 1.
    """
    encoded = rollout(encoder, residual, fusion)
    own, looks = add_residual(fuse(weights_of(decoder), fusion), residual), crossing(cross, fusion)
    if own.shape[:2] != looks.shape[:2] or looks.shape[2] != len(encoded):
        raise AttrialError(
            f"decoder attention {own.shape}, cross attention {looks.shape} and encoder "
            f"{encoded.shape} don't fit: they are (L', t, t), (L', t, s) and (s, s)"
        )
    from_decoder, from_encoder = np.eye(own.shape[-1]), np.zeros(looks.shape[1:])
    for self_attention, cross_attention in zip(own, looks, strict=True):
        seen = (1 - residual) * cross_attention
        stays = 1 - seen.sum(-1, keepdims=True)  # all of it where nothing is looked at
        from_decoder = stays * (self_attention @ from_decoder)
        from_encoder = stays * (self_attention @ from_encoder) + seen @ encoded
    return from_decoder, from_encoder


def crossing(cross: npt.ArrayLike, fusion: str = "mean") -> Floats:
    """Heads of (L', H, t, s) folded, rows scaled to sum 1 (or all zero): (L', t, s)."""
    weights = fuse_any(weights_of(cross, "cross attention"), fusion)
    total = weights.sum(-1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1))


def chefer(attention: npt.ArrayLike, gradient: npt.ArrayLike, *, start: int = 0) -> Floats:
    """Generic attention explainability: R = (I + B_L) ... (I + B_1), B = mean_h relu(G * A).

    Args:
        attention: (L, H, n, n), layer 0 nearest the input, query rows.
        gradient: (L, H, n, n) of the target with respect to these weights.
        start: First layer that counts.

    Returns:
        (n, n), never negative: the relevance of input j to output i. Rows have no fixed sum.

    Source: Chefer, Gur & Wolf 2021 (ICCV), rules 5 and 6.
    """
    layers = positive(attention, gradient)
    return product(layers + np.eye(layers.shape[-1]), start=start)


def positive(attention: npt.ArrayLike, gradient: npt.ArrayLike) -> Floats:
    """mean_h relu(gradient * attention): twice (L, H, t, s) -> (L, t, s)."""
    weights, slopes = finite(attention, "attention"), finite(gradient, "gradient")
    if weights.ndim != 4 or weights.shape != slopes.shape:
        raise AttrialError(
            f"attention {weights.shape} and gradient {slopes.shape}; both are (L, H, n, n)"
        )
    return np.asarray(np.maximum(weights * slopes, 0).mean(axis=1))
