"""Tasks whose examples have unlike numbers of options: tried, checked and judged like others."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import attrial
from attrial import registry
from attrial.models.altered import Altered
from attrial.models.text import TextClassifier
from tests import chosen, writers

CHOICES = [
    ("the plot was not very good", ["bright", "dull and brighter", "a story"]),
    ("the film was bright", ["bad", "good film", "the story", "very dull"]),
    ("the acting was dull", ["bad", "a good film"]),
]
CONTINUATIONS = [
    ("the plot was not very good and the acting", [" dull", " bright", " bad"]),
    ("the film was", [" very dull", " bad", " not very good", " a story"]),
    ("the acting", [" was", " is very very bad"]),
]
HEAD = """description = "Options."
text = "text"
removals = ["delete"]
[data]
path = "rows.jsonl"
"""
KINDS = {
    "choices": (CHOICES, '[head]\nchoices = "all"\n'),
    "continuations": (CONTINUATIONS, '[continuation]\ncolumn = "all"\n'),
}


def task(folder: Path, kind: str) -> Path:
    rows, asked = KINDS[kind]
    lines = [json.dumps({"text": text, "all": options}) for text, options in rows]
    (folder / "rows.jsonl").write_text("\n".join(lines))
    path = folder / "unequal.toml"
    path.write_text(HEAD + asked)
    return path


def model(kind: str) -> TextClassifier:
    return chosen.chooser() if kind == "choices" else writers.writer("llama")


def alone(kind: str, text: str, options: Sequence[str]) -> attrial.Explanation:
    if kind == "choices":
        return attrial.explain(
            model(kind), text, choices=options, method="occlusion", removal="delete"
        )
    return attrial.explain(
        model(kind), text, continuation=options[0], foil=options[1], method="occlusion",
        removal="delete",
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_each_example_is_tried_with_its_own_options(kind: str, tmp_path: Path) -> None:
    board = attrial.run(
        [task(tmp_path, kind)], ["occlusion", "integrated_gradients"], models=[model(kind)],
        metrics=["comprehensiveness", "deletion_auc"],
    )  # fmt: skip
    for entry in board.entries:
        assert entry.record.cells["comprehensiveness"].n == 3
        assert [len(t.names) for t in entry.trials] == [3, 4, 2]
    (occlusion,) = [e for e in board.entries if e.record.spec.label == "occlusion"]
    rows = KINDS[kind][0]
    checked = zip(occlusion.trials, rows, strict=True)
    for trial, (text, options) in [*checked] if kind == "choices" else [*checked][-1:]:
        np.testing.assert_allclose(trial.scores, alone(kind, text, options).scores, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_every_check_judges_them(kind: str, tmp_path: Path) -> None:
    names = [n for n in registry.plugins("checks") if not n.startswith("parameter")]
    done = attrial.check(
        ["occlusion"], task(tmp_path, kind), checks=[*names, "parameter_randomisation(draws=2)"],
        model=model(kind),
    )  # fmt: skip
    verdicts = {r.check.partition("(")[0]: r.verdict for r in done.results}
    assert set(verdicts) == set(registry.plugins("checks"))
    same = ("determinism", "batch_invariance", "padding_invariance", "dummy_player")
    assert {verdicts[name] for name in same} == {"pass"}
    lacking = {name for name, verdict in verdicts.items() if verdict == "not applicable"}
    own = {"completeness_gap", "seed_stability", "label_randomisation"}  # no cases of occlusion
    forms = {"input_shift_invariance", "implementation_invariance"}
    assert lacking == own if kind == "choices" else lacking <= own | forms  # Llama has one form
    assert kind != "choices" or {verdicts[name] for name in forms} == {"pass"}


def test_forms_of_one_function_are_compared_on_all_examples() -> None:
    """A form that differs in the last option of the longest list alone is another function."""
    c = model("choices")
    xs = [c.encode(str(i), [t], options=o) for i, (t, o) in enumerate(CHOICES)]
    altered = Altered(c, xs)
    assert altered._own.shape == (3 + 4 + 2,)
    last = Altered(c, [xs[1]])._own
    np.testing.assert_allclose(altered._own[3:7], last, atol=1e-6)
    assert altered._same(c) and not altered._same(altered.randomised(altered.strata, seed=0))


def test_language_models_have_no_labels_to_shuffle(tmp_path: Path) -> None:
    done = attrial.check(
        ["occlusion"], task(tmp_path, "continuations"), checks=["label_randomisation(draws=2)"],
        model=model("continuations"),
    )  # fmt: skip
    (result,) = done.results
    assert result.verdict == "not applicable"
    assert result.sentence == "a language model is trained on texts: no labels to shuffle"
    given = attrial.check(
        ["occlusion"], task(tmp_path, "continuations"), checks=["label_randomisation(draws=2)"],
        model=model("continuations"), shuffled_model=writers.writer("llama", seed=1),
    )  # fmt: skip
    assert given.results[0].verdict != "not applicable"
