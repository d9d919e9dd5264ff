"""Runs whose removals or methods draw stand-ins: what draws them is part of what is recorded."""

from pathlib import Path
from typing import Any

import pytest

import attrial
from attrial.errors import AttrialError
from attrial.models.masked import load_filler
from tests import tiny
from tests.test_interventions import masked_model

TEXTS = ["the plot was very good", "a dull film", "the story is not bright"]


@pytest.fixture(name="folder")
def masked_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "masked"
    masked_model().save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return folder


def run(out: Path | None = None, **options: Any) -> "attrial.Board":  # noqa: ANN401
    given = {"methods": ["occlusion"], "metrics": ["aopc"], "removals": ["infill"]} | options
    return attrial.run(models=[tiny.classifier()], data=TEXTS, out=out, **given)


def test_a_run_records_which_words_stood_in() -> None:
    (spec,) = {entry.record.spec.model.infill for entry in run().entries}
    assert spec is not None and spec.startswith("corpus of 13 tokens")
    (fewer,) = {entry.record.spec.model.infill for entry in run(limit=2).entries}
    assert fewer is not None and fewer != spec
    (none,) = {entry.record.spec.model.infill for entry in run(removals=["mask"]).entries}
    assert none is None
    by_method = run(removals=["mask"], methods=["reagent(samples=20)"])
    named = {entry.record.spec.label: entry.record.spec.model.infill for entry in by_method.entries}
    assert {label for label, infill in named.items() if infill} == {"reagent(samples=20)"}
    assert named["reagent(samples=20)"] == spec


def test_a_method_that_draws_renames_no_other_record(tmp_path: Path) -> None:
    """Adding it computes its own record and leaves the others as they were."""
    alone = run(tmp_path, removals=["mask"], methods=["occlusion"])
    dated = {e.record.spec.digest: e.record.made_with["date"] for e in alone.entries}
    files = {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("*") if p.is_file()}
    both = run(tmp_path, removals=["mask"], methods=["occlusion", "reagent(samples=20)"])
    again = {e.record.spec.digest: e.record.made_with["date"] for e in both.entries}
    assert {digest: again[digest] for digest in dated} == dated
    assert {p: p.stat().st_mtime_ns for p in files} == files
    assert len(again) == len(dated) + 1
    mixed = run(tmp_path, removals=["mask", "infill"], methods=["occlusion"])
    drawn = {e.record.spec.removal for e in mixed.entries if e.record.spec.model.infill}
    assert drawn == {"infill"}


def test_outputs_of_other_stand_ins_are_never_remembered(tmp_path: Path, folder: Path) -> None:
    """One folder, three fillers: each run ends as it does alone."""
    options: list[dict[str, Any]] = [{}, {"limit": 2}, {"infill": folder}]
    alone = [run(**o).frame().to_csv() for o in options]
    together = [run(tmp_path / "out", **o).frame().to_csv() for o in options]
    assert alone == together
    assert len(set(alone)) == 3


def test_a_masked_model_is_named_with_its_weights(folder: Path) -> None:
    (name,) = {entry.record.spec.model.infill for entry in run(infill=folder).entries}
    assert name == load_filler(folder, tiny.tokenizer()).name


def test_a_place_without_a_masked_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(AttrialError, match="no model folder"):
        run(infill=tmp_path / "nowhere")
