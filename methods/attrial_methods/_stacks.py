"""What of a model's attention is read: its one stack's, or the way from a decoder to the input."""

from collections.abc import Sequence

import numpy as np

from attrial import algebra
from attrial.ask import Attention
from attrial.errors import NotApplicable
from attrial.masks import Floats

SPOKEN = -1  # the decoder's last position, where the answer is read


def read_by(reply: Attention, read: int) -> tuple[Attention, int]:
    """Weights from queries to the input, and the query that the answer is read from.

    Of two stacks these are the decoder's to the encoder's outputs, from its last position.
    """
    return (reply, read) if reply.cross is None else (reply.cross, SPOKEN)


def three(reply: Attention) -> tuple[Attention, Attention, Attention]:
    """The encoder's, the decoder's and the cross attention of two stacks."""
    assert reply.decoder is not None and reply.cross is not None
    return reply, reply.decoder, reply.cross


def rolled(
    reply: Attention, residual: object, *, ratio: float = 0.0, protect: Sequence[int] = ()
) -> Floats:
    """Shares (s,) of the input in the decoder's last position: a row of X, rollout of both stacks.

    Raises:
        NotApplicable: If the residual's share isn't one number.
    """
    encoder, decoder, cross = (part.weights for part in three(reply))
    encoder = algebra.discard(encoder, ratio, protect=protect)
    decoder, cross = algebra.discard(decoder, ratio), algebra.discard(cross, ratio, protect=protect)
    share = one_share(residual)
    _, found = algebra.rollout_encoder_decoder(encoder, decoder, cross, share)
    return np.asarray(found[SPOKEN])


def one_share(residual: object) -> float:
    """A residual's share that holds in all layers of both stacks.

    Raises:
        NotApplicable: If there are several.
    """
    if isinstance(residual, int | float):
        return float(residual)
    raise NotApplicable("with two stacks the residual has one share in all layers")


def without_looking(reply: Attention) -> Attention:
    """The same with uniform attention to all keys that are seen: the architecture alone."""

    def alone(weights: Floats) -> Floats:
        seen = weights > 0
        return np.asarray(seen / np.maximum(seen.sum(-1, keepdims=True), 1))

    encoder, decoder, cross = (Attention(alone(part.weights)) for part in three(reply))
    return Attention(encoder.weights, None, decoder, cross)
