"""Hints that say why attributions don't fit their example, pairs of texts, and the page on it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attrial.alignment import check_players, matched
from attrial.attribution import Attribution
from attrial.board import Board
from attrial.errors import AttrialError
from attrial.example import Example, plain

KNOWN = {"0": ("a b",), "1": ("c",), "2": ("a b",)}
PAIRS = {"0": ("a b", "c"), "1": ("a b", "d")}


def row(*players: str, id: str | None = "0", texts: tuple[str, ...] = ()) -> Attribution:
    return Attribution("f, line 1", "m", id, texts, players, tuple(np.zeros(len(players))))


def example(*players: str, truncated: int = 0) -> Example:
    return replace(plain(len(players)), id="0", players=players, truncated=truncated)


HINTS = {
    "cut": (
        row("a", "b", "c"),
        example("a", "b", truncated=1),
        "words",
        "leave out what was cut (words: 1)",
    ),
    "pieces of tokens": (row("a", "##b"), example("a", "b"), "tokens", "without marks"),
    "pieces": (row("▁a", "▁b"), example("a", "b"), "words", "sum the scores of each word's tokens"),
    "end of words": (row("a</w>"), example("a"), "words", "sum the scores"),
    "case": (row("A"), example("a"), "tokens", "differ in case alone"),
    "other words": (row("a", "b."), example("a", "b"), "words", "between white space, punctuation"),
}


@pytest.mark.parametrize("case", HINTS)
def test_a_mismatch_comes_with_its_likeliest_reason(case: str) -> None:
    found, x, kind, said = HINTS[case]
    with pytest.raises(AttrialError) as told:
        check_players(found, x, kind)
    assert said in str(told.value) and "\n" not in str(told.value)


def test_no_reason_is_made_up() -> None:
    with pytest.raises(AttrialError, match=r"\(1 and 1 players\)$"):
        check_players(row("b"), example("a"), "tokens")
    check_players(row("a", "b"), example("a", "b"), "words")


def test_a_text_serves_all_examples_that_have_it_and_a_pair_is_one_text() -> None:
    shared = row("a", "b", id=None, texts=("a b",))
    assert matched("m", [shared], KNOWN) == {"0": shared, "2": shared}
    second = row("a", "b", "d", id=None, texts=("a b", "d"))
    assert matched("m", [second], PAIRS) == {"1": second}
    with pytest.raises(AttrialError, match="its examples are pairs: give 'text_pair' too"):
        matched("m", [shared], PAIRS)
    with pytest.raises(AttrialError, match="'0' twice"):
        matched("m", [shared, row("a", "b")], KNOWN)


def test_the_page_on_scoring_shows_code_that_runs() -> None:
    page = (Path(__file__).parents[1] / "docs/scoring.md").read_text()
    names: dict[str, object] = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    board = names["board"]
    assert isinstance(board, Board) and "longest word" in set(board.frame().method)
