"""Sanity checks: made-up methods that must fail each, beside ones that must pass."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from attrial.check_bench import Explained, Outcome
from attrial.check_judge import judge
from attrial.check_record import CheckResult
from attrial.checks._alike import each, similarity
from attrial.models.altered import Altered
from attrial.models.padded import PaddedForward
from attrial.models.text import TextClassifier
from tests.checked import LEAVE_ONE_OUT, bench, classifier, made, result

Run = list[Explained]
BLIND = "yield from keep(everything(x.n)); return np.arange(x.n, dtype=float)"
SPECIFIC = "CLASS_SPECIFIC = True"


def of(check: str, method: str | Path, count: int = 5) -> CheckResult:
    return result(check, bench(str(method), count=count))


def test_what_ignores_the_model_fails_parameter_randomisation(tmp_path: Path) -> None:
    blind = made(tmp_path, "blind", BLIND)
    for how in ("shuffle", "init"):
        found = of(f"parameter_randomisation(draws=3, how='{how}')", blind)
        assert found.verdict == "fail" and found.value == found.null == 1.0
    one = of("parameter_randomisation(order='independent')", blind)
    assert one.verdict == "fail" and "no parameter" in one.sentence


def test_noise_of_a_fixed_seed_fails_parameter_randomisation() -> None:
    assert of("parameter_randomisation(draws=3)", "random").verdict == "fail"


def test_what_mixes_a_position_into_its_scores_fails(tmp_path: Path) -> None:
    body = LEAVE_ONE_OUT + "    return s + 1e6 * np.arange(x.n)"
    assert of("parameter_randomisation(draws=3)", made(tmp_path, "mixed", body)).verdict == "fail"


@pytest.mark.parametrize("method", ["occlusion", "input_x_gradient", "attention_rollout"])
def test_what_reads_the_model_passes_parameter_randomisation(method: str) -> None:
    found = of("parameter_randomisation(draws=6)", method)
    assert found.verdict == "pass", found.sentence
    assert found.value is not None and found.value < 0.6 and found.n == 5


def test_a_random_model_in_the_trained_ones_place_is_no_failure() -> None:
    """Each of 13 random models is put in the trained one's place: all are drawn alike."""
    b = bench("occlusion", count=4)
    strata = b.altered.strata
    runs = [b.explain(b.altered.randomised(strata, seed=50 + k), seed=0) for k in range(13)]
    verdicts = []
    for i in range(len(runs)):
        others = runs[:i] + runs[i + 1 :]
        null = [[_mean_likeness(runs, run, x, i) for x in range(4)] for run in others]
        cells = [each(similarity, runs[i], run) for run in others]
        verdicts.append(judge(Outcome(cells, null), rule="no more", null=None, seed=i).told.verdict)
    assert verdicts.count("fail") <= 2


def _mean_likeness(runs: list[Run], run: Run, x: int, left_out: int) -> float:
    """Mean similarity of a run to all runs but itself and one, on one example; pair by pair."""
    rest = [r for k, r in enumerate(runs) if k != left_out and r is not run]
    found = each(similarity, [run[x]] * len(rest), [r[x] for r in rest])
    return float(np.mean([c for c in found if not isinstance(c, str)]))


def test_rollout_is_blind_to_the_head_and_it_is_said() -> None:
    found = of("parameter_randomisation(order='independent')", "attention_rollout")
    assert found.verdict == "flagged" and "classifier" in found.sentence
    seen = of("parameter_randomisation(order='independent')", "occlusion")
    assert seen.verdict == "pass"


def test_what_is_alike_by_construction_is_flagged(tmp_path: Path) -> None:
    """Random models agree as much as the trained one: nothing is held against the method."""
    body = LEAVE_ONE_OUT + "    return 3 * np.arange(x.n) * np.ptp(s) / x.n + s"
    found = of("parameter_randomisation(draws=4)", made(tmp_path, "tilted", body))
    assert found.null is not None and found.null > 0.5
    assert found.verdict in ("flagged", "fail")


