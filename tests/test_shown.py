"""What an explanation says of itself, where it is written, and models that tasks name."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import attrial
import attrial_tasks
from attrial import cli, report
from attrial.errors import AttrialError, NotApplicable
from attrial.explanation import Explanation
from attrial.generation import Generation
from attrial.report.heatmap import in_text, words

MODELS = Path(attrial_tasks.__file__).parent / "models"
TEXT = "the keys near the old cabinet"
ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^attrial explain .*", README.replace("\\\n", " "), flags=re.MULTILINE)


def test_a_tasks_name_stands_for_its_own_model() -> None:
    a, b = (
        attrial.explain(m, "the old heron", method="occlusion")
        for m in ("planted_keyword", MODELS / "planted_keyword")
    )
    np.testing.assert_array_equal(a.scores, b.scores)
    assert a.target == b.target == "bird"


def test_a_folder_goes_before_a_task_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted_keyword").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AttrialError, match="planted_keyword holds no model"):
        attrial.explain("planted_keyword", "the old heron")


def test_a_task_without_a_model_is_told() -> None:
    with pytest.raises(AttrialError, match="task trec has no model of its own"):
        attrial.explain("trec", "Where is it?")


def test_a_contrast_says_what_is_set_against_what() -> None:
    a, b = (
        attrial.explain(
            "planted_agreement", TEXT, method="shapley", continuation=" are", foil=" is", target=t
        )
        for t in (None, " is")
    )
    assert a.caption == "shapley -> ' are' rather than ' is' (p = 1.000 of the two; log_odds)"
    assert b.caption == "shapley -> ' is' rather than ' are' (p = 0.000 of the two; log_odds)"
    np.testing.assert_allclose(a.scores, -b.scores, atol=1e-9)


def test_a_method_that_is_blind_for_classes_says_so() -> None:
    found = attrial.explain("planted_keyword", "the old heron", method="attention_rollout")
    told = "attention_rollout (the same scores for every class) -> bird (p = "
    assert found.caption.startswith(told) and "log_odds" not in found.caption
    assert "matters most" in found.html() and "against" not in found.html()


def test_a_pair_stands_on_two_lines_with_its_legend() -> None:
    page = attrial.explain(
        "planted_keyword", "a bench, <b>", text_pair="the heron.", method="shapley"
    ).html()
    assert "<b>" not in page and page.count("\n") == 1
    assert " against the target<" in page and " for it<" in page


def test_a_page_says_how_its_letters_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "page.html"
    asked = ["--text", "a <i> heron \u2014 \u00e9migr\u00e9", "--method", "occlusion"]
    said = ["attrial", "explain", "--model", "planted_keyword", *asked, "--out", str(out)]
    monkeypatch.setattr("sys.argv", said)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    page = out.read_text("utf-8")
    assert ended.value.code in (0, None)
    assert page.startswith("<!doctype html>") and '<meta charset="utf-8">' in page
    assert "\u00e9migr\u00e9" in page and "<i>" not in page


def test_tokens_that_share_a_letter_are_spaced() -> None:
    found = words(["a", "\u00e9", "\u00e9"], [1.0, 2.0, -3.0])
    shown = in_text(found, ["a\u00e9"], [(0, 1), (1, 2), (1, 2)])
    assert [w.score for w in shown if w.text.strip()] == [1.0, 2.0, -3.0]


def test_small_scores_keep_three_digits() -> None:
    found = Explanation(
        players=("a",), scores=np.array([0.0000123]), target="b", probability=0.5,
        method="m", removal="mask", function="log_odds", notes={},
    )  # fmt: skip
    assert found.text().endswith("a  +0.0000123")
    assert report.key([0.0]) == ()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs_as_written(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", shlex.split(command))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    assert ended.value.code in (0, None) and said.err == ""
    assert said.out.startswith("shapley")


def test_the_readme_asks_every_kind_from_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(COMMANDS) == 5
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?explain_image.*?)```", README, flags=re.DOTALL)
    told: dict[str, object] = {}
    exec(code, told)
    written, seen = told["written"], told["seen"]
    assert isinstance(written, Generation) and written.targets[-1].strip() == "<end>"
    assert isinstance(seen, Explanation) and seen.target == "circle"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--text", TEXT, "--continuation", " are", "--foil", " are"],
            "is the continuation itself",
        ),
        (["--text", TEXT, "--continuation", " zzqx"], "doesn't know"),
        (["--text", TEXT, "--generate", "2", "--position", "0"], "name no other target"),
        (["--text", TEXT, "--each-token"], "--continuation with --each-token"),
        (
            ["--text", TEXT, "--each-token", "--generate", "2", "--continuation", " is"],
            "one of the two",
        ),
        (["--image", "red.png", "--generate", "2"], "leave other options out"),
        (["--image", "red.png", "--text", TEXT], "one of the two"),
        ([], "one of the two"),
        (["--text", TEXT, "--method", "fish"], "no method 'fish'"),
    ],
)
def test_a_question_that_has_no_answer_is_one_line(
    options: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "sys.argv", ["attrial", "explain", "--model", "planted_agreement", *options]
    )
    with pytest.raises(SystemExit) as ended:
        cli.main()
    found = capsys.readouterr()
    assert ended.value.code == 2 and found.out == ""
    assert said in found.err and found.err.count("\n") == 1


def test_a_method_that_does_not_apply_names_what_it_asks() -> None:
    with pytest.raises(
        NotApplicable, match="asks 'layers', which planted_translation can't answer"
    ):
        attrial.explain("planted_translation", "letter fire", method="alti")


def test_an_image_smaller_than_its_patches_is_refused() -> None:
    with pytest.raises(AttrialError, match="1 x 1 pixels, fewer than the 4 x 4 patches"):
        attrial.explain_image("planted_shapes", np.zeros((1, 1, 3), np.uint8))
    with pytest.raises(AttrialError, match="a grid has 1 cell a side or more"):
        image = np.zeros((32, 32, 3), np.uint8)
        attrial.explain_image("planted_shapes", image, players="patches(0)")


def test_a_name_near_a_tasks_is_offered() -> None:
    with pytest.raises(AttrialError, match="did you mean planted_keyword, the model of a task"):
        attrial.explain("planted_keywrd", "the old heron")
