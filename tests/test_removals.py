"""Removals against a slow retelling token by token, and the errors of those that can't be done."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial.errors import AttrialError, NotApplicable
from attrial.example import Example
from attrial.filling import Corpus
from attrial.masks import Bools, Masks, all_subsets, everything
from attrial.registry import declared, plugin, plugins
from attrial.removal import Rows, Vocabulary, closed_up, in_place, possible, remove, stack

ALL = Vocabulary(mask=4, pad=0, unk=1, filler=Corpus(np.array([9])))
REMOVALS = ("attention_off", "delete", "infill", "mask", "pad", "unk", "zero")
OF_IMAGES = ("blur", "mean")  # tests/test_vision.py
Token = tuple[int, int, int, bool]  # id, segment, place, blank


def example() -> Example:
    """A pair of texts of three words, the second word of two tokens, with three special tokens."""
    return Example(
        id="pair",
        players=("so", "boring", "yes"),
        ids=np.array([2, 10, 11, 12, 3, 13, 3]),
        types=np.array([0, 0, 0, 0, 0, 1, 1]),
        owner=np.array([-1, 0, 1, 1, -1, 2, -1]),
    )


def told(x: Example, kept: Bools, removal: str) -> list[Token]:
    """The visible tokens of one row, worked out one by one."""
    stands_for = {"mask": 4, "pad": 0, "unk": 1, "infill": 9}
    tokens: list[Token] = []
    for place, (token, segment, stays) in enumerate(zip(x.ids, x.types, kept, strict=True)):
        if stays:
            tokens.append((int(token), int(segment), place, False))
        elif removal in stands_for:
            tokens.append((stands_for[removal], int(segment), place, False))
        elif removal == "zero":
            tokens.append((int(token), int(segment), place, True))
    if removal == "delete":
        tokens = [(i, s, place, b) for place, (i, s, _, b) in enumerate(tokens)]
    return tokens


def visible(rows: Rows, k: int) -> list[Token]:
    columns = (rows.ids, rows.types, rows.positions, rows.blank)
    cells = zip(*(c[k][rows.visible[k]].tolist() for c in columns), strict=True)
    return [(int(i), int(s), int(p), bool(b)) for i, s, p, b in cells]


@pytest.mark.parametrize("removal", REMOVALS)
def test_every_mask_of_a_pair_agrees_with_the_slow_telling(removal: str) -> None:
    x = example()
    kept = x.to_positions(all_subsets(3))
    rows = remove(x, kept, removal=removal, vocabulary=ALL)
    for k in range(8):
        assert visible(rows, k) == told(x, kept[k], removal)
        assert not rows.visible[k, rows.lengths[k] :].any()


@pytest.mark.parametrize("removal", REMOVALS)
def test_special_tokens_stay_when_everything_is_removed(removal: str) -> None:
    x = example()
    rows = remove(x, x.to_positions(np.zeros((1, 3), bool)), removal=removal, vocabulary=ALL)
    left = [i for i, _, _, blank in visible(rows, 0) if not blank and i not in (4, 0, 1, 9)]
    assert left == [2, 3, 3]


@pytest.mark.parametrize("removal", REMOVALS)
def test_nothing_removed_is_the_input_itself(removal: str) -> None:
    x = example()
    rows = remove(x, x.to_positions(everything(3)), removal=removal, vocabulary=ALL)
    assert visible(rows, 0) == [
        (int(i), int(s), p, False) for p, (i, s) in enumerate(zip(x.ids, x.types, strict=True))
    ]


def test_removals_differ_from_each_other() -> None:
    x = example()
    kept = x.to_positions(np.array([[True, False, True]]))
    told_by = [visible(remove(x, kept, removal=r, vocabulary=ALL), 0) for r in REMOVALS]
    assert all(a != b for i, a in enumerate(told_by) for b in told_by[i + 1 :])


def test_the_panel_is_these_nine_and_each_says_what_it_does() -> None:
    assert sorted(plugins("removals")) == sorted([*REMOVALS, *OF_IMAGES])
    assert all(declared(plugin("removals", name)).summary for name in REMOVALS)


@pytest.mark.parametrize("removal", ["mask", "pad", "unk"])
def test_a_missing_token_is_named_together_with_what_can_be_done(removal: str) -> None:
    lacking = Vocabulary(
        mask=None if removal == "mask" else ALL.mask,
        pad=None if removal == "pad" else ALL.pad,
        unk=None if removal == "unk" else ALL.unk,
        filler=ALL.filler,
    )
    assert removal not in possible(lacking)
    with pytest.raises(NotApplicable) as told_error:
        remove(example(), np.ones((1, 7), bool), removal=removal, vocabulary=lacking)
    message = str(told_error.value)
    assert f"{removal} token" in message
    assert all(other in message for other in REMOVALS if other != removal)
    assert "\n" not in message


def test_a_wrong_name_is_answered_with_near_ones() -> None:
    with pytest.raises(AttrialError, match="did you mean delete"):
        remove(example(), np.ones((1, 7), bool), removal="delet", vocabulary=ALL)


def test_a_row_without_anything_visible_is_an_error() -> None:
    x = example()
    with pytest.raises(AttrialError, match="leaves nothing visible of example 'pair'"):
        remove(x, np.zeros((1, 7), bool), removal="delete", vocabulary=ALL)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 9))
def test_closing_up_keeps_what_is_visible_in_its_order(seed: int, k: int, t: int) -> None:
    rng = np.random.default_rng(seed)
    x = Example("r", (), rng.integers(9, size=t), rng.integers(2, size=t), np.full(t, -1))
    kept: Masks = rng.random((k, t)) < 0.5
    rows = closed_up(in_place(x, k, visible=kept))
    for i in range(k):
        assert visible(rows, i) == told(x, kept[i], "attention_off")
        assert rows.lengths[i] == kept[i].sum()
        assert all(b > a for a, b in pairwise(p for _, _, p, _ in visible(rows, i)))


def test_stacked_rows_are_padded_with_what_nobody_sees() -> None:
    x = example()
    short = closed_up(in_place(x, 2, visible=x.to_positions(np.zeros((2, 3), bool))))
    rows = stack([in_place(x, 1), short], width=9, pad=5)
    assert rows.ids.shape == (3, 9)
    assert rows.lengths.tolist() == [7, 3, 3]
    assert rows.ids[0].tolist() == [2, 10, 11, 12, 3, 13, 3, 5, 5]
    assert rows.visible.sum(axis=1).tolist() == [7, 3, 3]


def test_rows_that_closed_up_may_be_stacked_in_less_than_their_old_width() -> None:
    x = example()
    short = closed_up(in_place(x, 1, visible=x.to_positions(np.zeros((1, 3), bool))))
    rows = stack([short], width=4, pad=7)
    assert rows.ids.tolist() == [[2, 3, 3, 7]]  # what was removed is gone behind the end too
    assert rows.visible.tolist() == [[True, True, True, False]]
