"""Every architecture with every method: it works, or the cell is listed with what is missing."""

import copy
import re
from collections.abc import Mapping

import numpy as np
import pytest
import torch

from attrial import plugin_call, registry
from attrial.ask import Attend
from attrial.budget import within
from attrial.errors import NotApplicable
from attrial.filling import corpus_of
from attrial.masks import Floats, Ints, Masks
from attrial.models.padded import Padded
from attrial.models.text import TextClassifier
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import families, tiny

FAMILIES = pytest.mark.parametrize("family", list(families.FAMILIES))
METHODS = [
    name
    for name, plugin in registry.plugins("methods").items()
    if plugin.module.startswith("attrial_methods.")
]
EXACT, SEEN = 1e-5, 1e-3
ROWS = 24  # model rows a method that samples gets: whether it works, not how well
TARGET = Target(1)

UNANSWERED = "this model can't answer {!r}"
OUTSIDE = "outside transformers' attention interface"
COPIES = "shows copies of its attention weights"
NORMED = "the gradient sums to zero over every embedding"
PARALLEL = "there is no residual to share with"


def lacking(question: str) -> dict[str, str]:
    """The methods that ask a question, each with what is said where it isn't answered."""
    asking = (name for name in METHODS if question in plugin_call.method(name).asks)
    return dict.fromkeys(asking, UNANSWERED.format(question))


# It gives its weights out, but others can't be put in; nor are its values seen.
SHOWN = {
    **lacking("layers"),
    **lacking("suppress"),
    "attention_attribution": OUTSIDE,
    "gradient_sum_abs": OUTSIDE,
}
# It looks up one place of all rows after the other, so that its embeddings can't be replaced.
TURNED = {
    **SHOWN,
    **dict.fromkeys(("attention_grad_cam", "attention_x_gradient", "chefer"), COPIES),
    **lacking("relevance"),
    **lacking("slope"),
}
# The text is read by both stacks: there is no one matrix, and no one embedding of a word.
TWICE = {
    name: UNANSWERED.format(question)
    for question in ("layers", "suppress", "attend", "relevance", "slope")
    for name in lacking(question)
}
CELLS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("deberta", "deberta-v2", "mpnet"), SHOWN),
    "xlnet": TURNED,
    **dict.fromkeys(("t5", "bart", "mbart"), TWICE),
    "gpt2": {"gradient_sum_abs": NORMED},
    "gpt_neox": {"gradient_sum_abs": NORMED, "alti": PARALLEL},
    "opt": {"gradient_sum_abs": NORMED},
}


def outcome(c: TextClassifier, name: str) -> str | Floats:
    """Scores, or why there are none."""
    x = c.encode("x", [families.TEXT])
    it = c.filled_by(corpus_of([x]))
    asked = plugin_call.method(within(name, ROWS))(x, 0)
    try:
        (got,) = answer(Value(it), [(Subject(x, "delete", TARGET), asked)])
    except NotApplicable as why:
        return str(why)
    return str(got.undefined) if got.result is None else got.result


@FAMILIES
def test_cells_are_what_the_lists_say(family: str) -> None:
    c, n = families.classifier(family), len(families.TEXT.split())
    listed = dict(CELLS.get(family, {}))
    for name in METHODS:
        found, why = outcome(c, name), listed.pop(name, None)
        if why is not None:
            assert isinstance(found, str) and why in found, (name, found)
            continue
        assert not isinstance(found, str), (name, found)
        assert found.shape == (n,) and np.isfinite(found).all(), name
    assert not listed


@FAMILIES
def test_models_have_teeth(family: str) -> None:
    """Leaving out one word moves what is explained, so that equalities below say something."""
    assert families.moves(families.model(family), family).abs().median() >= tiny.TEETH
    c = families.classifier(family)
    x = c.encode("x", [families.TEXT])
    full_and_left_out = np.vstack([np.ones((1, x.n), bool), ~np.eye(x.n, dtype=bool)])
    values = TARGET.read(c.keep([(Subject(x, "delete", TARGET), full_and_left_out)])[0])
    assert np.abs(values[1:] - values[0]).max() >= tiny.TEETH


