"""Critical-difference diagrams: everything is on them, in its place, and escaped."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import stats
from attrial.report.critical_difference import AXIS, critical_difference_svg

Line = list[tuple[float, float]]


def elements(svg: str, kind: str, role: str | None = None) -> list[ElementTree.Element]:
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}" + kind)
    return [e for e in found if role is None or e.get("class") == role]


def words(svg: str) -> list[list[str]]:
    """What the methods' texts say, a list of their parts each."""
    return [[part.text or "" for part in e] for e in elements(svg, "text", "method")]


def bars(svg: str) -> Line:
    """Left and right end of each bar."""
    drawn = [e.get("d") or "" for e in elements(svg, "path", "clique")]
    found = [re.fullmatch(r"M([\d.]+),[\d.]+ H([\d.]+)", d) for d in drawn]
    return [(float(m[1]), float(m[2])) for m in found if m]


def stems(svg: str) -> list[tuple[float, float, float]]:
    """(x, y of the name, x of the name) of each line from the axis to a name."""
    drawn = [e.get("d") or "" for e in elements(svg, "path")]
    found = [re.fullmatch(r"M([\d.]+),[\d.]+ V([\d.]+) H([\d.]+)", d) for d in drawn]
    return [(float(m[1]), float(m[2]), float(m[3])) for m in found if m]


def test_every_name_is_there_with_its_rank() -> None:
    svg = critical_difference_svg(
        ["b", "a", "c"], [1.25, 1.75, 3.0], [(0, 1), (1, 2)], difference=1.657
    )
    assert words(svg) == [["b", "1.25"], ["a", "1.75"], ["3.00", "c"]]
    assert "critical difference 1.66" in svg


def test_places_follow_the_ranks() -> None:
    """On an axis from 1 to 3 the rank 1.25 lies at an eighth; bars join the right methods."""
    svg = critical_difference_svg(
        ["b", "a", "c"], [1.25, 1.75, 3.0], [(0, 1), (1, 2)], difference=1.657
    )
    (b, a, c) = [x for x, _, _ in stems(svg)]
    assert a - b == pytest.approx(AXIS / 4)
    assert c - b == pytest.approx(AXIS * 7 / 8)
    (first, second) = bars(svg)
    assert first == pytest.approx((b - 4, a + 4))
    assert second == pytest.approx((a - 4, c + 4))


def test_names_are_escaped() -> None:
    name = "<script>alert('x')</script> & \"y\""
    svg = critical_difference_svg([name, "b"], [1, 2], [], difference=0.5)
    assert "<script" not in svg
    assert words(svg)[0] == [name, "1.00"]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 100))
def test_no_lines_cross_and_nothing_leaves_the_drawing(k: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, max(k, 2))).round(1) + np.linspace(1, 0, max(k, 2))
    ranks = stats.average_ranks(values, higher=True)
    difference = stats.critical_difference(len(ranks), n)
    groups = stats.cliques(ranks, difference)
    names = [f"method_{i}" for i in range(len(ranks))]
    svg = critical_difference_svg(names, ranks.tolist(), groups, difference=difference)
    size = ElementTree.fromstring(svg).attrib
    assert len(bars(svg)) == len(groups)
    assert {part for parts in words(svg) for part in parts} >= set(names)
    lines = stems(svg)
    assert len({(y, end) for _, y, end in lines}) == len(names)
    assert all(y < float(size["height"]) and 0 <= x <= float(size["width"]) for x, y, _ in lines)
    for x, y, end in lines:  # a way out sideways meets no line that goes deeper
        between = [b for a, b, _ in lines if min(x, end) < a < max(x, end)]
        assert all(other < y for other in between)


def test_bars_that_overlap_are_on_different_levels() -> None:
    """Eight groups over 35 methods: no two on one level share a rank."""
    ranks = [float(i) for i in range(35)]
    groups = stats.cliques(ranks, 7.5)
    svg = critical_difference_svg([str(i) for i in range(35)], ranks, groups, difference=7.5)
    levels: dict[str, Line] = {}
    for element, ends in zip(elements(svg, "path", "clique"), bars(svg), strict=True):
        level = (element.get("d") or "").split(",")[1].split()[0]
        levels.setdefault(level, []).append(ends)
    assert len(levels) < len(groups)
    for drawn in levels.values():
        drawn.sort()
        assert all(a[1] < b[0] for a, b in pairwise(drawn))


@pytest.mark.parametrize(
    ("names", "ranks"), [([], []), (["a"], [1.0, 2.0]), (["a", "b"], [1.0, float("nan")])]
)
def test_what_cannot_be_drawn_is_refused(names: list[str], ranks: list[float]) -> None:
    with pytest.raises(ValueError, match="one finite rank"):
        critical_difference_svg(names, ranks, [], difference=1.0)
