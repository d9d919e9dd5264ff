"""Gradients along many ways from a baseline, asked in portions so that memory stays bounded."""

import numpy as np

from attrial.ask import Asking, slope
from attrial.example import Example
from attrial.masks import Floats, Ints, Scores, Values

PORTION = 64  # points a question: each is answered by two arrays of positions by width
MOST = 1000  # steps of a quadrature: its rules are exact long before
MOST_DRAWS = 100_000  # samples: an error of 0.3 % of their spread


def along(
    points: Floats, *, baseline: str, seed: int, draws: Ints | None = None
) -> Asking[tuple[Floats, Values]]:
    """<gradient, input - baseline> at each position (k, t), and the target's values (k,).

    Args:
        points: (k, n) shares, as ``attrial.ask.slope`` takes them.
        baseline: Likewise.
        seed: Likewise.
        draws: (k,) likewise.
    """
    parts: list[Floats] = []
    values: list[Values] = []
    for start in range(0, len(points), PORTION):
        some = slice(start, start + PORTION)
        drawn = None if draws is None else draws[some]
        slopes = yield from slope(points[some], baseline=baseline, seed=seed, draws=drawn)
        parts.append((slopes.gradient * slopes.difference).sum(-1))
        values.append(slopes.values)
    return np.concatenate(parts), np.concatenate(values)


def integrate(
    x: Example, points: tuple[Floats, Floats], baseline: str, seed: int
) -> Asking[tuple[Scores, float, float]]:
    """Scores, their completeness gap, and the change that they should sum to."""
    at, weights = points
    shares = np.concatenate([at, [0.0, 1.0]])  # the ends tell what the scores should sum to
    every = np.repeat(shares[:, None], x.n, axis=1)
    parts, values = yield from along(every, baseline=baseline, seed=seed)
    scores = x.to_players(weights @ parts[: len(at)])
    change = float(values[-1] - values[-2])
    return scores, abs(float(scores.sum()) - change), change


def noisy_moment(n: int, *, count: int, noise: float, power: int, seed: int) -> Asking[Floats]:
    """Mean of gradient ** power over noisy copies of the input: (t, d).

    Args:
        n: Players.
        count: Copies.
        noise: As ``attrial.ask.slope`` takes it.
        power: 1, or 2 for the mean of squares.
        seed: Of the noise; each portion of copies draws from a seed of its own.
    """
    total: Floats = np.zeros(())
    for number, start in enumerate(range(0, count, PORTION)):
        points = np.ones((min(PORTION, count - start), n))
        own = seed if number == 0 else _seed(seed, number)
        slopes = yield from slope(points, baseline="zero", noise=noise, seed=own)
        total = total + (slopes.gradient**power).sum(0)
    return np.asarray(total / count)


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
