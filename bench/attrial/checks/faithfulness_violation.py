"""Faithfulness violation: a sign that says the opposite of what removing the player does."""

import numpy as np

from attrial.check_bench import Bench, Cell, Explained, NotApplicable, Outcome
from attrial.checks._alike import TIE
from attrial.masks import Values, all_but_each, everything

RULE = "less"
NULL = 0.5
DIRECTION = "lower"
UNIT = "share of wrong signs"
VERSION = 1


def faithfulness_violation(bench: Bench, *, seed: int, top: int = 1) -> Outcome:
    """Compare the sign of the strongest scores with that of the players' own effect (Liu 2022).

    The effect of a player is v(all) - v(all but it). The value is the share of the ``top`` players
    by |s| whose score has the other sign than their effect, ties at the edge counted by their
    share; a score or an effect of 0 says nothing and is left out. Signs by coin give 0.5. Asked of
    methods that declare ``SIGN = "signed"``.

    Args:
        bench: The method, the model and the examples.
        seed: Of the method.
        top: Players of an example whose signs are compared.
    """
    if bench.declares("SIGN", "signed") != "signed":
        raise NotApplicable(f"its scores have no sign to be wrong ({bench.declares('SIGN')})")
    masks = [np.concatenate([everything(x.n), all_but_each(x.n)]) for x in bench.examples]
    values = bench.values(masks)
    found = bench.explain(seed=seed)
    return Outcome([[_wrong(e, v, top) for e, v in zip(found, values, strict=True)]])


def _wrong(explained: Explained, values: Values, top: int) -> Cell:
    if isinstance(explained, str):
        return explained
    effect = values[0] - values[1:]
    size = np.abs(explained)
    edge = np.sort(size)[::-1][min(top, len(size)) - 1]
    above, tied = size > edge, size == edge
    weight = above + tied * (min(top, len(size)) - above.sum()) / tied.sum()
    told = (explained != 0) & (np.abs(effect) > TIE * np.abs(values).max())
    if not (weight * told).any():
        return "the strongest scores, or their effects, are 0"
    opposite = np.sign(explained) != np.sign(effect)
    return float((weight * told * opposite).sum() / (weight * told).sum())
