"""The bins of ERASER: which sizes of the top are asked about, and how their drops are averaged."""

from collections.abc import Sequence

import numpy as np

from attrial.curves import bin_sizes
from attrial.masks import Floats

BINS = (0.01, 0.05, 0.1, 0.2, 0.5)


def mean_over_bins(drops: Floats, *, zero_bin: bool) -> float:
    """Mean drop over the |B| bins, or over |B| + 1 with the bin of no player, whose drop is 0."""
    return float(drops.sum() / (len(drops) + zero_bin))


def weights(bins: Sequence[float], n: int) -> Floats:
    """(n + 1,) how many of the bins take k players, k = 0..n.

    >>> weights((0.1, 0.2, 0.5), 4).tolist()
    [0.0, 2.0, 1.0, 0.0, 0.0]
    """
    return np.bincount(bin_sizes(bins, n), minlength=n + 1).astype(float)
