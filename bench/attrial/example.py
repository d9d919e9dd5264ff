"""One input as the engine sees it: token ids, the players they belong to, what is known."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attrial.masks import Bools, Floats, Ints, Masks

ELSE = "anything else"  # than the one continuation that is asked about
FIXED = -1  # the owner of a position that is no player's: a special token


@dataclass(frozen=True, eq=False)
class Example:
    """One input of t token positions, cut into the n players that masks and scores speak of.

    Attributes:
        id: Name within its task.
        players: (n,) what each player looks like in the text.
        ids: (t,) token ids, special tokens included, no padding.
        types: (t,) segment ids (0 and 1 in a pair of texts).
        owner: (t,) the player that each position belongs to; ``FIXED`` for special tokens.
        read: The position whose representation the model's answer is read from.
        truth: (n,) which players are known evidence, or None where nothing is known.
        label: The gold class, or None.
        text: The text, or both texts of a pair.
        spans: (n,) pairs (start, end) of characters of each player in its text.
        truncated: How many words were cut off because the model takes no more.
        options: Token ids of each continuation that is asked about; none for classifiers.
        labels: What each option looks like.
        explained: The output that is explained; None for the one that the model prefers.
        prefix: Token ids of what a decoder has said before the options; it stays whatever leaves.
        spoken: How many of the last positions a decoder said after the prefix; an encoder never
            reads them.
        apart: Whether each output speaks of a label by itself, and several may hold; else outputs
            are classes that exclude each other.
    """

    id: str
    players: tuple[str, ...]
    ids: Ints
    types: Ints
    owner: Ints
    read: int = 0
    truth: Bools | None = None
    label: int | None = None
    text: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    truncated: int = 0
    options: tuple[tuple[int, ...], ...] = ()
    labels: tuple[str, ...] = ()
    explained: int | None = None
    prefix: tuple[int, ...] = ()
    spoken: int = 0
    apart: bool = False

    @property
    def n(self) -> int:
        """Number of players."""
        return len(self.players)

    @property
    def names(self) -> tuple[str, ...]:
        """What each output stands for, where the example itself says it."""
        return (*self.labels, ELSE) if len(self.options) == 1 else self.labels

    @cached_property
    def digest(self) -> str:
        """Content hash of what a model can see of it: ids, players, options, what is read."""
        h = hashlib.sha256(f"{self.n} {self.read}".encode())
        for part in (self.ids, self.types, self.owner):
            h.update(np.ascontiguousarray(part, np.int64).tobytes() + b"|")
        if self.options:
            h.update(repr((self.options, self.prefix)).encode())
        if self.spoken:
            h.update(f"{self.spoken} spoken".encode())
        return h.hexdigest()

    def to_players(self, tokens: Floats) -> Floats:
        """Sum over each player's positions: (..., t) -> (..., n). Fixed positions are left out."""
        member = np.equal(self.owner[:, None], np.arange(self.n)[None, :]).astype(np.float64)
        return np.asarray(np.asarray(tokens, np.float64) @ member)

    def to_positions(self, masks: Masks) -> Bools:
        """Kept positions of kept players: (k, n) -> (k, t) bool. Fixed positions always stay."""
        padded = np.concatenate([masks, np.ones((len(masks), 1), bool)], axis=1)
        return np.asarray(padded[:, self.owner])  # FIXED = -1 reads the last, always kept, column


def plain(n: int, truth: Bools | None = None) -> Example:
    """An example of n players of one position each, nothing fixed: for games without text."""
    index = np.arange(n)
    names = tuple(f"p{i}" for i in range(n))
    return Example("game", names, index, np.zeros(n, int), index, truth=truth)
