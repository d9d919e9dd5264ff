"""Linear models of the value in the players' presence: least squares, ridge and lasso."""

import numpy as np

from attrial.masks import Floats, Masks, Scores, Values

SWEEPS, SMALL = 10_000, 1e-10


def ridge(sets: Masks, values: Values, weights: Floats, alpha: float) -> Scores:
    """Slopes of a weighted ridge regression with a free intercept: (k, n), (k,), (k,) -> (n,).

    Minimises sum_k w_k (y_k - b - z_k.s)^2 + alpha |s|^2; of equals the shortest s.
    """
    share = weights / weights.sum()
    z, y = sets - share @ sets, values - share @ values
    root = np.sqrt(weights)
    penalty = np.sqrt(alpha) * np.eye(sets.shape[1])
    design = np.concatenate([root[:, None] * z, penalty])
    return _least_squares(design, np.concatenate([root * y, np.zeros(len(penalty))]))


def constrained(sets: Masks, values: Values, weights: Floats, total: float) -> Scores:
    """Slopes without intercept that sum to ``total``: (k, n), (k,), (k,) -> (n,).

    Minimises sum_k w_k (y_k - z_k.s)^2; of equals the one nearest to equal shares.
    """
    n = sets.shape[1]
    share = sets.mean(1)
    root = np.sqrt(weights)
    apart = _least_squares(root[:, None] * (sets - share[:, None]), root * (values - share * total))
    return np.asarray(total / n + apart - apart.mean())


def lasso(sets: Masks, values: Values, alpha: float) -> tuple[Scores, bool]:
    """Slopes of a lasso on standardised presence, and whether the descent came to rest.

    Minimises |y - b - x.s|^2 / 2k + alpha |s|_1 by coordinate descent, x being presence with
    mean 0 and variance 1; slopes are those of presence itself.
    """
    spread = sets.std(0)
    x = (sets - sets.mean(0)) / np.where(spread > 0, spread, 1)
    slopes, left = np.zeros(sets.shape[1]), values - values.mean()
    for _ in range(SWEEPS):
        before = slopes.copy()
        for j in np.flatnonzero(spread):
            pull = slopes[j] + x[:, j] @ left / len(x)
            now = np.sign(pull) * max(abs(pull) - alpha, 0)
            left = left - (now - slopes[j]) * x[:, j]
            slopes[j] = now
        if np.abs(slopes - before).max() <= SMALL * max(1, np.abs(slopes).max()):
            return slopes / np.where(spread > 0, spread, 1), True
    return slopes / np.where(spread > 0, spread, 1), False


def _least_squares(design: Floats, values: Values) -> Scores:
    return np.asarray(np.linalg.lstsq(design, values)[0])
