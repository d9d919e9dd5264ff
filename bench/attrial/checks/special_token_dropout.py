"""Special-token dropout: an explanation should survive the loss of one token that says nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from attrial.check_bench import Bench, Cell, Explained, NotApplicable, Outcome, averaged
from attrial.checks._alike import compared, spearman
from attrial.example import FIXED, Example
from attrial.masks import Bools

T = TypeVar("T")
RULE = "more"
NULL = 0.0
DIRECTION = "higher"
UNIT = "rank correlation"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Shorter:
    """An example without one token: the ``source``-th, of whose players ``left`` (n,) stay."""

    source: int
    example: Example
    left: Bools


def special_token_dropout(bench: Bench, *, seed: int) -> Outcome:
    """Mean Spearman correlation with the explanations after one token is dropped.

    Dropped are, one at a time, every special token but the one that is read, and every player that
    is punctuation alone. The players that stay are compared. Where the model then predicts another
    class there is no value. Unrelated scores correlate by 0 on average.

    Args:
        bench: The method, the model and the examples.
        seed: Of the method.
    """
    shorter = [cut for i, x in enumerate(bench.examples) for cut in cuts(i, x)]
    if not shorter:
        raise NotApplicable("no example has a special token or punctuation to drop")
    short = replace(
        bench,
        examples=tuple(cut.example for cut in shorter),
        classes=tuple(bench.classes[cut.source] for cut in shorter),
    )
    before, after = bench.explain(seed=seed), short.explain(seed=seed)
    kept = [int(np.argmax(o)) == c for o, c in zip(short.outputs(), short.classes, strict=True)]
    found: list[list[Cell]] = [[] for _ in bench.examples]
    for cut, e, same in zip(shorter, after, kept, strict=True):
        cell = compared(spearman, _left(before[cut.source], cut.left), e)
        found[cut.source].append(cell if same else "the drop changed the prediction")
    return Outcome([[averaged(c) if c else "no token to drop" for c in found]])


def _left(explained: Explained, left: Bools) -> Explained:
    return explained if isinstance(explained, str) else explained[left]


def cuts(source: int, x: Example) -> Iterator[Shorter]:
    """All that an example can be cut down to."""
    for position in np.flatnonzero((x.owner == FIXED) & (np.arange(len(x.ids)) != x.read)):
        yield Shorter(source, _without(x, np.arange(len(x.ids)) == position), np.ones(x.n, bool))
    for player, name in enumerate(x.players):
        if x.n > 2 and not any(c.isalnum() for c in name) and x.owner[x.read] != player:
            left = np.arange(x.n) != player
            yield Shorter(source, _without(x, x.owner == player), left)


def _without(x: Example, gone: Bools) -> Example:
    """The example without some positions, and without the players that stood there alone."""
    owner = x.owner[~gone]
    left = np.isin(np.arange(x.n), owner)
    renumbered = np.append(np.cumsum(left) - 1, FIXED)  # FIXED = -1 reads the last
    return replace(
        x,
        players=_chosen(x.players, left),
        ids=x.ids[~gone],
        types=x.types[~gone],
        owner=renumbered[owner],
        read=x.read - int(gone[: x.read].sum()),
        truth=None if x.truth is None else x.truth[left],
        spans=_chosen(x.spans, left) if x.spans else (),
    )


def _chosen(items: Sequence[T], left: Bools) -> tuple[T, ...]:
    return tuple(item for item, stays in zip(items, left, strict=True) if stays)
