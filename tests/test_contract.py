"""Every method keeps the contract, and the contract catches those that don't."""

from pathlib import Path

import pytest

from attrial import registry, testing

BROKEN = {
    "one_finite_score_a_player": "return np.zeros(x.n - 1)",
    "same_seed_same_scores": "return np.random.default_rng().random(x.n)",
    "seeds_matter_only_where_declared": "return np.full(x.n, float(seed))",
    "leaves_the_global_generator_alone": "return np.random.random(x.n) * 0",
    "does_not_look_at_the_answer": "return np.zeros(x.n) if x.truth is None else x.truth * 1.0",
    "one_player_is_no_special_case": "return np.ones(x.n) / (0 if x.n == 1 else 1)",
    "additive_methods_find_the_weights": "return np.ones(x.n)",
    "declared_signs_hold": "return -np.ones(x.n)",
}
SOURCE = '''"""A method that breaks the contract."""
import numpy as np
from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Scores, everything
SIGN, ADDITIVE, STOCHASTIC, ASKS, VERSION = "nonnegative", True, False, ("keep",), 1
def broken(x: Example, *, seed: int) -> Asking[Scores]:
    """Break it."""
    yield from keep(everything(x.n))
    with np.errstate(divide="ignore"):
        {body}
'''


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", registry.plugins("methods"))
def test_every_method_keeps_it(name: str, check: "testing.Check") -> None:
    check(name)


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__)
def test_every_check_can_fail(tmp_path: Path, check: "testing.Check") -> None:
    path = tmp_path / "broken.py"
    path.write_text(SOURCE.format(body=BROKEN[check.__name__]))
    with pytest.raises(Exception):  # noqa: B017  # an assertion, or the engine's refusal
        check(str(path))
