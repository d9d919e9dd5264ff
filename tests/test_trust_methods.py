"""How alike methods attribute, against brute force over hand-made attributions."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau

from attrial.masks import Floats
from attrial.trust import Matrix, grounds, trust
from attrial.trust import methods as agreement
from tests.hand_made import By, entry

SCORES = hnp.arrays(np.float64, (3, 8), elements=st.integers(-2, 2).map(float))


def of_methods(scores: Sequence[Floats]) -> dict[str, Matrix]:
    """Agreement of methods with these attributions (examples, n)."""
    entries = [
        entry(By(f"m{i}", {"aopc": [float(i)] * len(rows)}, scores=rows.tolist()), sizes=[8] * 3)
        for i, rows in enumerate(scores)
    ]
    part = trust(entries).parts[0]
    assert part.ground.methods == tuple(f"m{i}" for i in reversed(range(len(scores))))
    return {"taus": part.taus, "overlaps": part.overlaps, "signed": part.signed_ranks}


@settings(max_examples=25, deadline=None)
@given(SCORES, SCORES)
def test_agreement_of_methods_by_brute_force(a: Floats, b: Floats) -> None:
    found = of_methods([a, b])
    pairs = list(zip(a, b, strict=True))
    taus = [kendalltau(x, y).statistic for x, y in pairs if np.ptp(x) and np.ptp(y)]
    assert found["taus"].defined[0, 1] == len(taus)
    if taus:
        assert found["taus"].values[0, 1] == pytest.approx(np.mean(taus), abs=1e-12)
    overlaps = [
        sum(p * q for p, q in zip(chances(x), chances(y), strict=True)) / 2 for x, y in pairs
    ]
    assert found["overlaps"].values[0, 1] == pytest.approx(np.mean(overlaps), abs=1e-12)
    signed = [s for s in (signed_rank(x, y) for x, y in pairs) if s is not None]
    assert found["signed"].defined[0, 1] == len(signed)
    if signed:
        assert found["signed"].values[0, 1] == pytest.approx(np.mean(signed), abs=1e-12)
    for matrix in found.values():
        np.testing.assert_array_equal(matrix.values, matrix.values.T)
        known = matrix.values[~np.isnan(matrix.values)]
        assert (np.abs(known) <= 1 + 1e-12).all()


def chances(scores: Floats) -> list[float]:
    """Chance of each of 8 players to be among the 2 highest, over all pairs that may be."""
    pairs = [set(c) for c in combinations(range(8), 2)]
    top = max(sum(sorted(scores[list(c)])) for c in pairs)
    best = [c for c in pairs if np.isclose(sum(scores[list(c)]), top)]
    return [sum(k in c for c in best) / len(best) for k in range(8)]


def signed_rank(a: Floats, b: Floats) -> float | None:
    """Share of the 2 strongest with the same place and sign in both; None where a tie decides."""
    tops = []
    for scores in (a, b):
        sizes = sorted(np.abs(scores), reverse=True)
        if sizes[1] == sizes[2]:
            return None
        tied = sizes[0] == sizes[1]
        tops.append(
            {
                k: (1.5 if tied else 1 + sum(np.abs(scores) > abs(v)), v < 0)
                for k, v in enumerate(scores)
                if abs(v) >= sizes[1]
            }
        )
    return sum(k in tops[1] and tops[1][k] == place for k, place in tops[0].items()) / 2


def test_a_method_without_scores_is_undefined_not_zero() -> None:
    entries = [
        entry(By("a", {"aopc": [0.0] * 3}, scores=[[1.0, 2.0, 3.0]] * 3)),
        entry(By("b", {"aopc": [1.0] * 3})),
    ]
    matrix = agreement.taus(grounds(entries)[0])
    i = matrix.names.index("b")
    assert np.isnan(matrix.values[i]).all() and (matrix.defined[i] == 0).all()
    assert matrix.defined[1 - i, 1 - i] == 3
