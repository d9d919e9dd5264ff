"""The row of a rollout that the answer is read from, of one stack of layers or of two."""

from attrial import algebra
from attrial.ask import Attention
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Floats
from attrial_methods._stacks import rolled, seen_by, without_looking


def of_one(
    reply: Attention,
    residual: float | list[float] | Floats,
    ratio: float,
    start: int,
    special: list[int],
    read: int,
) -> tuple[Floats, Floats]:
    """Shares (t,) in the position that is read, and those of uniform attention."""
    whole = algebra.rollout(
        reply.weights, residual, start=start, discard_ratio=ratio, protect=special
    )
    alone = algebra.rollout(algebra.uniform(seen_by(reply)), residual, start=start)
    return whole[read], alone[read]


def of_two(
    x: Example, reply: Attention, residual: object, ratio: float, start: int, special: list[int]
) -> tuple[Floats, Floats]:
    """Shares (t,) of the input in the decoder's last position, and those of uniform attention."""
    if start:
        raise NotApplicable("with two stacks all layers count")
    alone = rolled(x, without_looking(reply), residual)
    return rolled(x, reply, residual, ratio=ratio, protect=special), alone
