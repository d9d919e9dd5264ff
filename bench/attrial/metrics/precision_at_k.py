"""Share of known evidence among the top players."""

from attrial.ask import Asking
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._evidence import contrary, expected_hits, groups, ideal, known

DIRECTION = "higher"
READS = "probability"
FAMILY = "evidence"
UNIT = ""
RANKED = True
VERSION = 1


def precision_at_k(x: Example, scores: Scores, *, seed: int, k: int | None = None) -> Asking[float]:
    """Share of the top k players that are evidence. Higher is better.

    The expectation over tied players, in closed form. Without ``k`` it is R-precision.

    Formula:
        P@k = |evidence among the k highest| / k,  k = |evidence| by default

    Range:
        0 to 1; p/n for a random order with p players of evidence.

    Direction:
        Higher is better.

    Source:
        A standard of information retrieval; for planted shortcuts in text: Bastings et al., EMNLP
        2022, arXiv:2111.07367.

    When not to use:
        With a fixed k above the number of players of evidence: a perfect order can't reach 1, and
        its value then speaks of the data. With k None, beside ``relevance_rank``: the same number.

    Args:
        x: The example; its ``truth`` is read.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Not used.
        k: How many players; None for as many as there are evidence (R-precision). All players where
            there are fewer than k.

    Raises:
        Undefined: If no evidence is known, or every player is evidence.
        AttrialError: If k is less than 1.
    """
    yield from ()
    if k is not None and k < 1:
        raise AttrialError(f"k must be at least 1, got {k}")
    truth = known(x)
    top = int(truth.sum()) if k is None else min(k, x.n)
    return expected_hits(groups(scores, truth), top) / top


def extremes(x: Example, *, seed: int, k: int | None = None) -> Asking[tuple[Scores, Scores]]:
    """The evidence on top; the evidence last."""
    yield from ()
    return ideal(x), contrary(x)
