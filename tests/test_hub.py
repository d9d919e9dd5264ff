"""Models and data sets of the Hub, fetched by the real clients from a server on loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests import hub, tiny
from tests.hub import Hub, Repo

TEXTS = ("the plot was not very good", "a bright film", "the acting was dull and bad")
HEAD = """
description = "Films"
text = "sentence"
label = "label"
labels = ["a", "b", "c"]
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    folder = tmp_path_factory.mktemp("model")
    made = tiny.model("bert")
    made.config.id2label = {0: "a", 1: "b", 2: "c"}
    made.save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return hub.of_folder("models", "films/judge", folder)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    folder = tmp_path_factory.mktemp("data")
    (folder / "data").mkdir()
    frame = pd.DataFrame({"sentence": TEXTS, "label": [0, 1, 2]})
    frame.to_parquet(folder / "data" / "validation-00000-of-00001.parquet")
    return hub.of_folder("datasets", "films/told", folder)


@pytest.fixture(scope="module")
def served(model: Repo, data: Repo) -> Iterator[Hub]:
    locked = Repo("datasets", "films/locked", data.files, gated=True)
    closed = Repo("models", "films/closed", model.files, gated=True)
    with hub.serving(model, data, locked, closed) as running:
        yield running


def write(folder: Path, name: str = "films", **changed: Mapping[str, object]) -> Path:
    """A task file; ``changed`` are fields of its tables data and model."""
    data = {"hub": "films/told", "split": "validation", **changed.get("data", {})}
    model = {"hub": "films/judge", **changed.get("model", {})}
    tables = {"data": data, "model": model}
    path = folder / f"{name}.toml"
    path.write_text(HEAD + "".join(f"[{t}]\n{_lines(fields)}" for t, fields in tables.items()))
    return path


def _lines(fields: Mapping[str, object]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def python(
    folder: Path, url: str, *args: str, offline: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with a cache of its own and another Hub."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    env = kept | {"HF_ENDPOINT": url, "HF_HOME": str(folder / "hf"), "HF_HUB_DISABLE_XET": "1"}
    env |= {"HF_HUB_OFFLINE": "1"} if offline else {}
    return subprocess.run(
        [sys.executable, *args],
        cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def run(folder: Path, url: str, task: Path, *more: str, offline: bool = False) -> dict[str, Any]:
    """The spec of the only method's record."""
    out = folder / ("off" if offline else "out")
    done = python(
        folder, url, "-m", "attrial", "run", "--task", str(task), "--method", "occlusion",
        "--metric", "aopc", "--removal", "mask", "--out", str(out), *more, offline=offline,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = [json.loads(p.read_text()) for p in out.rglob("record.json")]
    (spec,) = [r["spec"] for r in records if r["spec"]["label"] == "occlusion"]
    assert isinstance(spec, dict)
    return spec


def test_both_come_from_the_hub_and_their_commits_are_recorded(
    tmp_path: Path, served: Hub, model: Repo, data: Repo
) -> None:
    task = write(tmp_path)
    spec = run(tmp_path, served.url, task)
    assert spec["model"]["name"] == "films/judge"
    assert spec["model"]["revision"] == model.commit
    assert spec["data"]["source"] == "films/told"
    assert spec["data"]["revision"] == data.commit
    assert (spec["data"]["count"], spec["data"]["split"]) == (3, "validation")
    assert any("/resolve/" in path and "parquet" in path for path in served.asked)
    assert not served.unknown
    again = run(tmp_path, served.url, task, offline=True)  # from the cache, the commits still known
    assert (again["model"], again["data"]) == (spec["model"], spec["data"])


def test_pinned_revisions_and_streamed_rows(
    tmp_path: Path, served: Hub, model: Repo, data: Repo
) -> None:
    streamed: dict[str, object] = {"revision": data.commit, "streaming": True}
    task = write(tmp_path, data=streamed, model={"revision": model.commit})
    spec = run(tmp_path, served.url, task, "--limit", "2")
    assert spec["data"]["revision"] == data.commit
    assert spec["model"]["revision"] == model.commit
    assert spec["data"]["count"] == 2


OTHER = "0" * 40
DATA, MODEL = "from the Hugging Face Hub (", "can't be fetched from the Hub: "
FAULTS = {  # a field of the task file -> what is said of it
    ("data", "revision", OTHER): f"films/told {DATA}it has no revision '{OTHER}')",
    ("data", "hub", "films/none"): f"films/none {DATA}there is none of that name",
    ("data", "hub", "films/locked"): f"films/locked {DATA}it asks for consent",
    ("data", "config", "other"): f"films/told {DATA}ValueError: BuilderConfig 'other' not found",
    ("data", "split", "tset"): f"films/told {DATA}ValueError: Unknown split",
    ("model", "revision", OTHER): f"films/judge {MODEL}it has no revision '{OTHER}'",
    ("model", "hub", "films/none"): f"films/none {MODEL}there is none of that name",
    ("model", "hub", "films/closed"): f"films/closed {MODEL}it asks for consent",
}
SCRIPT = """
import sys, attrial
from attrial.errors import AttrialError
for path in sys.argv[1:]:
    try:
        attrial.run([path], ["occlusion"])
    except AttrialError as error:
        print(error)
"""


Edit = tuple[str, str, str]


def asked(folder: Path, url: str, *edits: Edit, offline: bool = False) -> list[str]:
    """What is said of task files, each with one field changed: a line each."""
    paths = [
        write(folder, f"t{i}", **{table: {name: value}})
        for i, (table, name, value) in enumerate(edits)
    ]
    done = python(folder, url, "-c", SCRIPT, *map(str, paths), offline=offline)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()


def test_what_the_hub_has_not_is_one_line(tmp_path: Path, served: Hub) -> None:
    lines = asked(tmp_path, served.url, *FAULTS)
    assert len(lines) == len(FAULTS)
    for line, expected in zip(lines, FAULTS.values(), strict=True):
        assert expected in line


@pytest.mark.parametrize("offline", [False, True])
def test_without_the_hub_the_way_round_is_told(tmp_path: Path, offline: bool) -> None:
    nobody = "http://127.0.0.1:9"
    (line,) = asked(tmp_path, nobody, ("data", "split", "validation"), offline=offline)
    assert "the Hub can't be reached and films/judge was not fetched before" in line
    assert "--model DIR" in line