def alone(family: str, ids: Ints) -> Floats:
    """The plain model's answer to one unpadded row: transformers alone."""
    with torch.no_grad():
        logits = families.model(family)(input_ids=torch.tensor(np.asarray(ids))[None]).logits
    return np.asarray(logits[0].double().numpy())


@FAMILIES
@pytest.mark.parametrize("removal", ["delete", "unk"])
def test_answers_are_the_plain_models(family: str, removal: str) -> None:
    c = families.classifier(family)
    x = c.encode("x", [families.TEXT])
    masks = tiny.masks(x.n, 6)
    kept, unk = x.to_positions(masks), families.tokenizer(family).unk_token_id
    found = c.keep([(Subject(x, removal, TARGET), masks)])[0]
    rows = [x.ids[k] if removal == "delete" else np.where(k, x.ids, unk) for k in kept]
    assert np.abs(found - [alone(family, row) for row in rows]).max() < EXACT
    turned = [row[[0, *range(len(row) - 2, 0, -1), -1]] for row in rows]  # the same tokens
    assert np.abs(found - [alone(family, row) for row in turned]).max() > SEEN


def several(c: TextClassifier) -> list[tuple[Subject, Masks]]:
    examples = [c.encode(str(i), [t]) for i, t in enumerate((families.TEXT, *families.OTHERS))]
    return [(Subject(x, "delete", TARGET), tiny.masks(x.n, 5, seed=x.n)) for x in examples]


@FAMILIES
def test_company_and_order_do_not_matter(family: str) -> None:
    c = families.classifier(family)
    asks = several(c)
    apart = [c.keep([ask])[0] for ask in asks]
    together = c.keep(asks[::-1])[::-1]
    assert all(np.abs(a - b).max() < EXACT for a, b in zip(apart, together, strict=True))
    assert np.abs(apart[0] - apart[1]).max() > SEEN  # another order would be seen


@FAMILIES
def test_padding_and_its_side_do_not_matter(family: str) -> None:
    c = families.classifier(family)
    asks = several(c)
    expected = c.keep(asks)
    words = copy.deepcopy(families.tokenizer(family))
    words.padding_side = "left" if words.padding_side == "right" else "right"
    other = TextClassifier.of(families.model(family), words, batch_tokens=128)
    for found in (other.keep(asks), Padded.by(c, 5).keep(asks)):
        assert all(np.abs(a - b).max() < EXACT for a, b in zip(found, expected, strict=True))


@FAMILIES
def test_attention_is_among_the_real_positions(family: str) -> None:
    c = families.classifier(family)
    if "attend" not in c.answers:
        return
    asks = [(subject, Attend()) for subject, _ in several(c)]
    for own, padded in zip(c.attend(asks), Padded.by(c, 5).attend(asks), strict=True):
        assert np.abs(own.weights - padded.weights).max() < EXACT
        assert np.abs(own.weights.sum(axis=-1) - 1).max() < EXACT
        turned = padded.weights[..., ::-1, ::-1]
        assert np.abs(own.weights - turned).max() > SEEN  # other positions would be seen


@FAMILIES
def test_padding_that_is_seen_would_show(family: str) -> None:
    """The negative control of the test above: the plain model, given padding without a mask."""
    x = families.classifier(family).encode("x", [families.TEXT])
    pad = families.classifier(family).forward.pad
    left = np.concatenate([[pad] * 3, x.ids])
    assert np.abs(alone(family, left) - alone(family, x.ids)).max() > SEEN


@FAMILIES
def test_removals_that_are_offered_can_be_done(family: str) -> None:
    c = families.classifier(family)
    x = c.encode("x", [families.TEXT])
    assert ("zero" in c.removals) == ("slope" in c.answers)
    for removal in set(c.removals) - {"attention_off"}:  # which may be refused for the last word
        assert np.isfinite(c.keep([(Subject(x, removal, TARGET), tiny.masks(x.n, 4))])[0]).all()


def test_there_are_enough_of_them_and_lists_name_what_there_is() -> None:
    assert len(families.FAMILIES) >= 23
    assert set(CELLS) <= set(families.FAMILIES)
    assert all(re.search(r"\w", why) for cells in CELLS.values() for why in cells.values())
