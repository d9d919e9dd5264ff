"""Words, tokens, sentences and spans: every position belongs to exactly one player or stays."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial.errors import AttrialError
from attrial.example import FIXED, Example
from attrial.models.encode import Encoder
from attrial.models.players import PLAYERS, Span, sentences, words
from tests import decoders, tiny

PARTS = st.lists(
    st.sampled_from([*tiny.WORDS, "acting", ".", "!", "? ", "\n", "  ", "...", "dull.", '."']),
    min_size=1,
    max_size=20,
)
TEXTS = st.lists(PARTS.map(" ".join).filter(str.strip), min_size=1, max_size=2)
Triples = list[tuple[int, int, int]]


def encoder(kind: str) -> Encoder:
    if kind == "decoder":
        words = decoders.tokenizer()
        return Encoder(words, 200, False, words.bos_token_id, True)
    return Encoder(tiny.tokenizer(kind), 200, False)


def cuts(data: st.DataObject, texts: list[str]) -> Triples:
    """Some spans apart from each other, in both texts, each with a letter or a mark."""
    found = []
    for i, text in enumerate(texts):
        places = st.integers(0, len(text))
        edges = sorted(data.draw(st.sets(places, min_size=0, max_size=4)))
        pairs = zip(edges[::2], edges[1::2], strict=False)
        found += [(i, a, b) for a, b in pairs if text[a:b].strip()]
    return found


def first(texts: list[str], place: tuple[int, tuple[int, int]]) -> tuple[int, int]:
    """Text and character at which a token begins, white space left out."""
    text, (start, end) = place
    while start < end and texts[text][start].isspace():
        start += 1
    return text, start


def within(at: tuple[int, int], spans: Triples) -> bool:
    return any(at[0] == t and a <= at[1] < b for t, a, b in spans)


@settings(deadline=None, max_examples=60)
@given(st.data(), TEXTS, st.sampled_from(PLAYERS), st.sampled_from(["bert", "roberta", "decoder"]))
def test_each_position_is_one_players_or_fixed(
    data: st.DataObject, texts: list[str], players: str, kind: str
) -> None:
    spans, fixed = cuts(data, texts), cuts(data, texts)
    e = encoder(kind)
    told = e.tokenizer(*texts, return_offsets_mapping=True)
    places = zip(told.sequence_ids(), told["offset_mapping"], strict=True)
    begins: list[tuple[int, int] | None] = [None] if e.anchor is not None else []
    begins += [None if text is None else first(texts, (text, at)) for text, at in places]
    try:
        x = e.encode("x", texts, players=players, spans=spans, fixed=fixed)
    except AttrialError:  # then nothing of the text is free
        free = [b for b in begins if b is not None and not within(b, fixed)]
        assert not [b for b in free if players != "spans" or within(b, spans)]
        return
    assert sorted(set(x.owner) - {FIXED}) == list(range(x.n))  # none is empty, none is skipped
    for at, owner in zip(begins, x.owner, strict=True):
        stays = at is None or within(at, fixed) or (players == "spans" and not within(at, spans))
        assert (owner == FIXED) == stays
    assert np.array_equal(x.to_players(np.ones(len(x.ids))).sum(), (x.owner != FIXED).sum())
    assert (np.diff(x.owner[x.owner != FIXED]) >= 0).all()


def names(
    text: str, players: str, *, spans: Triples | None = None, fixed: Triples | None = None
) -> tuple[str, ...]:
    e = encoder("bert")
    return e.encode("x", [text], players=players, spans=spans or [], fixed=fixed or []).players


CUT = {
    "a film. The plot is dull!": ("a film.", "The plot is dull!"),
    "a film . the plot ? ! is dull": ("a film .", "the plot ? !", "is dull"),
    'the "plot." (A film!) is good': ('the "plot."', "(A film!)", "is good"),
    "a film\nthe plot\n\nis bad\n": ("a film", "the plot", "is bad"),
    "very good... and bad": ("very good...", "and bad"),
    "the plot is 3.5 good": ("the plot is 3.5 good",),
    "! a film": ("!", "a film"),
    "\u597d\u3002\u574f\uff01\u300d\u597d": ("\u597d\u3002", "\u574f\uff01\u300d", "\u597d"),
}


@pytest.mark.parametrize("text", CUT)
def test_sentences_by_their_marks(text: str) -> None:
    assert names(text, "sentences") == CUT[text]
    assert "".join(CUT[text]).replace(" ", "") == re.sub(r"\s", "", text)  # nothing is lost


@given(TEXTS)
def test_sentences_hold_whole_words_and_all_of_them(texts: list[str]) -> None:
    found = sentences(texts)
    for word in words(texts):
        assert sum(_covers(s, word) for s in found) == 1
    assert found == sorted(found)


def _covers(s: Span, word: Span) -> bool:
    return s.text == word.text and s.start <= word.start and word.end <= s.end


def test_spans_from_the_data_and_what_lies_between_stays() -> None:
    x = encoder("bert").encode(
        "x", ["the plot was not good", "a film"], players="spans", spans=[(1, 2, 6), (0, 4, 12)]
    )
    assert x.players == ("plot was", "film")
    assert x.owner.tolist() == [FIXED, FIXED, 0, 0, FIXED, FIXED, FIXED, FIXED, 1, FIXED]


def test_fixed_parts_are_nobodys_and_cut_words() -> None:
    fixed = [(0, 0, 8), (0, 12, 17)]
    assert names("Review: good. So?", "words", fixed=fixed) == ("good",)
    assert names("Review: good. So?", "sentences", fixed=fixed) == ("good",)
    assert names("Review: good. So?", "tokens", fixed=fixed) == ("good",)


FAULTS: dict[str, Triples] = {
    r"'x': the spans \(0, 0, 4\) and \(0, 3, 6\) share characters": [(0, 3, 6), (0, 0, 4)],
    r"'x': span \(0, 2, 99\) lies outside": [(0, 2, 99)],
    r"'x': span \(1, 0, 1\) lies outside": [(1, 0, 1)],
    r"'x' names no spans": [],
    "'x': the tokenizer leaves no token": [(0, 3, 4)],
}


@pytest.mark.parametrize("message", FAULTS)
def test_spans_that_can_not_be_players(message: str) -> None:
    with pytest.raises(AttrialError, match=message):
        names("the plot", "spans", spans=FAULTS[message])


def test_players_are_part_of_what_an_example_is() -> None:
    told: list[Example] = [
        encoder("bert").encode("x", ["a film. dull"], players=p) for p in ("words", "sentences")
    ]
    assert told[0].digest != told[1].digest
