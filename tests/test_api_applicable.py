"""Methods that a model can't answer, and controls, as a user of the Python door meets them."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import attrial
from attrial import api, classifiers
from attrial.errors import AttrialError, NotApplicable
from attrial.models.text import TextClassifier


@pytest.fixture
def without_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classifiers that say that they don't answer ``attend``."""
    make: Callable[..., TextClassifier] = classifiers.classifier_of

    def made(*given: object, **more: object) -> TextClassifier:
        found = make(*given, **more)
        return replace(found, answers=found.answers - {"attend"})

    monkeypatch.setattr(api, "classifier_of", made)


@pytest.mark.usefixtures("without_attention")
def test_one_line_tells_what_the_model_lacks_and_the_board_has_the_row() -> None:
    board = attrial.run(["planted_keyword"], ["occlusion", "attention"], metrics=["aopc"], limit=2)
    assert board.notices == (
        "planted_keyword: attention is not applicable: needs 'attend', which this model can't "
        "answer",
    )
    rows = {r.method: r for r in board.rows}
    assert not rows["attention"].applicable and rows["occlusion"].rank_low == 1
    assert "No overall rank" not in board.markdown()  # one method alone has no rank to refuse
    assert re.search(r"\| `attention`† +\| n/a ", board.markdown())


@pytest.mark.usefixtures("without_attention")
def test_asked_for_alone_it_is_an_error() -> None:
    with pytest.raises(NotApplicable, match="method attention is not applicable: needs 'attend'"):
        attrial.run(["planted_keyword"], ["attention"], metrics=["aopc"], limit=2)


def test_what_turns_out_only_while_a_method_asks_ends_that_method_alone() -> None:
    """The question ``slope`` is answered by an encoder-decoder, but not at its first layer."""
    tried = ["gradient_sum_abs", "gradient_norm", "occlusion"]
    board = attrial.run(["planted_translation"], tried, metrics=["aopc"], limit=2)
    why = "not applicable: T5ForConditionalGeneration has two stacks: no square matrix a layer"
    assert f"planted_translation: gradient_sum_abs is {why}" in board.notices
    rows = {(r.method, r.removal): r for r in board.rows}
    lacking = [r for (method, _), r in rows.items() if method == "gradient_sum_abs"]
    assert lacking and all((r.n, r.reasons, r.applicable) == (0, {why: 2}, False) for r in lacking)
    others = attrial.run(["planted_translation"], tried[1:], metrics=["aopc"], limit=2)
    for r in others.rows:
        assert rows[r.method, r.removal].value == r.value and r.n == 2


def test_a_baseline_that_is_asked_for_is_ranked() -> None:
    board = attrial.run(["planted_keyword"], ["occlusion", "position"], metrics=["aopc"], limit=2)
    control = {r.method: r.control for r in board.rows}
    assert not control["position"] and control["constant"]


def test_a_method_with_the_name_of_a_control_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "best_order.py"
    path.write_text(
        '"""Mine."""\nfrom attrial.ask import Asking, Example, note\n'
        "def best_order(x: Example, *, seed: int) -> Asking[object]:\n"
        '    """Mine."""\n    yield from note({})\n'
    )
    with pytest.raises(AttrialError, match="best_order is the name of a control"):
        attrial.run(["planted_keyword"], [str(path)], limit=2)
