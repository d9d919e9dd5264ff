"""Methods that put drawn words in, again: stand-ins picked one by one, the model asked row by row.

Corpus, draws, sets and means are written out with transformers and numpy alone.
"""

import numpy as np
import pytest
import torch

from attrial.masks import Scores
from tests import tiny
from tests.test_replicates import EXACT, TEXT, attempt, attribute, example, model, value, words


def pool() -> list[int]:
    """The tokens that stand-ins are drawn from, each as often as it occurs."""
    texts = [tiny.tokenizer()(text)["input_ids"] for text in (TEXT, tiny.TEXT)]
    return sorted(token for ids in texts for token in ids[1:-1])


def answer_without(gone: set[int], *, seed: int, row: int) -> float:
    """The value of the example with drawn tokens in the places of some players."""
    tokens, ids = pool(), []
    drawn = np.random.default_rng([seed, row]).random(len(example().ids))
    for place, (own, player) in enumerate(zip(example().ids, example().owner, strict=True)):
        ids.append(tokens[int(drawn[place] * len(tokens))] if player in gone else int(own))
    with torch.no_grad():
        return float(value(words()[torch.tensor(ids)]))


def reagent(samples: int, size: int, seed: int) -> Scores:
    """Drops go to those that were replaced, and are taken from the others."""
    n, rng = example().n, np.random.default_rng(seed)
    lots, whole = rng.random((samples - 1, n)), answer_without(set(), seed=0, row=0)
    total = np.zeros(n)
    for row, lot in enumerate(lots):
        order = sorted(range(n), key=lambda player: float(lot[player]))
        gone = {place for place, player in enumerate(order) if player < size}
        drop = whole - answer_without(gone, seed=seed, row=row)
        for player in range(n):
            total[player] += drop / (samples - 1) if player in gone else -drop / (samples - 1)
    return total


@pytest.mark.parametrize(("ratio", "size"), [(0.1, 1), (0.3, 2), (0.5, 3), (1.0, 5)])
def test_reagent(ratio: float, size: int) -> None:
    got = attribute(f"reagent(samples=25, ratio={ratio})", seed=4)
    np.testing.assert_allclose(got, reagent(25, size, 4), atol=EXACT)
    assert np.abs(got - attribute(f"reagent(samples=25, ratio={ratio})", seed=5)).max() > 1e-3
    assert np.abs(got).max() > 0.01


def test_input_marginalisation() -> None:
    n, draws, seed = example().n, 5, 7
    whole = answer_without(set(), seed=0, row=0)
    expected = []
    for player in range(n):
        rows = range(player * draws, (player + 1) * draws)
        left = [answer_without({player}, seed=seed, row=row) for row in rows]
        expected.append(whole - sum(left) / draws)
    got = attempt(f"input_marginalisation(samples={n * draws + 1})", seed=seed)
    assert got.result is not None and got.cost.rows == n * draws + 1
    np.testing.assert_allclose(got.result, expected, atol=EXACT)
    assert np.abs(expected).max() > tiny.TEETH / 10


def test_the_whole_text_is_the_models_own_answer() -> None:
    """Nothing replaced is nothing changed: embeddings by hand are those of the ids."""
    ids = torch.tensor(example().ids)[None]
    with torch.no_grad():
        own = float(tiny.log_odds(model()(input_ids=ids).logits[0]))
    assert answer_without(set(), seed=1, row=1) == pytest.approx(own, abs=1e-12)