def test_the_class_blind_are_flagged_and_false_declarations_fail(tmp_path: Path) -> None:
    rollout = of("class_sensitivity", "attention_rollout")
    assert rollout.verdict == "flagged" and "class-blind" in rollout.sentence
    assert rollout.value == 1.0
    blind = made(tmp_path, "blind", BLIND, head=SPECIFIC)
    assert of("class_sensitivity", blind).verdict == "fail"
    open_eyed = made(
        tmp_path, "eyes", LEAVE_ONE_OUT + "    return s", head="CLASS_SPECIFIC = False"
    )
    assert of("class_sensitivity", open_eyed).verdict == "fail"
    assert of("class_sensitivity", "occlusion").verdict == "pass"


def test_the_same_order_for_every_class_is_flagged_and_no_scores_are_no_verdict(
    tmp_path: Path,
) -> None:
    """Squares of v(all) are another size for another class, and rank players alike."""
    body = "v = yield from keep(everything(x.n)); return v[0] ** 2 * np.arange(1.0, x.n + 1)"
    found = of("class_sensitivity", made(tmp_path, "sizes", body, head=SPECIFIC))
    assert found.verdict == "flagged" and "same order" in found.sentence
    head = "from attrial.ask import Undefined\n" + SPECIFIC
    never = "yield from keep(everything(x.n)); raise Undefined('never')"
    assert of("class_sensitivity", made(tmp_path, "never", never, head=head)).verdict == "undefined"


def test_what_multiplies_by_the_input_is_not_invariant_to_a_shift() -> None:
    """Kindermans et al.: a zero reference moves with the representation, a token's doesn't."""
    assert of("input_shift_invariance", "integrated_gradients(baseline='zero')").verdict == "fail"
    for method in ("integrated_gradients", "gradient_norm", "occlusion", "attention"):
        assert of("input_shift_invariance", method).verdict == "pass", method


def test_a_global_generator_and_undeclared_seeds_fail_determinism(tmp_path: Path) -> None:
    drawn = "yield from keep(everything(x.n)); return np.random.rand(x.n)"
    assert of("determinism", made(tmp_path, "drawn", drawn)).verdict == "fail"
    seeded = "yield from keep(everything(x.n)); return np.random.default_rng(seed).random(x.n)"
    assert of("determinism", made(tmp_path, "seeded", seeded)).verdict == "fail"
    told = made(tmp_path, "told", seeded, head="STOCHASTIC = True")
    assert of("determinism", told).verdict == "pass"
    assert of("determinism", "occlusion").verdict == "pass"


def test_a_running_maximum_fails_batch_invariance(tmp_path: Path) -> None:
    head = "SEEN = [1e-9]"
    body = LEAVE_ONE_OUT + "    SEEN.append(np.abs(s).max())\n    return s / max(SEEN)"
    assert of("batch_invariance", made(tmp_path, "running", body, head=head)).verdict == "fail"
    for method in ("occlusion", "integrated_gradients", "attention"):
        assert of("batch_invariance", method).verdict == "pass"


LAST_BITS = LEAVE_ONE_OUT + "    return (np.abs(s) * 1e7) % 1.0"


METHODS = ("occlusion", "input_x_gradient", "attention_rollout", "lrp_conservative")


def test_what_reads_the_last_bits_fails_implementation_invariance(tmp_path: Path) -> None:
    bits = made(tmp_path, "bits", LAST_BITS)
    assert of("implementation_invariance", bits).verdict == "fail"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("check", ["implementation_invariance", "padding_invariance(extra=24)"])
def test_what_reads_the_function_passes_invariances(check: str, method: str) -> None:
    found = of(check, method, 3)
    assert found.verdict == "pass", found.sentence


class SeenForward(PaddedForward):
    """Padding that is attended to: what a forgotten mask does."""

    def _longer(self, name: str, tensor: Tensor) -> Tensor:
        found = super()._longer(name, tensor)
        return torch.ones_like(found) if name == "attention_mask" else found


