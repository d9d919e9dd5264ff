"""How often a leaderboard's claims are false, and how often it sees what is there.

    python benchmarks/calibration.py [--out docs/calibration.md] [--boards 500]

Simulates boards whose truth is known, judges them by the functions that judge real boards, and
exits with 1 where a claim of the page does not hold.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attrial import stats
from attrial.masks import Bools, Floats

METHODS, EXAMPLES = (5, 8, 12), (30, 60, 100)
TIED = 0.3  # share of examples on which all methods find the same
GRID = 0.05  # values are rounded to this, which ties more
NOISE = 0.3  # standard deviation of what a method adds to an example
SHAPE = 1.5  # of gamma distributions; their skewness is 2 / sqrt(SHAPE) = 1.6
PLANTED = {
    30: 1.1,
    60: 0.75,
    100: 0.55,
}  # examples -> lead of the best, in sd of paired differences
FLIPS = 8  # seeds of tests in turn: drawn flips are kept, which is most of the time
STEP = 5.0  # such sd between methods that are clearly apart
FALSE, POWER = 0.06, 0.8  # what the page claims: at most, at least
SIZES, COVERAGE_BOARDS = (10, 20, *EXAMPLES), 2_000  # of the second table
PAGE = Path(__file__).with_suffix(".md")

Judge = Callable[[Floats, int], Bools]  # values (k, n), seed -> who is told to be better (k, k)
Interval = Callable[[Floats, int], tuple[float, float]]
INTERVALS: dict[str, Interval] = {
    "percentile": lambda values, seed: stats.bootstrap_mean(values, seed=seed),
    "BCa": lambda values, seed: stats.bca_mean(values, seed=seed),
}


@dataclass(frozen=True)
class World:
    """Where boards come from: what is true of their methods.

    Attributes:
        name: What the table calls it.
        leads: (k,) how far each method is ahead of the last, in sd of paired differences.
        mirrored: Whether every other method's noise is skewed the other way.
    """

    name: str
    leads: tuple[float, ...]
    mirrored: bool = False

    @property
    def best(self) -> int | None:
        """The one method that is truly best, if there is one."""
        top = [i for i, lead in enumerate(self.leads) if lead == max(self.leads)]
        return top[0] if len(top) == 1 else None


@dataclass(frozen=True)
class Found:
    """Shares of simulated boards of one world with n examples.

    Attributes:
        world: Where the boards come from.
        n: Examples of a board.
        false_best: A method is alone at rank 1 and is not the best.
        false_pair: A pair is told apart in a direction that is not true.
        true_best: The truly best method is alone at rank 1; 0 where there is none.
    """

    world: World
    n: int
    false_best: float
    false_pair: float
    true_best: float

    @property
    def power(self) -> str:
        """``true_best`` in words; nothing where no method is best."""
        return "" if self.world.best is None else f"{self.true_best:.1%}"


def alike(k: int) -> World:
    """All methods are equally good."""
    return World("all alike", (0.0,) * k)


def unlike_shapes(k: int) -> World:
    """All methods have one mean, and every other one is skewed the other way."""
    return World("one mean, two shapes", (0.0,) * k, mirrored=True)


def two_ahead(k: int) -> World:
    """Two equally good methods, the rest clearly behind them and apart from each other.

    The hardest case for a claim of "best": Holm's correction has one pair left to correct for.
    """
    return World("two alike ahead", (STEP * (k - 2),) * 2 + tuple(STEP * i for i in range(k - 2)))


def planted(k: int, size: float) -> World:
    """One method is ahead of others that are equally good."""
    return World(f"one ahead by {size} sd", (size,) + (0.0,) * (k - 1))


def board(world: World, n: int, rng: np.random.Generator) -> Floats:
    """Values (k, n): a skewed difficulty that all share, skewed noise of each method, and ties.

    On ``TIED`` of the examples all methods find the same; only elsewhere can one be ahead.
    """
    k = len(world.leads)
    shared = _skewed(rng, (1, n))
    own = _skewed(rng, (k, n)) * np.where(world.mirrored & (np.arange(k) % 2 > 0), -1, 1)[:, None]
    lead = np.array([_shift(size) for size in world.leads])[:, None]
    differ = rng.random(n) >= TIED
    values = 1 + shared + differ * (NOISE * own + lead)
    return np.asarray(np.round(values / GRID) * GRID)


def _skewed(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Mean 0, variance 1, skewness 1.6."""
    return np.asarray((rng.gamma(SHAPE, size=size) - SHAPE) / SHAPE**0.5)


def _shift(size: float) -> float:
    """The lead on examples that differ whose paired differences have mean/sd = ``size``.

    Differences are 0 with chance t, else s + e with var(e) = v: their mean is (1-t) s, their
    variance (1-t)(s^2 + v) - (1-t)^2 s^2. Leads of a staircase need not be exact: they are large.
    """
    room = 1 - TIED - size**2 * TIED
    if room <= 0:
        return size * NOISE * 2**0.5
    return float(size * NOISE * 2**0.5 / room**0.5)


