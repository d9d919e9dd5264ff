"""Weights, gradients and shares that are none are refused, with the first place."""

from collections.abc import Callable

import numpy as np
import pytest

from attrial import algebra
from attrial.errors import AttrialError
from attrial.masks import Floats


def broken(value: float) -> Floats:
    weights = np.full((2, 3, 4, 4), 0.25)
    weights[1, 2, 0, 3] = value
    return weights


WHOLE = np.full((2, 3, 4, 4), 0.25)
USERS: dict[str, Callable[[Floats], object]] = {
    "rollout": algebra.rollout,
    "rollout of the highest head": lambda a: algebra.rollout(a, fusion="max"),
    "flow": lambda a: algebra.flow(a, rows=[0]),
    "encoder": lambda a: algebra.rollout_encoder_decoder(a, WHOLE, WHOLE),
    "decoder": lambda a: algebra.rollout_encoder_decoder(WHOLE, a, WHOLE),
    "cross": lambda a: algebra.rollout_encoder_decoder(WHOLE, WHOLE, a),
}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.25])
@pytest.mark.parametrize("user", USERS)
def test_weights_that_are_none_are_told_with_their_place(user: str, value: float) -> None:
    USERS[user](WHOLE)
    with pytest.raises(
        AttrialError, match=rf"is {value} at \[1, 2, 0, 3\]; it must be finite and 0"
    ):
        USERS[user](broken(value))


@pytest.mark.parametrize("residual", [float("nan"), -0.1, 1.1, [0.5, float("nan")]])
def test_residuals_that_are_no_shares_are_refused(residual: float | list[float]) -> None:
    for call in (algebra.rollout, algebra.flow):
        with pytest.raises(AttrialError, match="a share from 0 to 1"):
            call(WHOLE, residual)
    with pytest.raises(AttrialError, match="discard ratio nan"):
        algebra.rollout(WHOLE, discard_ratio=float("nan"))


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_gradients_may_be_negative_and_never_broken(value: float) -> None:
    assert (algebra.chefer(WHOLE, broken(-3.0)) >= 0).all()
    for weights, gradient in [(broken(value), WHOLE), (WHOLE, broken(value))]:
        with pytest.raises(AttrialError, match=r"at \[1, 2, 0, 3\]; it must be finite"):
            algebra.chefer(weights, gradient)
