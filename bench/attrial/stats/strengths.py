"""Strengths from who wins on which example: Bradley and Terry's model with Davidson's ties."""

from dataclasses import dataclass
from math import inf

import numpy as np

from attrial.errors import Undefined
from attrial.masks import Floats, Values
from attrial.stats import draws
from attrial.stats.pairs import rounded_differences

STEPS = 200
FLAT = 1e-9  # a gradient below this, a game, is 0


@dataclass(frozen=True, eq=False)
class Strengths:
    """Methods on one scale.

    Attributes:
        log: (m,) log strengths, mean 0: i beats j with odds exp(log[i] - log[j]).
        tie: Davidson's nu: methods of equal strength tie with chance nu / (2 + nu).
    """

    log: Values
    tie: float


@dataclass(frozen=True, eq=False)
class _Games:
    """Counts of b boards at once: ``wins`` (b, m, m), i over j, and symmetric ``ties``."""

    wins: Floats
    ties: Floats

    @property
    def tied(self) -> Floats:
        """(b,) how many games were ties."""
        return np.asarray(self.ties.sum(axis=(1, 2)) / 2)

    @property
    def free(self) -> Floats:
        """(b,) 1 where nu is finite and above 0: some games are tied and some are won."""
        won = self.wins.sum(axis=(1, 2)) > 0
        return np.asarray((won & (self.tied > 0)).astype(np.float64))


def bradley_terry(values: Floats, *, higher: bool, prior: float = 0.0) -> Strengths:
    """Strengths of m methods by maximum likelihood (Bradley & Terry 1952, Davidson 1970).

    Each example on which two methods are defined is a game between them. Robust against the scale
    of single examples (Peyrard et al. 2021).

    Args:
        values: (m, n) of one metric, NaN where undefined.
        higher: Whether higher values win.
        prior: Games added to each pair, half of them won by either: makes all strengths finite.

    Raises:
        Undefined: If some methods never lose or draw against the rest: infinitely strong.
    """
    games = _games(values, np.ones((1, values.shape[1])), higher, prior)
    log, tie = _fitted(games)
    return Strengths(log[0], float(tie[0]))


def bradley_terry_intervals(
    values: Floats,
    *,
    higher: bool,
    prior: float = 0.0,
    level: float = 0.95,
    resamples: int = 1_000,
    seed: int,
) -> tuple[Values, Values]:
    """Percentile bootstrap intervals over examples of the log strengths: (m, n) -> (m,), (m,).

    Raises:
        Undefined: If in a resample some methods never lose or draw against the rest; a ``prior``
            (1, say) prevents that.
    """
    n = values.shape[1]
    rows = np.concatenate(draws.examples(n, resamples, seed))
    found = []
    for block in np.array_split(rows, len(draws.blocks(len(values) ** 2, resamples))):
        weights = np.stack([np.bincount(row, minlength=n) for row in block]).astype(np.float64)
        found.append(_fitted(_games(values, weights, higher, prior))[0])
    tail = (1 - level) / 2
    low, high = np.quantile(np.concatenate(found), [tail, 1 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


def _games(values: Floats, weights: Floats, higher: bool, prior: float) -> _Games:
    """Games of boards that count each example ``weights`` (b, n) times."""
    m, n = values.shape
    found = rounded_differences(values[:, None], values[None, :]) * (1 if higher else -1)
    wins = weights @ (found > 0).reshape(m * m, n).T.astype(np.float64)
    ties = weights @ (found == 0).reshape(m * m, n).T.astype(np.float64)
    others = 1 - np.eye(m)
    return _Games(wins.reshape(-1, m, m) + prior / 2 * others, ties.reshape(-1, m, m) * others)


def _fitted(games: _Games) -> tuple[Floats, Values]:
    """Log strengths (b, m) and nu (b,): Newton's steps on a concave likelihood, none above 1."""
    if not _connected(games):
        raise Undefined("some methods never lose or draw against the others: infinitely strong")
    b, m, _ = games.wins.shape
    point = np.zeros((b, m + 1))
    most = 1 + (games.wins.sum(axis=(1, 2)) + games.tied).max()
    for _ in range(STEPS):
        gradient, curvature = _derivatives(games, point)
        if np.abs(gradient).max() <= FLAT * most:
            return point[:, :m], _ties(games, point)
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        point += step / np.maximum(1, np.abs(step).max(axis=1, keepdims=True))
    raise Undefined(f"the strengths did not settle in {STEPS} steps")


def _ties(games: _Games, point: Floats) -> Values:
    """Nu of each board: 0 without ties, infinite where all games are tied."""
    fixed = np.where(games.tied > 0, inf, 0.0)
    return np.asarray(np.where(games.free > 0, np.exp(point[:, -1]), fixed))


def _derivatives(games: _Games, point: Floats) -> tuple[Floats, Floats]:
    """Gradient (b, m + 1) and negated Hessian (b, m + 1, m + 1) in log strengths and log nu.

    A game gives i 1, 1/2 or 0 points; both are expectations and covariances of points and ties.
    """
    played = games.wins + games.wins.swapaxes(1, 2) + games.ties
    points, tie = _expected(games, point)
    spread = played * (points - tie / 4 - points**2)
    cross = (played * tie * (0.5 - points)).sum(axis=2) * games.free[:, None]
    b, m, _ = played.shape
    curvature = np.zeros((b, m + 1, m + 1))
    # Strengths are free up to a common factor: the constant 1/m holds their mean at 0.
    curvature[:, :m, :m] = 1 / m - spread
    curvature[:, range(m), range(m)] += spread.sum(axis=2)
    curvature[:, :m, m] = curvature[:, m, :m] = cross
    curvature[:, m, m] = np.where(games.free > 0, (played * tie * (1 - tie)).sum((1, 2)) / 2, 1)
    gained = (games.wins + games.ties / 2 - played * points).sum(axis=2)
    drawn = games.free * (games.ties - played * tie).sum(axis=(1, 2)) / 2
    return np.concatenate([gained, drawn[:, None]], axis=1), curvature


def _expected(games: _Games, point: Floats) -> tuple[Floats, Floats]:
    """Expected points of i against j and chance of a tie, both (b, m, m)."""
    lead = point[:, :-1, None] - point[:, None, :-1]
    nu = np.where(games.tied > 0, np.exp(point[:, -1]), 0.0)[:, None, None]
    # Odds relative to a tie of nu = 1: exp(lead/2) to win, exp(-lead/2) to lose, nu to tie.
    win, loss = np.exp(lead / 2), np.exp(-lead / 2)
    tie = nu / (win + loss + nu)
    return win / (win + loss + nu) + tie / 2, tie


def _connected(games: _Games) -> bool:
    """Whether on every board each method beats or draws its way to each other one."""
    m = games.wins.shape[1]
    reach = ((games.wins + games.ties) > 0) | np.eye(m, dtype=bool)
    for _ in range(max(1, (m - 1).bit_length())):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    return bool(reach.all())