class Seen(Altered):
    """A model whose padding is seen."""

    def padded(self, extra: int) -> TextClassifier:
        """Padded without a mask."""
        hidden = super().padded(extra)
        own = {f.name: getattr(hidden.forward, f.name) for f in fields(hidden.forward)}
        return replace(hidden, forward=SeenForward(**own))


@pytest.mark.parametrize("method", METHODS)
def test_padding_that_is_seen_fails_padding_invariance(method: str) -> None:
    b = bench(method, count=3)
    seen = replace(b, altered=Seen(classifier(), b.examples))
    assert result("padding_invariance", seen).verdict == "fail"


def test_rollout_gives_a_dummy_as_much_as_the_rest_and_shapley_nothing() -> None:
    rollout = of("dummy_player", "attention_rollout")
    assert rollout.verdict == "fail" and rollout.n == 2  # no weights to see in the cubic game
    for method in ("shapley", "occlusion", "integrated_gradients", "gradient_norm", "chefer"):
        found = of("dummy_player", method)
        assert found.verdict == "pass", f"{method}: {found.sentence}"
    assert of("dummy_player", "position").verdict == "fail"


def test_scores_that_sum_to_something_else_have_a_gap(tmp_path: Path) -> None:
    short = LEAVE_ONE_OUT + "    return 0.5 * s * (v[0] - 0) / s.sum() if s.sum() else s"
    found = of("completeness_gap", made(tmp_path, "short", short, head="ADDITIVE = True"))
    assert found.verdict == "fail"
    shapley = of("completeness_gap", "shapley")
    assert shapley.verdict == "pass" and shapley.value is not None and shapley.value < 1e-9
    assert of("completeness_gap", "occlusion").verdict == "not applicable"


def test_a_gap_is_measured_as_by_hand(tmp_path: Path) -> None:
    zero = "yield from keep(everything(x.n)); return np.zeros(x.n)"
    found = of("completeness_gap", made(tmp_path, "zero", zero, head="ADDITIVE = True"))
    assert found.value == found.low == found.high == 1.0 and found.verdict == "fail"


def test_a_turned_sign_violates_and_the_right_one_does_not(tmp_path: Path) -> None:
    turned = made(tmp_path, "turned", LEAVE_ONE_OUT + "    return -s")
    found = of("faithfulness_violation", turned)
    assert found.value == 1.0 and found.verdict == "fail"
    right = of("faithfulness_violation(top=3)", "occlusion")
    assert right.value == 0.0 and right.verdict == "pass"
    assert of("faithfulness_violation", "attention").verdict == "not applicable"


def test_signs_by_coin_give_a_half(tmp_path: Path) -> None:
    coin = "\n    return np.abs(s) * np.random.default_rng(seed).choice([-1.0, 1.0], x.n)"
    method = made(tmp_path, "coin", LEAVE_ONE_OUT + coin, head="STOCHASTIC = True")
    found = of("faithfulness_violation(top=99)", method, count=20)
    assert found.value is not None and abs(found.value - 0.5) < 0.1
    assert found.verdict == "flagged"


def test_a_method_without_scores_is_counted(tmp_path: Path) -> None:
    head = "from attrial.ask import Undefined"
    body = LEAVE_ONE_OUT + "    if x.n > 12:\n        raise Undefined('too long')\n    return s"
    found = of("faithfulness_violation", made(tmp_path, "picky", body, head=head))
    assert found.n + sum(found.undefined.values()) == 5 and "too long" in found.undefined
    flat = made(tmp_path, "flat", "yield from keep(everything(x.n)); return np.ones(x.n)")
    none = of("parameter_randomisation(draws=2)", flat)
    assert none.verdict == "undefined" and none.value is None and none.n == 0
    assert none.undefined == {"constant scores have no ranking": 10}
    assert np.isclose(sum(none.undefined.values()), 2 * 5)
