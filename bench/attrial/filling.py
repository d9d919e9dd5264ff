"""Stand-ins for removed tokens: drawn from the texts that are tried, or by a masked model."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from attrial.example import FIXED, Example
from attrial.masks import Bools, Floats, Ints


class Filler(Protocol):
    """What draws stand-ins for removed tokens."""

    @property
    def name(self) -> str:
        """What it is, with a hash of all that decides its draws: it goes into records."""

    def fill(self, x: Example, kept: Bools, uniform: Floats) -> Ints:
        """Ids (k, t) with a stand-in at each position that is not kept.

        ``uniform`` (k, t) in [0, 1) are the draws: each picks a token by its cumulated probability.
        """


@dataclass(frozen=True, eq=False)
class Corpus:
    """Draws each stand-in from the players' tokens of a set of texts, as often as they occur.

    Attributes:
        tokens: (m,) all tokens of all players, sorted.
    """

    tokens: Ints

    @cached_property
    def name(self) -> str:
        """Which tokens it draws from."""
        digest = hashlib.sha256(self.tokens.tobytes()).hexdigest()[:16]
        return f"corpus of {len(self.tokens)} tokens {digest}"

    def fill(self, x: Example, kept: Bools, uniform: Floats) -> Ints:
        """Ids (k, t): every stand-in by itself, whatever stands around it."""
        drawn = self.tokens[(uniform * len(self.tokens)).astype(np.int64)]
        return np.where(kept, x.ids, drawn)


def corpus_of(examples: Sequence[Example]) -> Corpus:
    """The tokens of all players of some examples; sorted, so that their order doesn't matter."""
    return Corpus(np.sort(np.concatenate([x.ids[x.owner != FIXED] for x in examples])))


def by_content(x: Example, kept: Bools) -> Floats:
    """Draws (k, t) that each row's content decides: a removal is a function, not a lottery."""
    packed = [hashlib.sha256(x.digest.encode() + np.packbits(row).tobytes()) for row in kept]
    return _drawn([[int.from_bytes(h.digest()[:8], "little")] for h in packed], kept.shape[1])


def by_seed(seed: int, k: int, t: int) -> Floats:
    """Draws (k, t) from a seed and the row's number."""
    return _drawn([[seed, row] for row in range(k)], t)


def _drawn(seeds: Sequence[Sequence[int]], t: int) -> Floats:
    return np.stack([np.random.default_rng(seed).random(t) for seed in seeds])
