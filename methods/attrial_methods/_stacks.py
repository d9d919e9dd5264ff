"""What of a model's attention is read: its one stack's, or the way from a decoder to the input."""

from collections.abc import Sequence

import numpy as np

from attrial import algebra
from attrial.ask import Attention
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Bools, Floats

SPOKEN = -1  # the decoder's last position, where the answer is read


def seen_by(part: Attention) -> Bools:
    """Keys that each query may see, (L, t, t); where nobody knows, those with any weight."""
    return part.weights > 0 if part.seen is None else part.seen


def read_by(x: Example, reply: Attention) -> tuple[Attention, int]:
    """Weights from queries to the input, and the query that the answer is read from.

    Of two stacks these are the decoder's to the encoder's outputs, from its last position.

    Raises:
        NotApplicable: If words of the decoder are players, which have no part in these.
    """
    if reply.cross is None:
        return reply, x.read
    if x.spoken:
        raise NotApplicable("what the decoder said has no part in its attention to the source")
    return reply.cross, SPOKEN


def everywhere(x: Example, source: Floats, said: Floats) -> Floats:
    """One value a position (t,): of the source (t,), and of what the decoder said (t',)."""
    whole = np.array(source)
    if x.spoken:
        whole[-x.spoken :] = said[-x.spoken :]
    return whole


def three(reply: Attention) -> tuple[Attention, Attention, Attention]:
    """The encoder's, the decoder's and the cross attention of two stacks."""
    assert reply.decoder is not None and reply.cross is not None
    return reply, reply.decoder, reply.cross


def rolled(
    x: Example,
    reply: Attention,
    residual: object,
    *,
    ratio: float = 0.0,
    protect: Sequence[int] = (),
) -> Floats:
    """Shares (t,) of the input in the decoder's last position: a row of [D | X], by rollout.

    Raises:
        NotApplicable: If the residual's share isn't one number.
    """
    encoder, decoder, cross = (part.weights for part in three(reply))
    encoder = algebra.discard(encoder, ratio, protect=protect)
    decoder, cross = algebra.discard(decoder, ratio), algebra.discard(cross, ratio, protect=protect)
    share = one_share(residual)
    said, source = algebra.rollout_encoder_decoder(encoder, decoder, cross, share)
    return everywhere(x, source[SPOKEN], said[SPOKEN])


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

    def alone(part: Attention) -> Floats:
        seen = seen_by(part)
        return np.asarray(seen / np.maximum(seen.sum(-1, keepdims=True), 1))

    encoder, decoder, cross = (Attention(alone(part)) for part in three(reply))
    return Attention(encoder.weights, None, decoder, cross)
