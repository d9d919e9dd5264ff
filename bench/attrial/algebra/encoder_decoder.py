"""Generic attention explainability through an encoder and a decoder, by two rules."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from attrial.algebra.paths import positive, product
from attrial.errors import AttrialError, near
from attrial.masks import Floats

Pair = tuple[npt.ArrayLike, npt.ArrayLike]  # attention weights, and their gradients
Looks = Callable[[Floats, Floats, Floats], Floats]  # R_ss, R_qq and B_sq -> what R_sq gains


def chefer_encoder_decoder(
    encoder: Pair, decoder: Pair, cross: Pair, *, rule: str = "strict"
) -> tuple[Floats, Floats]:
    """Relevance through an encoder and a decoder of L' layers; B = mean_h relu(gradient * A).

    A decoder layer first looks at itself, R <- R + B R, then at the encoder's outputs.

    Args:
        encoder: Weights and gradients (L, H, s, s) of the encoder's attention.
        decoder: (L', H, t, t) of the decoder's attention to itself.
        cross: (L', H, t, s) of its attention to the encoder's outputs.
        rule: What R_sq (decoder by encoder) gains there. ``strict``: B_sq R_qq, every path once.
            ``published``: N(R_ss)^T B_sq N(R_qq) with N(R) the identity and the rest of R by rows
            of sum 1, as rule 10 has it: the transpose takes the decoder's positions for inputs
            where rules 6 and 7 take them for outputs.

    Returns:
        R_ss (t, t) and R_sq (t, s), never negative: the relevance of the decoder's and of the
        encoder's inputs to output i. Rows have no fixed sum.

    Source: Chefer, Gur & Wolf 2021 (ICCV), rules 6, 7 and 10.
    """
    if rule not in RULES:
        raise AttrialError(f"no rule {rule!r} of cross attention; {near(rule, RULES)}")
    inner, own, looks = (positive(*pair) for pair in (encoder, decoder, cross))
    if own.shape[:2] != looks.shape[:2] or looks.shape[2] != inner.shape[1]:
        raise AttrialError(
            f"decoder attention {own.shape}, cross attention {looks.shape} and encoder "
            f"{inner.shape} don't fit: they are (L', t, t), (L', t, s) and (L, s, s)"
        )
    encoded = product(inner + np.eye(inner.shape[-1]))
    from_decoder, from_encoder = np.eye(own.shape[-1]), np.zeros(looks.shape[1:])
    for self_attention, cross_attention in zip(own, looks, strict=True):
        from_decoder = from_decoder + self_attention @ from_decoder
        from_encoder = from_encoder + self_attention @ from_encoder
        from_encoder = from_encoder + RULES[rule](from_decoder, encoded, cross_attention)
    return from_decoder, from_encoder


def _strict(own: Floats, encoded: Floats, looks: Floats) -> Floats:
    return np.asarray(looks @ encoded)


def _published(own: Floats, encoded: Floats, looks: Floats) -> Floats:
    return np.asarray(_normalised(own).T @ looks @ _normalised(encoded))


def _normalised(relevance: Floats) -> Floats:
    """The identity, and what is beyond it with rows of sum 1 (or none, never nan)."""
    identity = np.eye(len(relevance))
    beyond = relevance - identity
    total = beyond.sum(-1, keepdims=True)
    return np.asarray(identity + beyond / np.where(total > 0, total, 1))


RULES: Mapping[str, Looks] = {"strict": _strict, "published": _published}
