"""Relevance of real classifiers' words: asked through the engine, in any family."""

import numpy as np
import pytest
import torch

from attrial.ask import Relevance
from attrial.plugin_call import method
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import tiny

TARGET = Target(0, "logit")


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_words_get_what_conservation_leaves_them(family: str) -> None:
    c = tiny.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    subject = Subject(x, "mask", TARGET)
    asker = method("lrp_conservative")(x, 0)
    (got,) = answer(Value(c), [(subject, asker)])
    assert got.result is not None and got.cost.slopes == 1
    # These models have no biases, so all that is shared out arrives.
    np.testing.assert_allclose(got.notes["conserved"], 1.0, atol=1e-4)
    (found,) = c.relevance([(subject, Relevance("conservative"))])
    np.testing.assert_array_equal(got.result, x.to_players(found.tokens))
    (other,) = c.relevance([(subject, Relevance("attention"))])
    assert np.abs(found.tokens - other.tokens).max() > 1e-3


def test_a_logit_s_relevance_changes_with_the_class() -> None:
    c = tiny.classifier("bert")
    x = c.encode("x", [tiny.TEXT])
    asks = [(Subject(x, "mask", Target(i, "logit")), Relevance("conservative")) for i in (0, 1)]
    first, second = c.relevance(asks)
    assert np.abs(first.tokens - second.tokens).max() > 1e-3


def test_log_odds_share_out_the_logits_by_their_slopes() -> None:
    c = tiny.classifier("bert")
    x = c.encode("x", [tiny.TEXT])

    def tokens(target: Target) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return c.relevance([(Subject(x, "mask", target), Relevance("conservative"))])[0].tokens

    with torch.no_grad():
        logits = c.forward.model(input_ids=torch.tensor(x.ids[None])).logits[0].double().numpy()
    others = np.exp(logits[1:]) / np.exp(logits[1:]).sum()
    expected = tokens(Target(0, "logit")) - sum(
        share * tokens(Target(i, "logit")) for i, share in enumerate(others, start=1)
    )
    np.testing.assert_allclose(tokens(Target(0, "log_odds")), expected, atol=1e-5)
