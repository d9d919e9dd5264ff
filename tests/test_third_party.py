"""A package made by somebody else is built, installed and found by its entry point."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RUN = """
import sys
sys.path.insert(0, {site!r})
from attrial import registry, testing
assert registry.plugins("methods")["leave_two_out"].shipped_by == "attrial-example-plugin 7.1.0"
game = testing.game(3, lambda masks: masks @ [1.0, 2.0, 0.0])
print(testing.attribute("leave_two_out(weight=3.0)", game).round(6).tolist())
for check in testing.CHECKS:
    check("leave_two_out")
"""


@pytest.mark.slow
def test_a_third_party_package_is_built_installed_and_found(tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip"]
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-q"]
    subprocess.run([*wheel, "-w", str(tmp_path), str(HERE / "third_party")], check=True)
    (built,) = tmp_path.glob("*.whl")
    install = [*pip, "install", "--no-deps", "-q", "--target", str(site), str(built)]
    subprocess.run(install, check=True)
    ran = subprocess.run(
        [sys.executable, "-c", RUN.format(site=str(site))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    # additive weights w: own weight in every pair, partners' weights on average
    assert ran.stdout.strip() == str([3 * (w + (3 - w) / 3) for w in (1.0, 2.0, 0.0)])
