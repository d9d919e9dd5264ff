"""Plugins that fail name themselves, the example and the fault, in one line."""

from pathlib import Path

import pytest

from attrial import testing
from attrial.checking import check
from attrial.errors import AttrialError, Undefined

METHOD = '''"""A method that goes wrong."""
import numpy as np
from attrial.ask import Asking, Undefined, infill, keep, slope, soften, suppress, note
from attrial.example import Example
from attrial.masks import Scores
ASKS, VERSION = ("keep",), 1
def wrong(x: Example, *, seed: int) -> Asking[Scores]:
    """Go wrong."""
    {body}
'''
METRIC = '''"""A metric that goes wrong."""
import numpy as np
from attrial.ask import Asking, Undefined, keep, note
from attrial.example import Example
from attrial.masks import Scores
DIRECTION, READS, FAMILY, VERSION = "higher", "probability", "faithfulness", 1
def wrong(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Go wrong."""
    {body}
'''
GAME = testing.game(3, lambda masks: masks @ [2.0, 1.0, 0.0])


def written(folder: Path, source: str, body: str) -> str:
    path = folder / "wrong.py"
    path.write_text(source.replace("{body}", body))
    return str(path)


METHODS = {
    "raises": ("yield from note({}); return {}['gone']", "KeyError: 'gone'"),
    "raises at once": ("raise ValueError('two\\nlines')", "ValueError: two lines"),
    "no generator": ("return np.ones(3)", "the function must yield"),
    "no question": ("yield 5; return np.ones(3)", "type int is no question"),
    "one mask": ("yield from keep(np.ones(3, bool))", r"masks of shape \(3,\); \(k, 3\) is expect"),
    "wide masks": ("yield from keep(np.ones((2, 5), bool))", r"masks of shape \(2, 5\); \(k, 3\)"),
    "wide points": ("yield from slope(np.ones((1, 2)))", r"points of shape \(1, 2\); \(k, 3\)"),
    "wide shares": ("yield from soften(np.ones((1, 4)), seed=0)", r"shares of shape \(1, 4\)"),
    "wide factors": ("yield from suppress(np.ones((1, 4)))", r"shares of shape \(1, 4\)"),
    "wide infill": ("yield from infill(np.ones((1, 4), bool), seed=0)", r"masks of shape \(1, 4\)"),
    "words": ("yield from note({}); return ['a', 'b', 'c']", "scores are numbers"),
    "too few": ("yield from note({}); return np.ones(2)", r"shape \(2,\)"),
    "nan": ("yield from note({}); return np.full(3, np.nan)", "finite: False"),
}


@pytest.mark.parametrize("case", METHODS)
def test_a_method_that_goes_wrong_is_named_with_its_example(case: str, tmp_path: Path) -> None:
    body, said = METHODS[case]
    with pytest.raises(AttrialError, match=said) as caught:
        testing.attribute(written(tmp_path, METHOD, body), GAME)
    assert "method wrong" in str(caught.value) and "example game" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_plugin_raised_is_the_cause(tmp_path: Path) -> None:
    with pytest.raises(AttrialError) as caught:
        testing.attribute(written(tmp_path, METHOD, "yield from note({}); 1 / 0"), GAME)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


METRICS = {
    "raises": ("yield from note({}); return {}['gone']", "KeyError: 'gone'"),
    "no generator": ("return 1.0", "the function must yield"),
    "nan": ("yield from note({}); return float('nan')", "gave nan; a finite number"),
    "words": ("yield from note({}); return 'high'", "type str; a finite number"),
    "wide masks": ("yield from keep(np.ones((2, 5), bool))", r"masks of shape \(2, 5\); \(k, 3\)"),
}


@pytest.mark.parametrize("case", METRICS)
def test_a_metric_that_goes_wrong_is_named_with_its_example(case: str, tmp_path: Path) -> None:
    body, said = METRICS[case]
    with pytest.raises(AttrialError, match=said) as caught:
        testing.score(written(tmp_path, METRIC, body), GAME, [2.0, 1.0, 0.0])
    assert "metric wrong, example game" in str(caught.value)


def test_an_undefined_cell_stays_undefined_and_own_errors_stay_as_they_are(tmp_path: Path) -> None:
    refuses = written(tmp_path, METHOD, "yield from note({}); raise Undefined('too short')")
    with pytest.raises(Undefined, match=r"^too short$"):
        testing.attribute(refuses, GAME)
    with pytest.raises(AttrialError, match=r"^integrated_gradients: steps=0"):
        testing.attribute("integrated_gradients(steps=0)", GAME)


CHECK = '''"""A check that goes wrong."""
from attrial.check_bench import Bench, Outcome
RULE, VERSION = "value", 1
def wrong(bench: Bench, *, seed: int) -> Outcome:
    """Go wrong."""
    raise KeyError("gone")
'''


def test_a_check_that_goes_wrong_is_named_with_its_method(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(CHECK)
    with pytest.raises(AttrialError, match=r"^check wrong of method random: KeyError: 'gone'$"):
        check(["random"], "planted_keyword", checks=[str(path)], limit=1)
