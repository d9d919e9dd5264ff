"""The command and its Python call: tables, files, one line for bad input, a model left alone."""

import json
from pathlib import Path

import pytest
import torch

import attrial
from attrial import checking, registry, report
from attrial.check_record import CheckReport
from attrial.errors import AttrialError
from attrial.models.pairing import digest
from attrial.models.text import TextClassifier
from tests import tiny
from tests.checked import FOLDER, LEAVE_ONE_OUT, made
from tests.test_cli import call

QUICK = ["--check", "determinism", "--check", "class_sensitivity", "--limit", "2"]


def test_the_command_prints_a_table_and_writes_three_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["check", "--method", "occlusion", "--method", "attention_rollout", *QUICK]
    code, printed, _ = call(capsys, *words, "--out", tmp_path)
    assert code == 0 and "| class_sensitivity | pass | *flagged* |" in printed
    found = CheckReport.model_validate_json((tmp_path / "checks.json").read_text())
    assert [(r.method, r.check, r.verdict) for r in found.results] == [
        ("occlusion", "determinism", "pass"),
        ("occlusion", "class_sensitivity", "pass"),
        ("attention_rollout", "determinism", "pass"),
        ("attention_rollout", "class_sensitivity", "flagged"),
    ]
    assert found.made_with["attrial"] and found.schema_version == 1
    assert {r.weights for r in found.results} == {
        TextClassifier.load(FOLDER / "planted_keyword").spec.weights
    }
    page = (tmp_path / "checks.html").read_text()
    assert "class-blind" in page and (tmp_path / "checks.md").read_text() == printed.removesuffix(
        "\n"
    )


def test_a_file_alone_is_checked_and_repeats_itself(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = made(tmp_path, "mine", LEAVE_ONE_OUT + "    return s")
    code, printed, _ = call(capsys, "check", path, *QUICK, "--out", tmp_path / "a")
    assert code == 0 and "## mine" in printed
    call(capsys, "check", path, *QUICK, "--out", tmp_path / "b")
    first, again = (
        json.loads((tmp_path / name / "checks.json").read_text())["results"] for name in "ab"
    )
    assert first == again and "sha256" in first[0]["shipped_by"]


def test_text_from_outside_is_escaped_on_the_page() -> None:
    done = checking.check(["occlusion"], checks=["determinism"], limit=1)
    odd = done.results[0].model_copy(update={"method": "<b>|", "sentence": "<script>"})
    page = report.checks_html(CheckReport(results=[odd]))
    assert "<script>" not in page and "<b>|" not in page and "&lt;script&gt;" in page
    assert "\\|" in report.checks_markdown(CheckReport(results=[odd]))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "at least one method"),
        (["--method", "oclusion"], "did you mean occlusion"),
        (["occlusion", "--check", "determinsm"], "did you mean determinism"),
        (["occlusion", "--check", "determinism(sedes=3)"], "did you mean seeds"),
        (
            ["occlusion", "--check", "parameter_randomisation(order='up')", "--limit", "1"],
            "cascade",
        ),
        (["occlusion", "--task", "planted_keywords"], "did you mean planted_keyword"),
        (["occlusion", "--seed", "-1"], "0 or more"),
        (["./nowhere.py"], "no file"),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], says: str
) -> None:
    code, _, err = call(capsys, "check", *words, "--out", tmp_path)
    assert code == 2 and says in err and len(err.strip().splitlines()) == 1


def test_a_bare_name_is_no_list() -> None:
    with pytest.raises(AttrialError, match="list"):
        attrial.check("occlusion")
    with pytest.raises(AttrialError, match="list"):
        attrial.check(["occlusion"], checks="determinism")


def test_all_checks_leave_a_loaded_model_as_it_was() -> None:
    model = tiny.model("roberta")
    model.train()
    before, state = digest(model), torch.random.get_rng_state()
    names = [n for n in registry.plugins("checks") if not n.startswith(("parameter", "label"))]
    done = attrial.check(
        ["occlusion", "input_x_gradient"],
        checks=[*names, "parameter_randomisation(draws=2)", "label_randomisation(draws=1)"],
        model=(model, tiny.tokenizer("roberta")),
        data=[tiny.TEXT, *tiny.OTHERS],
    )
    assert digest(model) == before and model.training
    assert torch.equal(state, torch.random.get_rng_state())
    assert len(done.results) == 2 * len(registry.plugins("checks"))
    labels = [r for r in done.results if r.check.startswith("label")]
    assert all("--shuffled-model" in r.sentence for r in labels)


def test_a_changed_model_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny.model("bert")

    def spoil(*_: object, **__: object) -> list[object]:
        with torch.no_grad():
            next(model.parameters()).add_(1.0)
        return []

    monkeypatch.setattr("attrial.checker.check_all", spoil)
    with pytest.raises(RuntimeError, match="changed"):
        attrial.check(["occlusion"], model=(model, tiny.tokenizer("bert")), data=[tiny.TEXT])


def test_a_planted_task_trains_its_mislabelled_model_and_both_verdicts_can_be_had(
    tmp_path: Path,
) -> None:
    blind = made(tmp_path, "blind", "yield from keep(everything(x.n)); return np.arange(x.n)")
    done = attrial.check(["occlusion", blind], checks=["label_randomisation(draws=3)"], limit=6)
    occlusion, fixed = done.results
    assert occlusion.verdict == "pass", occlusion.sentence
    assert fixed.verdict == "fail" and fixed.value == 1.0


def test_a_shuffled_model_may_be_given() -> None:
    done = attrial.check(
        ["occlusion"],
        checks=["label_randomisation(draws=2)"],
        model=FOLDER / "planted_keyword",
        data=["the copper garden", "a sparrow above the wide garden"],
        shuffled_model=FOLDER / "planted_xor",
    )
    assert done.results[0].verdict != "not applicable"
