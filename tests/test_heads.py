"""Models that give one number, and models whose labels may hold side by side."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import attrial
from attrial import registry
from attrial.ask import Slope
from attrial.cli import app
from attrial.errors import AttrialError
from attrial.masks import Masks, Scores, everything
from attrial.models.reading import read
from attrial.models.text import TextClassifier
from attrial.target import FUNCTIONS, Target
from attrial.value import Subject
from tests import headed, tiny

HEADS = list(headed.HEADS)
FAMILIES = ["bert", "roberta", "distilbert"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("head", HEADS)
def test_outputs_are_those_of_the_model_alone(head: str, family: str) -> None:
    c = headed.classifier(head, family)
    x = c.encode("x", [tiny.TEXT])
    masks = np.concatenate([everything(x.n), ~np.eye(x.n, dtype=bool)])
    (found,) = c.keep([(Subject(x, "mask", Target(0)), masks)])
    whole = headed.ids(family, tiny.TEXT)
    rows = [whole.clone() for _ in masks]
    for row, kept in zip(rows, x.to_positions(masks), strict=True):
        row[0, torch.from_numpy(~kept)] = tiny.tokenizer(family).mask_token_id
    with torch.no_grad():
        alone = torch.cat([c.forward.model(input_ids=row).logits for row in rows])
    np.testing.assert_allclose(found, alone.numpy(), atol=1e-5)
    assert np.median(np.abs(found[1:, 0] - found[0, 0])) >= tiny.TEETH / 2


@pytest.mark.parametrize("function", list(FUNCTIONS))
def test_labels_apart_are_read_by_their_own_output(function: str) -> None:
    """A second derivation: Bernoulli probabilities written out, label by label."""
    x = headed.classifier("several labels").encode("x", [tiny.TEXT])
    outputs = np.random.default_rng(0).normal(0, 3, (5, 3))
    p = 1 / (1 + np.exp(-outputs[:, 1]))
    told = {
        "probability": p,
        "log_probability": np.log(p),
        "log_odds": np.log(p / (1 - p)),
        "logit": outputs[:, 1],
        "margin": np.log(p / (1 - p)),
    }[function]
    target = Target.of(x, 1, function)
    np.testing.assert_allclose(target.read(outputs), told, atol=1e-12)
    by_torch = read(torch.from_numpy(outputs), torch.ones(5, dtype=torch.long), target.function)
    np.testing.assert_allclose(by_torch.numpy(), told, atol=1e-12)
    classes = Target(1, function).read(outputs)  # the control: read as classes it is another
    assert function == "logit" or np.abs(classes - told).max() > 0.1


@pytest.mark.parametrize("function", ["probability", "log_odds"])
@pytest.mark.parametrize("head", HEADS)
def test_slopes_are_those_of_torch_alone(head: str, function: str) -> None:
    c = headed.classifier(head)
    x = c.encode("x", [tiny.TEXT])
    subject = Subject(x, "mask", Target.of(x, 0, function))
    (found,) = c.slope([(subject, Slope(np.ones((1, x.n)), "zero"))])
    model = c.forward.model
    embedded = model.get_input_embeddings()(headed.ids("bert", tiny.TEXT)).detach()
    embedded.requires_grad_()
    logit = model(inputs_embeds=embedded).logits[0, 0]
    plain = head == "one number" or function == "log_odds"
    (alone,) = torch.autograd.grad(logit if plain else logit.sigmoid(), embedded)
    np.testing.assert_allclose(found.gradient[0], alone[0].numpy(), atol=1e-5)
    assert alone.abs().max() > 1e-3


@pytest.mark.parametrize("head", HEADS)
def test_company_changes_no_bit(head: str) -> None:
    c = headed.classifier(head)
    texts = (tiny.TEXT, *tiny.OTHERS)
    xs = [c.encode(str(i), [t]) for i, t in enumerate(texts)]
    asks = [(Subject(x, "mask", Target(0)), tiny.masks(x.n, 6, seed=i)) for i, x in enumerate(xs)]
    together, turned = c.keep(asks), c.keep(asks[::-1])[::-1]
    alone = [c.keep([ask])[0] for ask in asks]
    for a, b, one in zip(together, turned, alone, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, one, atol=1e-6)


@cache
def fitted(head: str) -> TextClassifier:
    return headed.classifier(head)


@pytest.mark.parametrize("name", sorted(registry.plugins("methods")))
@pytest.mark.parametrize("head", HEADS)
def test_every_method_explains_every_head(head: str, name: str) -> None:
    found = attrial.explain(fitted(head), "the plot was not good", method=name)
    assert found.scores.shape == (5,) and np.isfinite(found.scores).all()


def test_the_most_probable_label_is_explained_or_the_one_that_is_named() -> None:
    c = fitted("several labels")
    whole = headed.ids("bert", tiny.TEXT)
    with torch.no_grad():
        logits = c.forward.model(input_ids=whole).logits[0]
        without = c.forward.model(input_ids=headed.masked(whole, "bert")[0]).logits[0]
    best = int(logits.argmax())
    found = attrial.explain(c, tiny.TEXT, method="occlusion")
    assert found.target == headed.LABELS[best]
    for i, label in enumerate(headed.LABELS):
        named = attrial.explain(c, tiny.TEXT, method="occlusion", target=label)
        assert named.probability == pytest.approx(float(logits[i].sigmoid()), abs=1e-5)
        drop = float(logits[i] - without[i])
        assert named.scores[0] == pytest.approx(drop, abs=1e-4)


def test_one_number_is_explained_and_shown_in_its_own_unit() -> None:
    c = fitted("one number")
    value = float(c.forward.model(input_ids=headed.ids("bert", tiny.TEXT)).logits[0, 0].detach())
    found = attrial.explain(c, tiny.TEXT, method="occlusion")
    assert found.output == pytest.approx(value, abs=1e-5)
    assert (found.probability, found.function) == (None, "value")
    assert found.caption == f"occlusion -> LABEL_0 (value {value:.3f})"
    with pytest.raises(AttrialError, match="one number: it has no probability") as told:
        attrial.explain(c, tiny.TEXT, function="probability")
    assert "\n" not in str(told.value)


def steps(scores: Scores) -> Masks:
    """The full text, then what comprehensiveness removes of ten words: their shares rounded up."""
    best_first = np.argsort(-scores)
    kept = np.ones((6, len(scores)), bool)
    for row, size in zip(kept[1:], (1, 1, 1, 2, 5), strict=True):
        row[best_first[:size]] = False
    return kept


METRICS = ["aopc", "comprehensiveness", "decision_flip_top", "log_odds"]


def test_metrics_of_one_number_are_in_its_unit_or_say_why_there_is_none() -> None:
    c = fitted("one number")
    texts = [tiny.TEXT, *tiny.OTHERS]
    board = attrial.run([], ["occlusion"], models=[c], data=texts, metrics=METRICS)
    (mine,) = [e for e in board.entries if e.record.spec.label == "occlusion"]
    assert mine.record.spec.target == "the model's one output"
    why = {m: list(cell.undefined) for m, cell in mine.record.cells.items() if cell.undefined}
    assert why == {
        "decision_flip_top": ["the model gives one number and takes no decision that could flip"],
        "log_odds": ["the model gives one number and no probability"],
    }
    x = c.encode("0", [tiny.TEXT])
    scores = np.asarray(mine.trials[0].scores)
    values = c.keep([(Subject(x, "mask", Target(0)), steps(scores))])[0][:, 0]
    told = mine.trials[0].values["comprehensiveness"] or 0.0
    assert told == pytest.approx(float((values[0] - values[1:]).mean()), abs=1e-5)


def test_metrics_of_labels_read_the_sigmoid() -> None:
    c = fitted("several labels")
    board = attrial.run(
        [], ["occlusion"], models=[c], data=[tiny.TEXT], metrics=["comprehensiveness"]
    )
    (mine,) = [e for e in board.entries if e.record.spec.label == "occlusion"]
    x = c.encode("0", [tiny.TEXT])
    outputs = c.keep([(Subject(x, "mask", Target(0)), steps(np.asarray(mine.trials[0].scores)))])[0]
    p = 1 / (1 + np.exp(-outputs[:, int(outputs[0].argmax())]))
    told = mine.trials[0].values["comprehensiveness"] or 0.0
    assert told == pytest.approx(float((p[0] - p[1:]).mean()), abs=1e-6)
    q = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)  # the control: as classes
    q = q[:, int(outputs[0].argmax())]
    assert abs(told - float((q[0] - q[1:]).mean())) > 1e-3


def test_a_folder_with_such_a_head_is_explained(tmp_path: Path) -> None:
    for head in HEADS:
        folder = tmp_path / head.replace(" ", "-")
        headed.model(head).save_pretrained(folder)
        tiny.tokenizer().save_pretrained(folder)
        asked = ["explain", "--model", str(folder), "--text", tiny.TEXT, "--method", "occlusion"]
        told = CliRunner().invoke(app, asked)
        assert told.exit_code == 0, told.output
        assert ("(value " if head == "one number" else "(p = ") in told.output
