"""What removing players does to a model's input: rows of ids, positions and visibility, in numpy.

A removal is a plugin: a file of ``attrial.removals`` (or of a package that joins) whose function
turns one example and its kept positions into rows. Text is never tokenised again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example
from attrial.filling import Filler
from attrial.masks import Bools, Ints
from attrial.registry import declared, plugin, plugins

Cell = TypeVar("Cell", np.int64, np.bool_)
NO_TOKEN = -1  # behind the end of an option that is shorter than another


@dataclass(frozen=True, eq=False)
class Rows:
    """What k forward rows are made of, padded at the end to t' positions.

    Attributes:
        ids: (k, t') token ids.
        types: (k, t') segment ids.
        positions: (k, t') place of each token in the sequence, from 0, before a model's offset.
        visible: (k, t') whether a position is attended to. Padding isn't.
        blank: (k, t') whether a position's word embedding is set to zero.
        lengths: (k,) positions before the padding.
        options: (k, C, m) token ids of the continuations that are asked about, -1 behind the end of
            each; None where none is.
        prefix: (k, p) token ids of what a decoder has said before them, -1 behind the end.
        spoken: (k,) how many of the last positions of a row its decoder said.
        read: (k,) the position in its row at which a head that speaks at every one is read.
        full: (t,) ids of the full input, where rows may share the work of what they begin with.
    """

    ids: Ints
    types: Ints
    positions: Ints
    visible: Bools
    blank: Bools
    lengths: Ints
    options: Ints | None = None
    prefix: Ints | None = None
    spoken: Ints | None = None
    read: Ints | None = None
    full: Ints | None = None

    @property
    def asked(self) -> int:
        """The most continuations that a row asks about."""
        return 0 if self.options is None else self.options.shape[1]


@dataclass(frozen=True)
class Vocabulary:
    """Ids of the tokens that can stand for a removed one; None where a tokenizer has none.

    ``special`` are all tokens that are no part of a text; ``filler`` draws stand-ins;
    ``embeddings`` says whether the model lets its word embeddings be replaced.
    """

    mask: int | None = None
    pad: int | None = None
    unk: int | None = None
    special: frozenset[int] = frozenset()
    filler: Filler | None = None
    embeddings: bool = True

    @property
    def has(self) -> frozenset[str]:
        """What removals may need: ``mask token``, ``pad token``, ``unk token``, ``filler``.

        All text can be closed up (``text``) and hidden (``hidden positions``); ``embeddings`` are
        there where the model lets them be replaced.
        """
        tokens = {"mask token": self.mask, "pad token": self.pad, "unk token": self.unk}
        there = frozenset(name for name, token in tokens.items() if token is not None)
        there |= {"text", "hidden positions"} | ({"embeddings"} if self.embeddings else set())
        return there if self.filler is None else there | {"filler"}


Removal = Callable[[Example, Bools, Vocabulary], Rows]


def in_place(
    x: Example,
    k: int,
    *,
    ids: Ints | None = None,
    visible: Bools | None = None,
    blank: Bools | None = None,
) -> Rows:
    """Rows (k, t) of an example with every token at its place, but for what is given."""
    shape = (k, len(x.ids))
    return Rows(
        ids=np.broadcast_to(x.ids, shape) if ids is None else ids,
        types=np.broadcast_to(x.types, shape),
        positions=np.broadcast_to(np.arange(shape[1]), shape),
        visible=np.ones(shape, bool) if visible is None else visible,
        blank=np.zeros(shape, bool) if blank is None else blank,
        lengths=np.full(k, shape[1], np.int64),
        options=_options(x, k),
        prefix=np.tile(np.array(x.prefix, np.int64), (k, 1)) if x.prefix else None,
        spoken=np.full(k, x.spoken, np.int64) if x.spoken else None,
        read=np.full(k, x.read, np.int64),
    )


def _options(x: Example, k: int) -> Ints | None:
    if not x.options:
        return None
    longest = max(map(len, x.options))
    ids = [[*option, *[NO_TOKEN] * (longest - len(option))] for option in x.options]
    return np.broadcast_to(np.array(ids, np.int64), (k, len(ids), longest))


def with_token(x: Example, kept: Bools, token: int | None, name: str) -> Rows:
    """Rows (k, t) whose removed positions read one token.

    Raises:
        NotApplicable: If the tokenizer has no such token.
    """
    if token is None:
        raise NotApplicable(f"the tokenizer has no {name}")
    return in_place(x, len(kept), ids=np.where(kept, x.ids, token))


def closed_up(rows: Rows) -> Rows:
    """Rows without their invisible positions; the others move up and keep their place numbers."""
    order = np.argsort(~rows.visible, axis=1, kind="stable")
    lengths = rows.visible.sum(axis=1)
    return Rows(
        ids=np.take_along_axis(rows.ids, order, axis=1),
        types=np.take_along_axis(rows.types, order, axis=1),
        positions=np.take_along_axis(rows.positions, order, axis=1),
        visible=np.arange(order.shape[1]) < lengths[:, None],
        blank=np.take_along_axis(rows.blank, order, axis=1),
        lengths=lengths,
        options=rows.options,
        prefix=rows.prefix,
        spoken=_still_spoken(rows),
        read=_moved(rows),
    )


def _still_spoken(rows: Rows) -> Ints | None:
    """How many of the decoder's positions are left once invisible ones are gone."""
    if rows.spoken is None:
        return None
    last = np.arange(rows.visible.shape[1]) >= (rows.lengths - rows.spoken)[:, None]
    return np.asarray((rows.visible & last).sum(axis=1))


def _spoken(parts: Sequence[Rows]) -> Ints | None:
    if all(p.spoken is None for p in parts):
        return None
    none = [np.zeros(len(p.lengths), np.int64) for p in parts]
    return np.concatenate(
        [z if p.spoken is None else p.spoken for p, z in zip(parts, none, strict=True)]
    )


def _moved(rows: Rows) -> Ints | None:
    """Where the position that is read stands once invisible ones before it are gone."""
    if rows.read is None:
        return None
    before = np.arange(rows.visible.shape[1]) < rows.read[:, None]
    return np.asarray((rows.visible & before).sum(axis=1))


def stack(parts: Sequence[Rows], *, width: int, pad: int = 0) -> Rows:
    """Rows of several examples below each other, cut or padded to one width that holds them all."""
    lengths = np.concatenate([p.lengths for p in parts])
    # Closed-up rows still hold what was removed behind their end; heads that look for the end by
    # the padding must not find it.
    used = np.arange(width) < lengths[:, None]
    return Rows(
        ids=np.where(used, _below([p.ids for p in parts], width, pad), pad),
        types=_below([p.types for p in parts], width, 0),
        positions=_below([p.positions for p in parts], width, 0),
        visible=_below([p.visible for p in parts], width, False),
        blank=_below([p.blank for p in parts], width, False),
        lengths=lengths,
        options=_joined([p.options for p in parts]),
        prefix=_prefixes([p.prefix for p in parts]),
        spoken=_spoken(parts),
        read=_reads([p.read for p in parts]),
    )


def _reads(parts: Sequence[Ints | None]) -> Ints | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if len(given) == len(parts) else None


def _prefixes(parts: Sequence[Ints | None]) -> Ints | None:
    joined = _joined([None if part is None else part[:, None] for part in parts])
    return None if joined is None else joined[:, 0]


def _joined(parts: Sequence[Ints | None]) -> Ints | None:
    """Options of several examples below each other, filled up to the most and the longest."""
    given = [part for part in parts if part is not None]
    if not given:
        return None
    if len(given) != len(parts):
        raise ValueError("some rows ask about continuations and some don't")
    most = np.max([part.shape[1:] for part in given], axis=0)
    grow = [(0, 0), (0, most[0]), (0, most[1])]
    full = [np.pad(part, grow, constant_values=NO_TOKEN) for part in given]
    return np.concatenate([part[:, : most[0], : most[1]] for part in full])


def _below(parts: Sequence[NDArray[Cell]], width: int, fill: int) -> NDArray[Cell]:
    out = np.full((sum(len(p) for p in parts), width), fill, parts[0].dtype)
    start = 0
    for part in parts:
        used = min(width, part.shape[1])
        out[start : start + len(part), :used] = part[:, :used]
        start += len(part)
    return out


def remove(x: Example, kept: Bools, *, removal: str, vocabulary: Vocabulary) -> Rows:
    """Rows (k, t') of an example of which only the kept positions (k, t) stay.

    Raises:
        NotApplicable: If the vocabulary lacks what the removal needs; those it can do are named.
        AttrialError: If there is no such removal, or if it hides everything in a row.
    """
    function = cast(Removal, plugin("removals", removal).function())
    try:
        rows = function(x, kept, vocabulary)
    except NotApplicable as lacking:
        can = ", ".join(possible(vocabulary))
        raise NotApplicable(
            f"removal {removal!r} can't be done: {lacking}; this model can do {can}"
        ) from None
    if not rows.visible.any(axis=1).all():
        raise AttrialError(f"removal {removal!r} leaves nothing visible of example {x.id!r}")
    return rows


def draws(removal: str) -> bool:
    """Whether a removal draws stand-ins, so that what draws them decides its outputs."""
    return declared(plugin("removals", removal)).constants.get("NEEDS") == "filler"


def possible(vocabulary: Vocabulary) -> list[str]:
    """Names of the removals that need nothing which the vocabulary lacks."""
    needs = {name: declared(p).constants.get("NEEDS") for name, p in plugins("removals").items()}
    return [name for name, need in needs.items() if need is None or need in vocabulary.has]
