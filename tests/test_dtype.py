"""Half precision by choice, devices by name: what is asked for is loaded, run and recorded."""

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import attrial
from attrial import cli
from attrial.errors import AttrialError
from attrial.models.text import TextClassifier
from attrial.record import ModelSpec
from tests import families, test_families

TORCH = {"bfloat16": torch.bfloat16, "float16": torch.float16}
HALVES = pytest.mark.parametrize("dtype", list(TORCH))
CLOSE = 0.9  # correlation of scores with float32's, where those are not rounding alone
NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")


@cache
def half(family: str, dtype: str) -> TextClassifier:
    model = torch.nn.Module.to(copy.deepcopy(families.model(family)), TORCH[dtype])
    return TextClassifier.of(model, families.tokenizer(family), batch_tokens=128)


@HALVES
@pytest.mark.parametrize("family", ["bert", "llama", "xlnet", "bart"])
def test_every_method_that_works_in_full_works_in_half_precision(family: str, dtype: str) -> None:
    c, listed = half(family, dtype), test_families.CELLS.get(family, {})
    assert c.spec.dtype == dtype and c.answers == families.classifier(family).answers
    for name in test_families.METHODS:
        if name in listed:
            continue
        full = test_families.outcome(families.classifier(family), name)
        found = test_families.outcome(c, name)
        assert not isinstance(found, str) and not isinstance(full, str), (name, found)
        assert np.isfinite(found).all()
        if full.std() > 0:
            assert np.corrcoef(full, found)[0, 1] > CLOSE, name


@HALVES
def test_it_is_another_model_of_about_the_same_answers(dtype: str) -> None:
    full, found = families.classifier("bert"), half("bert", dtype)
    assert found.spec.weights != full.spec.weights
    asks = test_families.several(full)
    pairs = list(zip(full.keep(asks), found.keep(asks), strict=True))
    apart = max(float(np.abs(a - b).max()) for a, b in pairs)
    assert 1e-5 < apart < 0.1
    again = found.keep(asks)
    assert all(np.array_equal(a, b) for a, (_, b) in zip(again, pairs, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("model") / "tiny"
    families.model("bert").save_pretrained(where)
    families.tokenizer("bert").save_pretrained(where)
    return where


def test_a_run_records_the_dtype_and_the_suite_may_name_it(folder: Path) -> None:
    given = {"data": [families.TEXT, *families.OTHERS], "metrics": ["aopc"], "models": [folder]}
    boards = [
        attrial.run(methods=["occlusion"], dtype=dtype, **given)  # type: ignore[arg-type]
        for dtype in (None, "bfloat16")
    ]
    specs = [board.entries[0].record.spec for board in boards]
    assert [spec.model.dtype for spec in specs] == ["float32", "bfloat16"]
    assert specs[0].digest != specs[1].digest and specs[0].model.device is None


def test_cpu_and_auto_are_exact_and_the_same(folder: Path) -> None:
    asked: Callable[[str | None], object] = lambda device: attrial.explain(  # noqa: E731
        folder, families.TEXT, method="occlusion", device=device
    ).scores.tolist()
    assert asked(None) == asked("cpu")
    if not torch.cuda.is_available():
        assert asked("auto") == asked("cpu")


@NO_CUDA
@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--device", "cuda"], "device 'cuda': torch finds no CUDA here; take cpu or auto"),
        (["--device", "cuda:1"], "device 'cuda:1': torch finds no CUDA here; take cpu or auto"),
        (["--device", "gpu"], "can't be moved to device 'gpu'"),
        (["--dtype", "bf16"], "no dtype 'bf16'; did you mean bfloat16"),
    ],
)
@pytest.mark.parametrize("command", ["explain", "run", "check", "score"])
def test_what_is_not_there_is_one_line(
    command: str, option: list[str], said: str, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    texts, rows = tmp_path / "texts.jsonl", tmp_path / "rows.jsonl"
    texts.write_text('{"text": "a film"}\n')
    rows.write_text('{"text": "a film", "players": ["a", "film"], "scores": [0.1, 0.2]}\n')
    more = {
        "explain": ["--text", "a film"],
        "run": ["--data", str(texts), "--method", "occlusion"],
        "check": ["occlusion", "--data", str(texts)],
        "score": [str(rows), "--data", str(texts)],
    }[command]
    argv = ["attrial", command, *more, "--model", str(folder), *option]
    argv += [] if command == "explain" else ["--out", str(tmp_path / "out")]
    monkeypatch.setattr("sys.argv", argv)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    shown = capsys.readouterr().err.strip()
    assert ended.value.code == 2 and said in shown and "\n" not in shown


def test_a_loaded_model_keeps_its_own() -> None:
    pair = (families.model("bert"), families.tokenizer("bert"))
    with pytest.raises(AttrialError, match="a loaded model keeps its dtype and device"):
        attrial.explain(pair, families.TEXT, dtype="bfloat16")
    with pytest.raises(AttrialError, match="a loaded model keeps its dtype and device"):
        attrial.explain(pair, families.TEXT, device="cpu")


def test_a_suite_names_are_checked() -> None:
    with pytest.raises(AttrialError, match=r"dtype=torch\.bfloat16; it takes a name"):
        attrial.run(["planted_keyword"], ["occlusion"], dtype=torch.bfloat16)  # type: ignore[arg-type]


def test_another_device_makes_another_run_and_the_cpu_keeps_its_name() -> None:
    cpu = ModelSpec(name="m", weights="w")
    assert cpu.device is None and cpu.model_copy(update={"device": "cuda:0"}) != cpu


def test_float64_stays_a_choice(folder: Path) -> None:
    c = TextClassifier.load(folder, dtype="float64")
    assert c.spec.dtype == "float64"
