"""The completeness gap of scores that are meant to add up, noted for each example."""

from attrial.ask import Asking, note
from attrial.masks import Scores


def gap_noted(scores: Scores, change: float) -> Asking[Scores]:
    """The scores, with how far their sum misses ``change``, v(all) - v(none), noted."""
    yield from note({"completeness_gap": abs(float(scores.sum() - change))})
    return scores
