"""What models answer where a row of values is not enough."""

from dataclasses import dataclass

from attrial.masks import Bools, Floats, Values


@dataclass(frozen=True, eq=False)
class Slopes:
    """Answer to ``Slope``: at k points, over t positions of width d.

    Attributes:
        gradient: (k, t, d) of the target with respect to the word embeddings.
        difference: (k, t, d) input minus baseline (zero at fixed positions).
        values: (k,) the target's value at the points.
    """

    gradient: Floats
    difference: Floats
    values: Values


@dataclass(frozen=True, eq=False)
class Attention:
    """Answer to ``Attend``: (L, H, t, t), or (L, t, t) fused; query i to key j; layer 0 first.

    Attributes:
        weights: Of the one stack, or of the encoder, whose positions are the input's.
        gradient: The target's by them, if asked for.
        decoder: (L', H, t', t') of a second stack to itself; None where there is one stack. The
            answer is read at its last position.
        cross: (L', H, t', t) of the second stack to the input.
        seen: (L, t, t) which keys each query may see, whatever its weight; None where nobody knows.
    """

    weights: Floats
    gradient: Floats | None = None
    decoder: "Attention | None" = None
    cross: "Attention | None" = None
    seen: Bools | None = None


@dataclass(frozen=True, eq=False)
class Relevances:
    """Answer to ``Relevance``.

    Attributes:
        tokens: (t,) of each position's word embedding.
        conserved: What all embeddings got, position and type embeddings included, as a share of
            what was shared out: 1 where no bias keeps any.
    """

    tokens: Floats
    conserved: float
