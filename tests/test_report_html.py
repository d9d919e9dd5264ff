"""The page: complete, self-contained, escaped; curves and heatmaps against plain derivations."""

import html.parser
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial import report
from attrial.report import figures, heatmap, ledger, parts_html, svg
from attrial.report.account import document
from attrial.store import Entry
from tests import made_up
from tests.made_up import Made

VOID = {"meta", "br", "wbr", "link"}
EVIL = "<script>alert('x')</script>&\"'"


class Reader(html.parser.HTMLParser):
    """Tags, attributes and text of a page; unbalanced tags are a fault."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        """All words, one space between."""
        return " ".join("".join(self.words).split())


@pytest.fixture(scope="module")
def page() -> str:
    tasks = ["planted_keyword", "imdb"]
    found = made_up.entries(tasks, removals=("mask", "delete"), n=8)
    return report.page(found, command="attrial run --seed 0")


def test_the_page_needs_nothing_else(page: str) -> None:
    reader = Reader(page)
    assert reader.tags["script"] == reader.tags["link"] == reader.tags["img"] == 0
    assert not [a for a in reader.attributes if a[1] in ("src", "srcset", "onclick", "onload")]
    assert all(a[2].startswith("#") for a in reader.attributes if a[1] == "href")
    assert "url(" not in page and "@import" not in page and "http" not in page


def test_the_page_holds_every_value_and_control(page: str) -> None:
    reader = Reader(page)
    tables = len([a for a in reader.attributes if a == ("table", "class", "board")])
    assert tables == 2 * 3  # two tasks; mask, delete and evidence
    for words in ("aopc ↑", "deletion auc ↓", "best order", "random order", "worst order"):
        assert words in reader.text
    assert "attrial run --seed 0" in reader.text
    assert "takes no more: 2" in reader.text
    assert "undefined on 1 of 8 (the empty input keeps the <prediction>)" in reader.text
    assert reader.tags["svg"] > 2 * 4


def test_bars_lie_within_their_frames(page: str) -> None:
    widths = [float(w) for w in re.findall(r"(?:width|left):([\d.-]+)%", page)]
    assert len(widths) > 100
    assert all(0 <= w <= 100 for w in widths)


def test_words_of_users_are_escaped_everywhere() -> None:
    made = Made(task=EVIL, model=EVIL, n=2, metrics=("aopc",))
    plain = made_up.entry(made, EVIL, 0.5)
    trials = [
        t.model_copy(
            update={
                "id": EVIL,
                "players": [EVIL] * len(t.players),
                "notes": {EVIL: 1.0},
                "curves": {EVIL: [1.0, 0.0]},
                "values": {"aopc": None},
                "reasons": {"aopc": EVIL},
            }
        )
        for t in plain.trials
    ]
    metrics = plain.record.spec.metrics
    record = made_up.record_of(plain.record.spec.model_copy(update={"metrics": metrics}), trials)
    record = record.model_copy(update={"warnings": {EVIL: 1}, "made_with": {EVIL: EVIL}})
    page = report.page([Entry(record, trials)], command=EVIL)
    reader = Reader(page)
    assert reader.tags["script"] == 0
    assert EVIL.split("(")[0] in "".join(reader.words)
    assert "&lt;script&gt;" in page


def test_one_example_one_method_is_a_page() -> None:
    found = made_up.entry(Made(n=1, metrics=("aopc",)), "random", 0.0)
    assert "Only random was tried." in Reader(report.page([found])).text
    bare = Entry(found.record, [])
    assert "random" in Reader(report.page([bare])).text


def test_mean_curve_equals_a_loop() -> None:
    rng = np.random.default_rng(0)
    curves = [rng.random(n + 1).tolist() for n in (1, 3, 7, 12)]
    slow = []
    for share in np.arange(41) / 40:
        total = 0.0
        for curve in curves:
            at = share * (len(curve) - 1)
            below = min(int(at), len(curve) - 2)
            total += curve[below] + (at - below) * (curve[below + 1] - curve[below])
        slow.append(total / len(curves))
    np.testing.assert_allclose(svg.mean_curve(curves), slow, atol=1e-12)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_ticks_span_the_values(low: float, width: float) -> None:
    marks = svg.ticks(low, low + width)
    room = 1e-6 * max(1.0, abs(low), width)
    assert 2 <= len(marks) <= 9
    assert marks[0] <= low + room and low + width <= marks[-1] + room
    steps = np.diff(marks)
    np.testing.assert_allclose(steps, steps[0], atol=2 * float(np.spacing(np.abs(marks).max())))


def test_a_chart_draws_values_where_they_belong() -> None:
    line = svg.Series("m", "s0", np.linspace(1, 0, 41))
    chart = svg.chart("t", x_label="x", y_label="y", series=[line])
    ((_, path),) = chart.paths
    points = [tuple(map(float, p.split(","))) for p in path.removeprefix("M").split(" L")]
    assert points[0] == (chart.left, chart.top)
    assert points[-1] == (chart.right, chart.bottom)
    assert [t.label for t in chart.y_ticks] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    flat = svg.chart("t", x_label="", y_label="", series=[svg.Series("m", "", np.full(41, 5.0))])
    assert "nan" not in flat.paths[0][1]


def test_figures_hold_each_curve_of_each_removal_with_its_best_first() -> None:
    found = made_up.entries(removals=("mask", "delete"), n=20)
    drawn = figures.figures(found, figures.styles(list(made_up.QUALITY)))
    assert [f.chart.title for f in drawn] == [
        "deletion · mask",
        "insertion · mask",
        "deletion · delete",
        "insertion · delete",
    ]
    for figure in drawn:
        order = [series.name for series, _ in figure.chart.paths]
        assert order[0] in ("shapley", "occlusion")
        assert set(order[-3:]) == set(made_up.CONTROLS)


def test_styles_differ_as_far_as_there_are_any() -> None:
    many = [f"m{i:02d}" for i in range(24)]
    assert len({figures.styles(many)[m] for m in many}) == 24


def test_samples_are_matched_by_id_and_few() -> None:
    found = [made_up.entry(Made(n=5), label, 0.9) for label in ("a", "b")]
    turned = [found[0], Entry(found[1].record, found[1].trials[::-1])]
    shown = figures.samples(turned, ["b", "a"])
    assert [s.id for s in shown] == [t.id for t in found[1].trials[::-1]][:3]
    for sample in shown:
        lines = [words for _, words in sample.lines if isinstance(words, list)]
        texts = [" ".join(word.text for word in words).split() for words in lines]
        assert [name for name, _ in sample.lines] == ["b", "a"]
        assert texts[0] == texts[1]


def test_heatmap_colours_follow_sign_and_size() -> None:
    fragment = report.html_heatmap(
        ["bad", "none", "good"], [-2.0, 0.0, 1.0], truth=[False, False, True]
    )
    spans = re.findall(r'title="([^"]+)" style="background:rgba\(([^)]+)\)([^"]*)">(\w+)', fragment)
    assert [(title, colour, word) for title, colour, _, word in spans] == [
        ("-2", "0,114,178,0.750", "bad"),
        ("+0", "0,114,178,0.000", "none"),
        ("+1", "213,94,0,0.375", "good"),
    ]
    assert ["underline" in rest or "border-bottom" in rest for _, _, rest, _ in spans] == [
        False,
        False,
        True,
    ]


def test_heatmap_in_text_keeps_the_text() -> None:
    text = ("A gorgeous, witty film!", "Is it? <b>")
    spans = [(2, 10), (12, 17), (0, 2), (3, 5)]
    players = [(text[0] if i < 2 else text[1])[a:b] for i, (a, b) in enumerate(spans)]
    fragment = report.html_heatmap(players, [1, 2, -1, 0], text=text, spans=spans)
    assert "".join(Reader(fragment).words).strip() == "\n".join(text)
    titles = re.findall(r'title="[^"]+"[^>]*>([^<]+)<', fragment)
    assert titles == players


def test_heatmap_escapes_and_shows_its_caption() -> None:
    fragment = report.html_heatmap([EVIL], [1.0], caption=EVIL)
    assert "<script" not in fragment
    assert "".join(Reader(fragment).words).count(EVIL) == 2


def test_heatmap_of_a_long_text_is_cut_and_says_so() -> None:
    fragment = report.html_heatmap(["w"] * 150, [1.0] * 150)
    assert fragment.count("<span") == heatmap.SHOWN
    assert "… and 30 more" in fragment


def test_heatmap_of_nothing() -> None:
    assert Reader(report.html_heatmap([], [])).text == ""
    assert report.terminal_heatmap([], []).plain == ""


def test_terminal_heatmap_takes_brackets_literally_and_colours() -> None:
    shown = report.terminal_heatmap(
        ["[bold]x", "y", "z"], [2.0, -1.0, 0.0], truth=[True, False, False]
    )
    assert shown.plain == "[bold]x y z"
    first, second = (span.style for span in shown.spans[:2])
    assert "rgb(224,134,64)" in str(first).replace(" ", "") or "#e08640" in str(first)
    assert str(first).startswith("underline") and "underline" not in str(second)


def test_ledger_counts_explanations_once_and_per_example() -> None:
    found = made_up.entries(removals=("mask", "delete"), n=4)
    lines = {line.method: line for line in ledger.costs(found)}
    assert set(lines) == set(made_up.QUALITY)
    asked = sum(len(t.players) for t in found[0].trials) / 4
    assert lines["occlusion"].rows == pytest.approx(asked)
    noted = [line for line in ledger.notes(found) if line.method == "occlusion"]
    gaps = [float(t.notes["completeness_gap"]) for t in found[0].trials]  # type: ignore[arg-type]
    assert noted[0].median == pytest.approx(np.median(gaps))
    assert noted[0].largest == max(gaps)


def test_warnings_that_all_share_are_said_once() -> None:
    found = made_up.entries(n=2)
    shared = [
        Entry(e.record.model_copy(update={"warnings": {"truncated": 2}}), e.trials) for e in found
    ]
    assert ledger.warnings(shared) == {"truncated": {"": 2}}
    one = [Entry(found[0].record.model_copy(update={"warnings": {"odd": 3}}), []), *found[1:]]
    assert ledger.warnings(one) == {"odd": {found[0].record.spec.label: 3}}


def test_controls_have_no_scores_to_show() -> None:
    control = made_up.entry(Made(n=2, metrics=("aopc",)), "best_order", 1.0)
    assert figures.samples(ledger.own([control]), ["best_order"]) == []


class Boxes(html.parser.HTMLParser):
    """Tables, each with what it lies in."""

    def __init__(self) -> None:
        super().__init__()
        self.last: dict[str, str] = {}
        self.tables: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {k: v or "" for k, v in attrs}
        if tag == "table":
            self.tables.append((given.get("class", ""), self.last.get("class", "")))
        self.last = given


def test_wide_tables_scroll_in_their_own_box_beside_the_names_of_methods() -> None:
    found = made_up.entries(removals=("mask", "delete"), n=6)
    for text in (report.page(found), parts_html.html("A title", document(found))):
        boxes = Boxes()
        boxes.feed(text)
        wide = [box for kind, box in boxes.tables if kind in ("board", "glance", "matrix")]
        assert wide and set(wide) == {"scroll"}
        rules = dict(re.findall(r"^(\.[^{]+?) \{([^}]+)\}", text, flags=re.M))
        assert "overflow-x: auto" in rules[".scroll"]
        names = rules['.scroll th[scope="row"], .scroll thead th:first-child']
        assert "position: sticky" in names and "background: var(--paper)" in names
        heads = (
            rules[".board thead th"] + rules[".board tbody th"] + rules.get(".plain thead th", "")
        )
        assert "anywhere" not in heads and "break-word" not in heads  # no word is cut
