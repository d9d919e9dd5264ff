"""Attention Grad-CAM of decoders: its cut leaves exactly the helpful part, which may be nothing."""

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

from attrial import plugin_call
from attrial.example import Example
from attrial.masks import Floats
from attrial.models.text import TextClassifier
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import decoders, tiny, writers

CLOSE = 1e-4  # of the largest


def scores(c: TextClassifier, x: Example, index: int) -> Floats:
    asked = plugin_call.method("attention_grad_cam")(x, 0)
    (got,) = answer(Value(c), [(Subject(x, "delete", Target(index)), asked)])
    assert got.result is not None
    return got.result


def eager(made: PreTrainedModel, x: Example) -> tuple[Tensor, list[Tensor]]:
    """Logits and attention weights of the full input, by transformers alone."""
    made.set_attn_implementation("eager")
    out = made(input_ids=torch.tensor(x.ids)[None], output_attentions=True)
    return out.logits[0].double(), list(out.attentions)


def signed(odds: Tensor, last: Tensor) -> Floats:
    """Each position's sum of the last layer's heads by their mean gradients, before the cut."""
    (gradient,) = torch.autograd.grad(odds, last, retain_graph=True)
    heads = gradient[0].mean((-2, -1))
    found = torch.tensordot(heads, last[0, :, -1].detach(), dims=1)
    return np.asarray(found.double().numpy())


@pytest.mark.parametrize("family", list(writers.FAMILIES))
def test_two_continuations_share_the_signed_map_out(family: str) -> None:
    """Their log-odds are each other's negative, so that one gets the map's one part, one the other.

    No position has a score for both, and where the map has one sign the other's are all zero.
    """
    c = writers.writer(family)
    x = c.encode("x", [writers.PROMPT], options=writers.TWO)
    logits, shown = eager(writers.model(family), x)
    (first,), (second,) = x.options
    cam = signed(logits[-1, first] - logits[-1, second], shown[-1])
    size = float(np.abs(cam).max())
    assert size > 1e-5
    own, foil = scores(c, x, 0), scores(c, x, 1)
    assert own - foil == pytest.approx(x.to_players(cam), abs=CLOSE * size)
    assert own + foil == pytest.approx(x.to_players(np.abs(cam)), abs=CLOSE * size)
    uncut = (np.abs(own - x.to_players(cam)).max(), np.abs(foil + x.to_players(cam)).max())
    assert max(uncut) > 0.1 * size  # the cut counts


@pytest.mark.parametrize("family", list(decoders.FAMILIES))
def test_scores_are_all_zero_exactly_where_the_map_is_nowhere_positive(family: str) -> None:
    c = decoders.classifier(family)
    x = c.encode("x", [tiny.TEXT])
    logits, shown = eager(decoders.model(family), x)
    for index, others in ((1, [0, 2]), (2, [0, 1])):
        cam = signed(logits[index] - logits[others].logsumexp(0), shown[-1])
        size = float(np.abs(cam).max())
        found = scores(c, x, index)
        assert found == pytest.approx(x.to_players(cam.clip(0)), abs=CLOSE * size)
        assert found.any() == bool((cam[x.owner >= 0] > 0).any())
        assert size > 1e-5
