"""Attributions made elsewhere stand on a board like any method, if they fit the task's examples."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import attrial
from attrial import cli
from attrial.board import Board
from attrial.errors import AttrialError
from attrial.record import Trial
from attrial.store import Entry, Store

TASK, LIMIT = "planted_keyword", 4
METRICS = ["aopc", "deletion_auc", "average_precision", "gini"]
FIELDS = ("id", "players", "scores", "target")
Rows = list[dict[str, object]]
KEPT: dict[str, Path] = {}  # where this module's runs share what the model answered


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """What attrial's own methods give, and what the board says of them."""
    KEPT["out"] = tmp_path_factory.mktemp("out")
    methods = ["occlusion", "gradient_norm"]
    return attrial.run([TASK], methods, metrics=METRICS, limit=LIMIT, out=KEPT["out"])


def entry(board: Board, label: str) -> Entry:
    (found,) = (e for e in board.entries if e.record.spec.label == label)
    return found


def rows_of(trials: list[Trial], *fields: str) -> Rows:
    return [{name: getattr(trial, name) for name in fields or FIELDS} for trial in trials]


def own(board: Board) -> Rows:
    return rows_of(entry(board, "occlusion").trials)


def lines(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def score(given: object, **more: object) -> Board:
    settings: dict[str, object] = {"metrics": METRICS, "limit": LIMIT, **KEPT} | more
    return attrial.score(given, TASK, **settings)  # type: ignore[arg-type]


def call(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    before, sys.argv = sys.argv, ["attrial", *map(str, words)]
    try:
        with pytest.raises(SystemExit) as stop:
            cli.main()
    finally:
        sys.argv = before
    out, err = capsys.readouterr()
    assert isinstance(stop.value.code, int | None)
    return stop.value.code or 0, out, err


def measured(found: Entry) -> list[object]:
    return [(t.id, t.values, t.normalised, t.reasons, t.curves, t.scores) for t in found.trials]


@pytest.mark.parametrize("form", ["jsonl", "parquet", "frame", "rows", "columns", "stored"])
@pytest.mark.parametrize("label", ["occlusion", "gradient_norm"])
def test_a_runs_own_attributions_come_back_with_the_same_values(
    inside: Board, label: str, form: str, tmp_path: Path
) -> None:
    """Whatever way they are written down, they get the values that the run gave them."""
    found = entry(inside, label)
    rows = rows_of(found.trials)
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "mine.parquet")
    store = Store(tmp_path / "store")
    store.put(found.record, found.trials)
    given: dict[str, object] = {
        "jsonl": lines(tmp_path / "mine.jsonl", rows),
        "parquet": tmp_path / "mine.parquet",
        "frame": {"mine": frame},
        "rows": {"mine": rows},
        "columns": {"mine": frame.to_dict("list")},
        "stored": {"mine": tmp_path / f"store/runs/{found.record.spec.digest}/examples.parquet"},
    }
    back = entry(score(given[form]), "mine")
    assert measured(back) == measured(found)
    assert back.record.cells == found.record.cells
    assert any(value is not None for t in back.trials for value in t.values.values())


def test_the_board_has_controls_and_methods_beside_it_and_says_where_it_comes_from(
    inside: Board, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = lines(tmp_path / "mine.jsonl", own(inside)), tmp_path / "out"
    words = ["score", path, "--task", TASK, "--limit", 2, "--method", "random", "--out", out]
    code, printed, _ = call(capsys, *words, "--metric", "aopc", "--metric", "average_precision")
    assert code == 0 and "`mine`" in printed and "`random`" in printed and "best order" in printed
    by = {e.record.spec.label: e.record for e in Store(out).all()}
    assert {"mine", "random", "random_order", "best_order", "worst_order"} <= set(by)
    method = by["mine"].spec.method
    assert method.shipped_by.startswith("file mine.jsonl sha256 ") and not method.args
    assert by["mine"].cost.rows == 0
    stamps = {p: p.stat().st_mtime_ns for p in out.glob("runs/*/record.json")}
    assert call(capsys, *words, "--metric", "aopc", "--metric", "average_precision")[0] == 0
    assert stamps == {p: p.stat().st_mtime_ns for p in stamps}  # the same file is scored once


def test_another_content_is_another_run(inside: Board) -> None:
    rows = own(inside)
    zeros = [{**row, "scores": [0.0] * len(row["players"])} for row in rows]  # type: ignore[arg-type]
    a, b, c = (entry(score({"mine": r}), "mine").record.spec.digest for r in (rows, rows, zeros))
    assert a == b != c


def test_texts_may_stand_for_ids_and_methods_share_a_file(inside: Board, tmp_path: Path) -> None:
    texts = {t.id: " ".join(t.players) for t in entry(inside, "occlusion").trials}
    rows = [
        {"text": texts[str(row["id"])], "method": label, **{k: row[k] for k in FIELDS[1:3]}}
        for label in ("occlusion", "gradient_norm")
        for row in rows_of(entry(inside, label).trials)
    ]
    for row in rows:
        row["method"] = f"my {row['method']}"
    board = score(lines(tmp_path / "both.jsonl", rows[::-1]))
    for label in ("occlusion", "gradient_norm"):
        assert measured(entry(board, f"my {label}")) == measured(entry(inside, label))


def test_rows_beyond_the_limit_are_no_fault_and_strangers_are(inside: Board) -> None:
    assert entry(score({"mine": own(inside)}, limit=2), "mine").record.spec.data.count == 2
    with pytest.raises(AttrialError, match="no example '999'; its 30 ids are '0' to '29'"):
        score({"mine": [*own(inside), {**own(inside)[0], "id": "999"}]}, limit=2)


def test_missing_examples_are_refused_or_counted(inside: Board) -> None:
    rows = own(inside)[1:3]
    with pytest.raises(AttrialError, match=r"for 2 of the 4 examples: '0', '3'; --partial"):
        score({"mine": rows})
    back = entry(score({"mine": rows}, partial=True), "mine")
    reason = "no scores: the file has no attribution of this example"
    assert back.record.cells["aopc"].undefined == {reason: 2}
    assert measured(back)[1:3] == measured(entry(inside, "occlusion"))[1:3]
    with pytest.raises(AttrialError, match=r"for 2 of the 2 examples"):
        score({"mine": own(inside)[2:]}, partial=True, limit=2)


def changed(inside: Board, number: int, **fields: object) -> Rows:
    rows = own(inside)
    rows[number] |= fields
    return rows


def renamed(inside: Board, at: int, name: str) -> list[str]:
    players = list(entry(inside, "occlusion").trials[1].players)
    return [*players[:at], name, *players[at + 1 :]]


def faults(inside: Board) -> Mapping[str, tuple[Rows, str]]:
    """Rows that don't fit the task, and what the one line must say."""
    trial = entry(inside, "occlusion").trials[1]
    n, other = len(trial.players), 1 - trial.target
    longer = {"players": [*trial.players, "more"], "scores": [0.0] * (n + 1)}
    shorter = {"players": trial.players[:-1], "scores": [0.0] * (n - 1)}
    text = " ".join(trial.players)
    return {
        "player": (
            changed(inside, 1, players=renamed(inside, 2, "odd")),
            f"example '1', player 2: the task has {trial.players[2]!r}, this has 'odd'",
        ),
        "longer": (changed(inside, 1, **longer), f"the task has no more, this has 'more' ({n} and"),
        "shorter": (changed(inside, 1, **shorter), f"{trial.players[-1]!r}, this has no more"),
        "pieces": (changed(inside, 1, players=renamed(inside, 3, "##ing")), "sum the scores"),
        "marked": (changed(inside, 1, players=renamed(inside, 3, "Ġfilm")), "sum the scores"),
        "special": (changed(inside, 1, players=renamed(inside, 0, "[CLS]")), "sum the scores"),
        "case": (
            changed(inside, 1, players=renamed(inside, 0, trial.players[0].upper())),
            "differ in case alone",
        ),
        "class": (changed(inside, 1, target=other), f"explains class {other} ("),
        "label": (changed(inside, 1, target="nobody"), "target 'nobody'; the model's classes are"),
        "number": (changed(inside, 1, target=7), "target 7; the model's classes are 0 ("),
        "twice": ([*own(inside), own(inside)[1]], "has example '1' twice, the first time at"),
        "text twice": ([*own(inside), {**own(inside)[1], "id": None, "text": text}], "'1' twice"),
        "text": (changed(inside, 1, id=None, text="about"), "no example with the text 'about'"),
        "pair": (changed(inside, 1, id=None, text="a", text_pair="b"), "leave 'text_pair' out"),
        "other text": (changed(inside, 1, text="about"), "has the text"),
    }


CASES = [
    "player", "longer", "shorter", "pieces", "marked", "special", "case", "class", "label",
    "number", "twice", "text twice", "text", "pair", "other text",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_does_not_fit_is_one_line_and_exit_code_2(
    case: str, inside: Board, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, said = faults(inside)[case]
    path = lines(tmp_path / "mine.jsonl", rows)
    words = ["score", path, "--task", TASK, "--limit", LIMIT, "--out", tmp_path / "out"]
    code, printed, err = call(capsys, *words)
    assert (code, printed) == (2, "")
    (line,) = err.strip().splitlines()
    number = 5 if "twice" in case else 2
    assert line.startswith(f"attrial: {path}, line {number}: ") and said in line, line
    assert not list(tmp_path.glob("out/runs/*"))  # told before anything is computed


def test_what_is_to_be_scored_is_printed_and_comes_back_with_scores(
    inside: Board, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["players", "--task", TASK, "--limit", LIMIT]
    code, printed, _ = call(capsys, *words)
    rows: Rows = [json.loads(line) for line in printed.splitlines()]
    assert code == 0 and [list(row) for row in rows] == [["id", "text", "players", "target"]] * 4
    assert call(capsys, *words, "--out", tmp_path / "p.jsonl")[:2] == (0, "")
    assert (tmp_path / "p.jsonl").read_text() == printed
    for row, trial in zip(rows, entry(inside, "occlusion").trials, strict=True):
        row["scores"] = trial.scores
    assert measured(entry(score({"mine": rows}), "mine")) == measured(entry(inside, "occlusion"))
    code, _, err = call(capsys, "players")
    assert code == 2 and "name the task" in err


def test_a_panel_of_removals_and_a_budget_serve_both_kinds(inside: Board) -> None:
    board = score(
        {"mine": own(inside)}, methods=["shapley"], budget=20, removals=["mask", "infill"], limit=2
    )
    by = {(e.record.spec.label, e.record.spec.removal) for e in board.entries}
    shapley = next(label for label, _ in by if label.startswith("shapley("))
    assert {(k, r) for k in ("mine", shapley) for r in ("mask", "infill")} <= by


def test_labels_name_targets_too(inside: Board) -> None:
    labels = entry(inside, "occlusion").record.labels
    assert len(labels) == 2
    rows = [{**row, "target": labels[int(str(row["target"]))]} for row in own(inside)]
    assert measured(entry(score({"mine": rows}), "mine")) == measured(entry(inside, "occlusion"))


def test_names_and_sources_that_cannot_be_are_told(inside: Board, tmp_path: Path) -> None:
    path = lines(tmp_path / "mine.jsonl", own(inside))
    (tmp_path / "two").mkdir()
    other = lines(tmp_path / "two" / "mine.jsonl", own(inside))
    plugin = tmp_path / "mine.py"
    plugin.write_text("def mine(x, *, seed):\n    yield\n")
    cases: list[tuple[object, dict[str, object], str]] = [
        ({"random_order": own(inside)}, {}, "two methods named 'random_order'"),
        (path, {"methods": [str(plugin)]}, "two methods named 'mine'"),
        ([path, other], {}, "another file has a method 'mine' too"),
        (5, {}, "not a value of type int"),
        ([], {}, "is empty"),
        (path, {"limit": 0}, "limit=0"),
    ]
    for given, more, said in cases:
        with pytest.raises(AttrialError, match=said):
            score(given, **more)
    with pytest.raises(AttrialError, match="name the task"):
        attrial.score(path)


def test_texts_given_by_the_user_are_scored_under_their_model(inside: Board) -> None:
    import attrial_tasks

    model = Path(attrial_tasks.__file__).parent / "models" / TASK
    rows: Rows = [{"text": "about above", "players": ["about", "above"], "scores": [1, 0]}]
    board = attrial.score(rows, data=["about above"], model=model, metrics=["aopc"])
    value = entry(board, "given").record.cells["aopc"].value
    assert value is not None and np.isfinite(value)
