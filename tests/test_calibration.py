"""The calibration of claims on few boards: it holds for the leaderboard's test, and only for it."""

import numpy as np
import pytest

from attrial.masks import Bools, Floats
from benchmarks import calibration as c

BOARDS, SIZE, N = 200, 0.9, 40


def never(values: Floats, seed: int) -> Bools:
    return np.zeros((len(values), len(values)), bool)


def always(values: Floats, seed: int) -> Bools:
    """Who has the higher mean is better."""
    means = np.asarray(values.mean(axis=1))
    better: Bools = np.greater.outer(means, means)
    return better


def uncorrected(values: Floats, seed: int) -> Bools:
    """A paired z test of each pair at the 5 % level, as if it were the only one."""
    gaps = values[:, None] - values[None, :]
    spread = gaps.std(axis=2, ddof=1) / values.shape[1] ** 0.5
    return np.asarray(gaps.mean(axis=2) > 1.96 * np.where(spread > 0, spread, np.inf))


def found(judge: c.Judge) -> list[c.Found]:
    worlds = [c.alike(5), c.two_ahead(5), c.planted(5, SIZE)]
    return [c.measure(world, N, boards=BOARDS, seed=1, judge=judge) for world in worlds]


def test_the_leaderboards_claims_hold() -> None:
    assert c.complaints(found(c.judged)) == []


def test_a_test_that_never_claims_has_no_power() -> None:
    (complaint,) = c.complaints(found(never))
    assert complaint.endswith("true best 0.0% of 5 methods, 40 examples")


def test_a_test_that_always_claims_is_caught() -> None:
    """One of equally good methods has the highest mean on nearly every board."""
    nulls = found(always)[:2]
    assert min(line.false_best for line in nulls) > 0.9
    assert [text.split(":")[0] for text in c.complaints(nulls)] == ["all alike", "two alike ahead"]


def test_tests_without_correction_are_caught() -> None:
    nulls = found(uncorrected)[:2]
    assert any(text.startswith("all alike") for text in c.complaints(nulls))


@pytest.mark.parametrize("size", [0.5, 0.75, 1.1])
def test_a_planted_lead_has_the_stated_size(size: float) -> None:
    values = c.board(c.planted(3, size), 200_000, np.random.default_rng(0))
    for other in (1, 2):
        gaps = np.asarray(values[0] - values[other])
        assert gaps.mean() / gaps.std() == pytest.approx(size, rel=0.02)


def test_boards_are_correlated_skewed_and_tied() -> None:
    values = c.board(c.alike(3), 100_000, np.random.default_rng(1))
    assert np.corrcoef(values[0], values[1]).min() > 0.8
    assert ((values[0] - 1) ** 3).mean() / values[0].std() ** 3 > 1
    assert np.isclose(values[0], values[1]).mean() > c.TIED
    np.testing.assert_allclose(values.mean(axis=1), 1, atol=0.01)


def test_methods_of_two_shapes_have_one_mean() -> None:
    values = c.board(c.unlike_shapes(2), 400_000, np.random.default_rng(2))
    gaps = values[0] - values[1]
    assert gaps.mean() == pytest.approx(0, abs=0.003)
    assert (gaps**3).mean() / gaps.std() ** 3 > 0.8


def test_intervals_cover_the_true_mean() -> None:
    """Of 200 intervals from 60 skewed values nine in ten hold the mean, and not all of them."""
    for interval in c.INTERVALS.values():
        share = c.coverage(c.alike(2), 60, interval, boards=200, seed=0, paired=False)
        assert 0.88 < share < 0.99


def test_the_page_shows_every_line() -> None:
    lines = [
        c.Found(c.planted(5, 0.9), 40, 0.0, 0.05, 0.85),
        c.Found(c.alike(5), 40, 0.0, 0.1, 0.0),
    ]
    text = c.page(lines, "COVERED", 60)
    assert "| one ahead by 0.9 sd | 5 | 40 | 0.0% | 5.0% | 85.0% |" in text
    assert "| all alike | 5 | 40 | 0.0% | 10.0% |  |" in text
    assert "COVERED" in text
