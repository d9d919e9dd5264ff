"""The command line: what it prints, and one clear line with exit code 2 for bad input."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import attrial_tasks
from attrial import cli, listing, registry
from attrial.errors import AttrialError

MODEL = Path(attrial_tasks.__file__).parent / "models" / "planted_keyword"
QUICK = ["--task", "planted_keyword", "--limit", "4", "--method", "random", "--method", "occlusion"]


def call(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run the command line in this process: exit code, standard output, standard error."""
    before, sys.argv = sys.argv, ["attrial", *map(str, words)]
    try:
        cli.main()
        code: object = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv = before
    out, err = capsys.readouterr()
    assert isinstance(code, int)
    return code, out, err


def explained(*more: str) -> list[object]:
    return ["explain", "--model", MODEL, "--text", "about above", *more]


def test_run_prints_a_board_writes_its_files_and_repeats_itself(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, printed, _ = call(capsys, "run", *QUICK, "--out", out)
    assert code == 0 and "occlusion" in printed and "random order" in printed
    names = {f"leaderboard.{suffix}" for suffix in ("md", "html", "csv", "json", "tex")}
    assert names <= {p.name for p in out.iterdir()}
    first = (out / "leaderboard.json").read_bytes()
    found = json.loads(first)
    assert found["schema"] == 1
    for row in found["rows"]:
        assert list(row)[:13] == [
            "task", "model", "removal", "method", "metric", "value", "low", "high", "normalised",
            "n", "undefined", "rank_low", "rank_high",
        ]  # fmt: skip
    shutil.rmtree(out)
    assert call(capsys, "run", *QUICK, "--out", out)[0] == 0
    assert (out / "leaderboard.json").read_bytes() == first
    code, printed, _ = call(capsys, "leaderboard", out, "--format", "json")
    assert code == 0 and json.loads(printed) == found


def test_a_suite_file_says_what_is_tried(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text(
        'tasks = ["planted_keyword"]\nmethods = ["occlusion"]\nmetrics = ["aopc"]\nlimit = 3\n'
    )
    code, printed, _ = call(capsys, "run", suite, "--out", tmp_path / "out")
    assert code == 0 and "aopc" in printed and "deletion_auc" not in printed


def test_a_method_from_a_file_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plugin = Path(__file__).parent / "third_party/src/attrial_example_plugin/leave_two_out.py"
    words = ["run", "--task", "planted_keyword", "--limit", "2", "--method", plugin]
    code, printed, _ = call(capsys, *words, "--out", tmp_path / "out")
    assert code == 0 and "leave_two_out" in printed


def test_explain_prints_every_word_and_its_label(capsys: pytest.CaptureFixture[str]) -> None:
    for method in ("integrated_gradients", "shapley", "attention_rollout"):
        code, printed, _ = call(capsys, *explained("--method", method))
        assert code == 0 and "about" in printed and "above" in printed and method in printed


def test_list_is_lines_with_tabs_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed, _ = call(capsys, "list", "methods")
    header, *rows = [line.split("\t") for line in printed.splitlines()]
    assert code == 0 and {len(row) for row in rows} == {len(header)}
    found = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    shapley = found["shapley"]
    assert shapley["arguments"] == "samples=1000, exact_up_to=12"
    assert (shapley["sign"], shapley["class"], shapley["adds"]) == ("signed", "yes", "yes")
    assert shapley["draws"] == "yes" and shapley["asks"] == "keep"
    assert shapley["shipped_by"].startswith("attrial ")
    for kind in ("metrics", "tasks", "removals"):
        code, printed, _ = call(capsys, "list", kind)
        assert code == 0 and len({line.count("\t") for line in printed.splitlines()}) == 1


def test_list_tells_all_of_one_plugin(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed, _ = call(capsys, "list", "metrics", "aopc")
    assert code == 0 and printed.startswith("aopc(beam=6)") and "better: higher" in printed
    code, printed, said = call(capsys, "list", "metrics", "aopcc")
    assert code == 2 and not printed and "did you mean aopc" in said
    assert "description" in call(capsys, "list", "tasks", "planted_xor")[1]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("kind", ["methods", "metrics", "removals", "tasks", "checks"])
def test_list_fits_the_terminal(kind: str, width: int) -> None:
    lines = list(listing.lines(kind, width))
    assert max(map(len, lines)) <= width
    rows = [line.split()[0] for line in lines[1:] if line and not line.startswith(" ")]
    assert set(registry.plugins(kind)) <= set(rows)


def test_listing_is_quick_and_imports_nothing_heavy() -> None:
    source = (
        "import sys, time; from attrial import listing; list(listing.lines('methods'));"
        "heavy = {'torch', 'numpy', 'pandas', 'scipy'} & set(sys.modules);"
        "print(time.process_time()); sys.exit(bool(heavy))"
    )
    took = [
        float(subprocess.run([sys.executable, "-c", source], check=True, stdout=-1).stdout)
        for _ in range(4)
    ]
    assert min(took) < 0.15  # seconds of processor time, the start of Python included


def bad(tmp_path: Path) -> dict[str, tuple[list[object], str]]:
    """Bad input by name: the command, and what its one line must say."""
    table = tmp_path / "table.csv"
    table.write_text("sentence,label\ngood film,1\nbad film,0\n")
    empty = tmp_path / "empty.csv"
    empty.write_text("text,label\nfine,1\n,0\n")
    labels = tmp_path / "labels.csv"
    labels.write_text("sentence,label\nfine,1\nodd,7\n")
    told = tmp_path / "told.csv"
    told.write_text("sentence,label\nfine,1\nodd,0\n")
    encoder = tmp_path / "encoder"
    shutil.copytree(MODEL, encoder)
    config = json.loads((encoder / "config.json").read_text())
    (encoder / "config.json").write_text(json.dumps(config | {"architectures": ["BertModel"]}))

    def toml(text: str) -> Path:
        path = tmp_path / f"{abs(hash(text))}.toml"
        path.write_text(text)
        return path

    run: list[object] = ["run", "--task", "sst2", "--model", MODEL, "--out", tmp_path / "out"]
    quick: list[object] = ["run", *QUICK, "--out", tmp_path / "out"]
    return {
        "method": ([*quick, "--method", "oclusion"], "did you mean occlusion"),
        "metric": ([*quick, "--metric", "aopcc"], "did you mean aopc"),
        "task": (["run", "--task", "planted_keywrd"], "did you mean planted_keyword"),
        "removal": ([*quick, "--removal", "maks"], "did you mean mask"),
        "argument": ([*quick, "--method", "occlusion(windw=2)"], "did you mean window"),
        "value": ([*quick, "--method", "occlusion(window='x')"], "window='x'"),
        "folder": (["run", "--task", "planted_keyword", "--model", tmp_path / "gone"], "gone"),
        "no classifier": (explained("--model", str(encoder)), "classif"),
        "file": ([*run, "--data", tmp_path / "gone.csv"], "gone.csv"),
        "column": ([*run, "--data", table, "--task", "imdb"], "task"),
        "column absent": (["run", "--model", MODEL, "--data", table], "text"),
        "label": (explained("--target", "POSITIVE"), "label 'POSITIVE' is not one of the model's"),
        "empty row": (["run", "--model", MODEL, "--data", empty], "empty"),
        "empty text": (["explain", "--model", MODEL, "--text", "  "], "empty"),
        "label of a row": ([*run, "--data", labels], "7"),
        "other labels": ([*run, "--data", told], "the model's are"),
        "suite": (["run", tmp_path / "gone.toml"], "no suite file"),
        "records": (["leaderboard", tmp_path / "nowhere"], "no folder"),
        "no records": (["leaderboard", tmp_path], "no records"),
        "hub": (["run", "--task", "sst2", "--limit", "2"], "--model"),
        "limit": (["run", "--limit", "0"], "'--limit'"),
        "kind": (["list", "foo"], "for 'kind': 'foo' is not one of 'methods'"),
        "form": (["leaderboard", "x", "--format", "y"], "for '--format': 'y' is not one of"),
        "no name": (["explain", "--model", "", "--text", "x"], "the model's name is empty"),
        "option": (["run", "--metod", "random"], "--method"),
        "nothing": (["score"], "Missing argument"),
        "command": (["rum"], "rum"),
        "suite field": (["run", toml("metod = ['random']")], "no field 'metod'; did you mean met"),
        "suite list": (["run", toml("methods = 'random'")], "methods: a list is expected"),
        "suite entry": (["run", toml("methods = ['random', 5]")], "methods, entry 1: "),
        "suite number": (["run", toml("limit = 'x'")], "limit: "),
    }


CASES = [
    "other labels",
    "method", "metric", "task", "removal", "argument", "value", "folder", "no classifier", "file",
    "column", "column absent", "label", "empty row", "empty text", "label of a row", "suite",
    "records", "no records", "hub", "limit", "kind", "form", "no name", "option", "nothing",
    "command",
    "suite field", "suite list", "suite entry", "suite number",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_line_and_exit_code_2(
    case: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words, said = bad(tmp_path)[case]
    code, printed, err = call(capsys, *words)
    assert (code, printed) == (2, "")
    (line,) = err.strip().splitlines()
    assert line.startswith("attrial: ") and said in line, line


FAILS = '''"""Fails on the third example of a run."""
from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Scores
import numpy as np
ASKS, VERSION = ("keep",), 1
def fails(x: Example, *, seed: int) -> Asking[Scores]:
    """Fail."""
    values = yield from keep(np.eye(x.n, dtype=bool))
    if x.id == "9":
        raise KeyError("gone")
    return values
'''


def test_a_plugin_that_fails_is_named_and_what_was_computed_is_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin, out = tmp_path / "fails.py", tmp_path / "out"
    plugin.write_text(FAILS)
    words = ["run", "--task", "planted_keyword", "--limit", "10", "--method", plugin]
    words += ["--metric", "gini", "--out", out]
    code, printed, err = call(capsys, *words)
    assert (code, printed) == (2, "")
    assert err.strip() == "attrial: method fails, example 9: KeyError: 'gone'"
    assert list(out.glob("runs/*/part-00000.json"))  # the first eight examples
    assert len(list(out.glob("memory/*.npz"))) == 10  # and all that the model had answered
    monkeypatch.setenv("ATTRIAL_TRACEBACK", "1")
    with pytest.raises(AttrialError) as told:
        call(capsys, *words)
    assert isinstance(told.value.__cause__, KeyError)


def test_a_removal_that_the_model_cannot_do_names_those_it_can(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "unmasked"
    shutil.copytree(MODEL, folder)
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        path = folder / name
        if path.exists():
            settings = json.loads(path.read_text())
            settings.pop("mask_token", None)
            path.write_text(json.dumps(settings))
    code, _, err = call(
        capsys, "explain", "--model", folder, "--text", "about", "--removal", "mask"
    )
    assert code == 2 and "mask" in err and "delete" in err


def test_a_text_longer_than_the_model_takes_is_cut_counted_and_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = tmp_path / "long.csv"
    data.write_text("text,label\n" + " ".join(["about"] * 300) + ",1\nabout above,0\n")
    words = ["run", "--model", MODEL, "--data", data, "--method", "random", "--metric", "gini"]
    code, _, err = call(capsys, *words, "--out", tmp_path / "out")
    assert code == 0 and "1 of 2 texts were cut" in err
    assert "takes no more: 1" in (tmp_path / "out/leaderboard.html").read_text()


def test_an_unreadable_record_is_skipped_with_a_warning_and_stays(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert call(capsys, "run", *QUICK, "--out", out)[0] == 0
    broken = sorted(out.glob("runs/*/record.json"))[0]
    broken.write_text("{half a rec")
    code, printed, err = call(capsys, "leaderboard", out)
    assert code == 0 and printed and "warning: " in err and broken.parent.name in err
    assert broken.read_text() == "{half a rec"


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_in_the_same_bytes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["run", "--task", "planted_keyword", "--limit", "24"]
    words += ["--method", "occlusion", "--method", "shapley", "--out"]
    command = [sys.executable, "-m", "attrial", *words, str(tmp_path / "cut")]
    environment, silent = os.environ | {"OMP_NUM_THREADS": "1"}, subprocess.DEVNULL
    assert call(capsys, *words, tmp_path / "whole")[0] == 0
    run = subprocess.Popen(command, stdout=silent, stderr=silent, env=environment)
    limit = time.monotonic() + 300
    while not list((tmp_path / "cut").glob("runs/*/part-00000.json")):
        assert run.poll() is None and time.monotonic() < limit
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    parts = {p: p.stat().st_mtime_ns for p in (tmp_path / "cut").glob("memory/*.npz")}
    assert parts and not list((tmp_path / "cut").glob("leaderboard.json"))
    assert call(capsys, *words, tmp_path / "cut")[0] == 0
    whole, cut = (tmp_path / name / "leaderboard.json" for name in ("whole", "cut"))
    assert whole.read_bytes() == cut.read_bytes()
    assert parts == {p: p.stat().st_mtime_ns for p in parts}  # finished work was not done again
