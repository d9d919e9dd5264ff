"""What names a run: all that decides its numbers, and nothing else."""

import pytest

from attrial.record import DataSpec, ModelSpec, PluginSpec, Spec


def spec(method: str = "attrial 0.1.0", metric: str = "attrial 0.1.0", version: int = 1) -> Spec:
    return Spec(
        data=DataSpec(task="t", source="s", digest="d", count=1),
        model=ModelSpec(name="m", weights="w"),
        players="words",
        target="log_odds of the predicted class",
        explained_under="mask",
        removal="mask",
        method=PluginSpec(name="lime", version=version, shipped_by=method),
        label="lime",
        metrics={"aopc": PluginSpec(name="aopc", shipped_by=metric)},
        seed=0,
    )


FILE, OTHER = (f"file mine.py sha256 {digit * 12}" for digit in "01")


@pytest.mark.parametrize("shipped_by", ["attrial 0.2.0", "attrial 1.0.0.dev3+local", "attrial"])
def test_a_release_renames_no_run(shipped_by: str) -> None:
    assert spec(shipped_by).digest == spec().digest == spec(metric=shipped_by).digest
    assert spec(shipped_by).method.shipped_by == shipped_by  # and yet the record tells it


@pytest.mark.parametrize("other", ["others 0.1.0", FILE, "rows sha256 0123456789ab", "unknown", ""])
def test_another_origin_does(other: str) -> None:
    assert len({spec().digest, spec(other).digest, spec(metric=other).digest}) == 3


def test_so_does_another_content_of_a_file_and_another_version() -> None:
    assert spec(FILE).digest != spec(OTHER).digest
    assert spec(metric=FILE).digest != spec(metric=OTHER).digest
    assert spec(version=2).digest != spec().digest
