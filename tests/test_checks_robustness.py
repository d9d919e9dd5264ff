"""Robustness checks: what noise, seeds and dropped tokens do, with methods that must fail."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from attrial.checks.max_sensitivity import relative, shuffled
from attrial.checks.special_token_dropout import cuts
from attrial.example import FIXED, Example
from attrial.masks import everything
from attrial.target import Target
from attrial.value import Subject
from tests.checked import LEAVE_ONE_OUT, bench, made, result

SHAKY = LEAVE_ONE_OUT + "    return s * (-1.0) ** (crc32(s.tobytes()) % 2)"


def test_what_turns_on_the_last_bits_fails_max_sensitivity(tmp_path: Path) -> None:
    path = made(tmp_path, "shaky", SHAKY, head="from zlib import crc32")
    shaky = result("max_sensitivity(draws=8)", bench(path))
    assert shaky.verdict == "fail", shaky.sentence
    unrelated = result("max_sensitivity(draws=1)", bench("occlusion"))
    assert unrelated.null is not None and unrelated.null > 1
    calm = result("max_sensitivity(draws=2)", bench("occlusion"))
    assert calm.verdict == "pass"
    grown = [calm.detail[f"radius {r}"] for r in ("0.01", "0.03", "0.1")]
    assert 0 < grown[0] < grown[1] < grown[2]
    assert calm.detail["Lipschitz at 0.1"] == pytest.approx(10 * grown[2])


def test_max_sensitivity_is_the_largest_change_of_all_draws() -> None:
    """By hand: each draw's model is asked again, and the largest ratio kept."""
    b = bench("occlusion", count=3)
    found = result("max_sensitivity(radii=(0.2,), draws=3)", b)
    before = b.explain(seed=0)
    largest = np.zeros(3)
    for draw in range(3):
        after = b.explain(b.altered.noisy(radius=0.2, seed=draw), seed=0)
        for i, (s, t) in enumerate(zip(before, after, strict=True)):
            assert not isinstance(s, str) and not isinstance(t, str)
            ratio = sum((s - t) ** 2) ** 0.5 / sum(s**2) ** 0.5
            largest[i] = max(largest[i], ratio)
    assert found.value == pytest.approx(largest.mean())


def test_the_change_is_relative_to_the_scores_and_not_to_the_input() -> None:
    s, t = np.array([3.0, 4.0]), np.array([3.0, 5.0])
    assert relative(s, t) == pytest.approx(0.2) == relative(10 * s, 10 * t)
    assert isinstance(relative(np.zeros(2), t), str)


@pytest.mark.parametrize("scores", [[1.0, 2.0, -3.0, 0.5], [1.0, 1.0, 1.0], [0.0, 5.0, 0.0]])
def test_the_null_of_max_sensitivity_is_the_mean_over_all_orders(scores: list[float]) -> None:
    s = np.array(scores)
    squares = [np.sum((s - s[list(order)]) ** 2) for order in permutations(range(len(s)))]
    assert shuffled(s) == pytest.approx(np.sqrt(np.mean(squares)) / np.linalg.norm(s))
    assert isinstance(shuffled(np.zeros(3)), str)


def test_noise_that_changes_every_prediction_leaves_nothing_and_says_so() -> None:
    b = bench("occlusion", count=3)
    other = replace(b, classes=tuple(1 - c for c in b.classes))
    found = result("max_sensitivity(draws=2)", other)
    assert found.verdict == "undefined"
    assert found.undefined == {"noise changed the prediction": 3}


def test_seeds_that_agree_on_nothing_fail_stability(tmp_path: Path) -> None:
    free = result("seed_stability(seeds=8)", bench("random"))
    assert free.verdict != "pass" and free.value is not None and abs(free.value) < 0.25
    firm = result("seed_stability", bench("lime(samples=200)"))
    assert firm.verdict == "pass" and firm.value is not None and firm.value > free.value
    assert 0 <= firm.detail["top-3 Jaccard"] <= 1
    assert result("seed_stability", bench("occlusion")).verdict == "not applicable"


def test_what_counts_from_the_end_of_the_tokens_fails_dropout(tmp_path: Path) -> None:
    """Its scores turn round when the number of tokens becomes odd: a dropped one is enough."""
    body = "yield from keep(everything(x.n)); return np.arange(x.n) * (-1.0) ** len(x.ids)"
    found = result("special_token_dropout", bench(made(tmp_path, "turning", body)))
    assert found.verdict == "fail" and found.value == -1.0
    assert result("special_token_dropout", bench("occlusion")).verdict == "pass"


def example() -> Example:
    """[CLS] good , film (two pieces) [SEP]."""
    owner = np.array([FIXED, 0, 1, 2, 2, FIXED])
    return Example(
        "e", ("good", ",", "film"), np.arange(6), np.zeros(6, int), owner,
        truth=np.array([True, False, False]), spans=((0, 4), (4, 5), (6, 10)),
    )  # fmt: skip


def test_cuts_are_the_separator_and_the_comma() -> None:
    without_end, without_comma = cuts(0, example())
    assert without_end.example.players == ("good", ",", "film")
    assert without_end.example.ids.tolist() == [0, 1, 2, 3, 4]
    assert without_comma.example.players == ("good", "film")
    assert without_comma.example.owner.tolist() == [FIXED, 0, 1, 1, FIXED]
    assert without_comma.example.ids.tolist() == [0, 1, 3, 4, 5]
    assert without_comma.left.tolist() == [True, False, True]
    truth = without_comma.example.truth
    assert truth is not None and truth.tolist() == [True, False]
    assert without_comma.example.spans == ((0, 4), (6, 10))


def test_a_read_position_moves_with_the_tokens_before_it() -> None:
    (first, *_) = cuts(0, replace(example(), read=5))
    assert first.example.ids.tolist() == [1, 2, 3, 4, 5] and first.example.read == 4


def test_a_dropped_separator_reaches_the_model() -> None:
    b = bench("occlusion", count=1)
    x = b.examples[0]
    (cut,) = cuts(0, x)
    whole, short = (
        b.model.keep([(Subject(e, "mask", Target(0)), everything(e.n))])[0]
        for e in (x, cut.example)
    )
    assert len(cut.example.ids) == len(x.ids) - 1 and not np.array_equal(whole, short)
