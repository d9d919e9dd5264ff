"""The pages for authors and readers: their code runs, and prints what they say."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attrial import plugin_call, registry
from attrial.example import plain
from attrial.masks import Floats
from benchmarks import flow_cut

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), flags=re.DOTALL)


def printed(source: str, folder: Path) -> str:
    (folder / "check.py").write_text(source)
    command = [sys.executable, "-W", "error", "check.py"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize(
    ("page", "kind", "name"),
    [
        ("writing-a-method.md", "methods", "both_ways"),
        ("writing-a-metric.md", "metrics", "sign_agreement"),
    ],
)
def test_a_tutorial_does_what_it_says(page: str, kind: str, name: str, tmp_path: Path) -> None:
    plugin, check, *_ = blocks(page, "python")
    path = tmp_path / f"{name}.py"
    path.write_text(plugin)
    assert printed(check, tmp_path) in blocks(page, "text")
    assert registry.declared(registry.plugin(kind, str(path))).summary.endswith(".")
    assert plugin_call.bind(kind, str(path)).plugin.name == name
    assert f"./{name}.py" in (DOCS / page).read_text()


def test_the_code_on_statistics_prints_what_its_comments_say(tmp_path: Path) -> None:
    for block in blocks("statistics.md", "python"):
        said = re.findall(r"^print\(.*\)  # (.+)$", block, flags=re.MULTILINE)
        lines = printed(block, tmp_path).splitlines()
        assert len(said) == len(lines) > 0
        for claim, line in zip(said, lines, strict=True):
            about = re.fullmatch(r"about (.+)", claim)
            if about:
                assert float(line) == pytest.approx(float(about[1]), abs=0.01)
            else:
                assert line == claim


def attention(keeps: float, n: int = 4) -> Floats:
    """Three layers whose position 0 looks at itself with weight ``keeps``, the others evenly."""
    weights = np.full((3, n, n), 1 / n)
    weights[:, 0] = (1 - keeps) / (n - 1)
    weights[:, 0, 0] = keeps
    weights[0, 0, 1:] = (1 - keeps) * np.array([0.5, 0.3, 0.2])
    return weights


def test_the_benchmark_knows_the_columns_cut_where_it_is_narrow_and_where_it_is_not() -> None:
    narrow, (rho, *_) = flow_cut.measures(plain(4), attention(0.9))
    assert narrow == [False, True, True, True]  # to itself the read position is not limited so
    assert rho == pytest.approx(1)
    assert not any(flow_cut.measures(plain(4), attention(0.0))[0])
