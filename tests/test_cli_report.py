"""The commands that read folders of records: reports and LaTeX, and one clear line for bad ones."""

from pathlib import Path

import pytest

from attrial.board import Board
from attrial.store import Store
from tests import made_up
from tests.test_cli import call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = Store(tmp_path / "records")
    for found in made_up.entries(n=6):
        store.put(found.record, found.trials)
    return store.folder


def test_a_report_is_written_into_the_first_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call(capsys, "report", folder)
    assert (code, out) == (0, "") and "report.md" in err and "report.html" in err
    text = (folder / "report.md").read_text()
    assert "### What changes the verdict" in text and f"attrial report {folder}" in text
    code, _, _ = call(capsys, "report", folder, "--out", folder / "other.md")
    assert code == 0 and (folder / "other.md").exists()


def test_a_board_writes_the_same_report(folder: Path, tmp_path: Path) -> None:
    board = Board(tuple(Store(folder).all()), command="again")
    paths = board.report(tmp_path / "mine")
    assert [p.name for p in paths] == ["report.md", "report.html"]
    assert "again" in paths[0].read_text()


@pytest.mark.parametrize("given", ["gone", "empty", "kind", "file"])
def test_a_bad_folder_is_one_line(
    given: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    words: dict[str, tuple[list[object], str]] = {
        "gone": ([tmp_path / "gone"], "no folder"),
        "empty": ([tmp_path / "empty"], "no records in"),
        "file": ([tmp_path / "file"], "no folder"),
        "kind": ([folder, "--out", tmp_path / "x.pdf"], "a report is a .md or .html file"),
    }
    code, out, err = call(capsys, "report", *words[given][0])
    assert (code, out) == (2, "") and err.startswith("attrial: ") and words[given][1] in err
    assert err.count("\n") == 1


def test_latex_is_a_form_of_the_leaderboard(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "leaderboard", folder, "--format", "latex")
    assert code == 0 and r"\begin{tabular}" in out and r"\toprule" in out