def judged(values: Floats, seed: int) -> Bools:
    """Who is told to be better, as on a leaderboard at the 5 % level."""
    return stats.compare(values, higher=True, seed=seed).better


def measure(world: World, n: int, *, boards: int, seed: int, judge: Judge = judged) -> Found:
    """Simulate and judge so many boards of n examples."""
    rng = np.random.default_rng([seed, n, len(world.leads)])
    leads = np.array(world.leads)
    true = leads[:, None] > leads[None, :]
    counts = np.zeros(3)
    for number in range(boards):
        better = judge(board(world, n, rng), seed + number % FLIPS)
        alone = [i for i, ranks in enumerate(stats.rank_intervals(better)) if ranks == (1, 1)]
        false_best = bool(alone) and alone != [world.best]
        counts += [false_best, bool((better & ~true).any()), alone == [world.best]]
    return Found(world, n, *(counts / boards).tolist())


def coverage(
    world: World, n: int, interval: Interval, *, boards: int, seed: int, paired: bool
) -> float:
    """Share of boards whose interval holds the true mean of the first method (or of its lead)."""
    rng = np.random.default_rng([seed, n])
    truth = 0.0 if paired else 1.0  # the noise has mean 0; rounding moves a mean by less than 0.001
    hits = 0
    for number in range(boards):
        values = board(world, n, rng)
        low, high = interval(values[0] - values[1] if paired else values[0], seed + number)
        hits += low <= truth <= high
    return hits / boards


KINDS = {
    "mean": (alike(2), False),
    "difference": (alike(2), True),
    "skewed difference": (unlike_shapes(2), True),
}


def complaints(found: Sequence[Found]) -> list[str]:
    """What of the page's claims does not hold: false claims by kind of board, power by line."""
    kinds: dict[str, list[float]] = {}
    for line in found:
        kinds.setdefault(line.world.name, []).append(line.false_pair)
    wrong = [
        f"{name}: false claims {np.mean(r):.1%}" for name, r in kinds.items() if np.mean(r) > FALSE
    ]
    missed = [
        f"{t.world.name}: true best {t.power} of {len(t.world.leads)} methods, {t.n} examples"
        for t in found
        if t.world.best is not None and t.true_best < POWER
    ]
    return wrong + missed


def lines(boards: int) -> list[Found]:
    """Every world in every size, world after world."""
    sizes = [(k, n) for n in EXAMPLES for k in METHODS]
    nulls = [(kind(k), n) for kind in (alike, unlike_shapes, two_ahead) for k, n in sizes]
    cases = nulls + [(planted(k, PLANTED[n]), n) for k, n in sizes]
    return [measure(world, n, boards=boards, seed=0) for world, n in cases]


def claims_table(found: Sequence[Found]) -> str:
    """One line a world, number of methods and number of examples."""
    head = "| truth | methods | examples | false best | any false pair | true best |"
    rows = [
        f"| {t.world.name} | {len(t.world.leads)} | {t.n} "
        f"| {t.false_best:.1%} | {t.false_pair:.1%} | {t.power} |"
        for t in found
    ]
    return "\n".join([head, "| --- | --: | --: | --: | --: | --: |", *rows])


def coverage_table(boards: int) -> str:
    """One line a number of examples: both intervals of a mean and of paired differences."""
    rows = [
        [
            coverage(world, n, interval, boards=boards, seed=0, paired=paired)
            for world, paired in KINDS.values()
            for interval in INTERVALS.values()
        ]
        for n in SIZES
    ]
    head = " | ".join(f"{name}, {form}" for name in KINDS for form in INTERVALS)
    body = [
        f"| {n} | " + " | ".join(f"{c:.1%}" for c in r) + " |"
        for n, r in zip(SIZES, rows, strict=True)
    ]
    return "\n".join([f"| examples | {head} |", "| --: " * 7 + "|", *body])


def page(found: Sequence[Found], covered: str, boards: int) -> str:
    """The Markdown page."""
    return PAGE.read_text().format(
        boards=boards,
        error=100 * (0.05 * 0.95 / boards) ** 0.5,
        claims=claims_table(found),
        coverage=covered,
        many=COVERAGE_BOARDS,
    )


def main() -> None:
    """Measure, print or write the page, and exit with what does not hold."""
    parser = argparse.ArgumentParser(description="Simulate boards whose truth is known.")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--boards", type=int, default=500)
    options = parser.parse_args()
    found = lines(options.boards)
    text = page(found, coverage_table(COVERAGE_BOARDS), options.boards)
    (options.out.write_text if options.out else print)(text)
    sys.exit("\n".join(complaints(found)) or None)


if __name__ == "__main__":
    main()
