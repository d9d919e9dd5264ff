"""Tables for papers: groups close, rows have all cells, words of others are typeset as words."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial import leaderboard, report
from attrial.report.latex import comment, escape, to_latex
from attrial.store import Entry
from tests import made_up
from tests.hand_made import By, entry

SPECIAL = re.compile(r"(?<!\\)[&%$#_~^<>|]")


def latex(entries: Sequence[Entry], command: str = "") -> str:
    return to_latex(leaderboard.rows(entries), command=command)


def typeset(text: str) -> str:
    """What is no comment."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("%"))


def check(text: str) -> None:
    """Braces, mathematics and environments are closed, and rows are as wide as their table."""
    body = typeset(text)
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", body):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert len(re.findall(r"(?<!\\)\$", body)) % 2 == 0
    open_ones: list[str] = []
    for word, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if word == "begin":
            open_ones.append(name)
        else:
            assert open_ones.pop() == name
    assert not open_ones
    for columns, table in re.findall(
        r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", body, re.S
    ):
        rows = [line for line in table.splitlines() if line.endswith(r"\\")]
        assert rows and all(len(re.findall(r"(?<!\\)&", r)) + 1 == len(columns) for r in rows)
        for rule in ("toprule", "midrule", "bottomrule"):
            assert f"\\{rule}" in table


def test_tables_are_whole() -> None:
    text = latex(made_up.entries(["one", "two"], removals=("mask", "delete"), n=12))
    check(text)
    assert text.count(r"\begin{table}") == 2 * (2 + 2 + 1)  # five metrics are cut in two


def test_the_caption_says_what_a_reader_must_know() -> None:
    text = latex(made_up.entries(n=12), command="attrial run --seed 0")
    caption = re.findall(r"\\caption\{(.*)\}\n", text)[0]
    for said in ("planted\\_keyword", "n = 12 examples", "seed 0", "removed by mask", "bold"):
        assert said in caption
    assert text.startswith("% Needs \\usepackage{booktabs}.\n% Made by: attrial run --seed 0\n")
    assert "% weights: 0123456789abcdef" in text
    assert r"aopc $\uparrow$" in text and r"deletion auc $\downarrow$" in text


def test_the_best_is_bold_and_the_tied_share_a_letter() -> None:
    top, low = [1.0 + 0.01 * i for i in range(12)], [0.01 * i for i in range(12)]
    entries = [entry(By(m, {"aopc": v})) for m, v in (("a_b", top), ("c", low), ("d", low))]
    lines = {line.split(" & ")[0]: line for line in latex(entries).splitlines() if " & " in line}
    assert r"$\mathbf{1.055}^{\mathrm{a}}$ {\scriptsize $[" in lines[r"\texttt{a\_b}"]
    assert r"$0.055^{\mathrm{b}}$" in lines[r"\texttt{c}"]
    assert r"$0.055^{\mathrm{b}}$" in lines[r"\texttt{d}"]


def test_what_is_undefined_or_not_applicable_is_marked() -> None:
    some: list[float | None] = [0.1, 0.2, None, 0.4]
    whole: list[float | None] = [0.1, 0.2, 0.3, 0.4]
    none: list[float | None] = [None] * 4
    text = latex(
        [
            entry(By("a", {"aopc": some}), reason="short"),
            entry(By("b", {"aopc": whole})),
            entry(By("c", {"aopc": none}), reason="not applicable: needs 'attend'"),
            entry(By("random_order", {"aopc": whole})),
        ]
    )
    check(text)
    assert "(3/4)" in text and "(k/n): defined on k of n examples." in text
    assert r"\texttt{c} & n/a \\" in text
    assert r"\emph{random order} & $0.250$" in text


@given(st.text(max_size=40))
def test_words_of_others_are_text(words: str) -> None:
    shown = escape(words)
    assert "\n" not in shown
    bare = re.sub(r"\\text\w+\{\}", "", shown)
    assert not SPECIAL.search(bare)
    assert not re.search(r"(?<!\\)[{}]", bare) and not re.search(r"\\(?![{}&%$#_])", bare)
    assert "\n" not in comment(words) and comment(words).startswith("% ")


@pytest.mark.parametrize("evil", ["a}\\input{x}", "50%_$&#^~{", "\\", "two\nlines % here"])
def test_evil_names_break_nothing(evil: str) -> None:
    found = [entry(By(evil, {"aopc": [0.1, 0.2]}), task=evil), entry(By("b", {"aopc": [0.3, 0.4]}))]
    text = latex(found, command=evil)
    check(text)
    assert "\\input" not in typeset(text)


def test_it_is_one_of_the_forms() -> None:
    entries = made_up.entries(n=6)
    assert report.render(entries, "latex", command="c") == latex(entries, "c")
    assert "No" not in typeset(latex([]))
