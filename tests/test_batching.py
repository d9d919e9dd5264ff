"""Batches of fixed shapes: every row once, and shapes that company can't change."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attrial.batching import height, longest, plan, portions, width

LENGTHS = st.lists(st.integers(1, 600), min_size=1, max_size=80)
TOKENS = st.sampled_from([8, 64, 256, 1000, 4096])


@given(LENGTHS, TOKENS)
def test_every_row_is_fresh_in_exactly_one_batch(lengths: list[int], tokens: int) -> None:
    fresh = [r for b in plan(lengths, tokens=tokens) for r in b.rows[: b.fresh].tolist()]
    assert sorted(fresh) == list(range(len(lengths)))


@given(LENGTHS, TOKENS)
def test_shape_depends_on_a_rows_own_length_and_the_budget_alone(
    lengths: list[int], tokens: int
) -> None:
    alone = {n: plan([n], tokens=tokens)[0] for n in lengths}
    for batch in plan(lengths, tokens=tokens):
        for row in batch.rows.tolist():
            lonely = alone[lengths[row]]
            assert (batch.width, len(batch.rows)) == (lonely.width, len(lonely.rows))


@given(LENGTHS, TOKENS)
def test_copies_fill_a_batch_up_with_rows_of_its_own(lengths: list[int], tokens: int) -> None:
    for batch in plan(lengths, tokens=tokens):
        assert 1 <= batch.fresh <= len(batch.rows)
        assert set(batch.rows[batch.fresh :].tolist()) <= set(batch.rows[: batch.fresh].tolist())


@given(LENGTHS, TOKENS)
def test_at_most_one_batch_of_a_width_is_not_full(lengths: list[int], tokens: int) -> None:
    partial = [b.width for b in plan(lengths, tokens=tokens) if b.fresh < len(b.rows)]
    assert len(partial) == len(set(partial))


def test_a_hidden_last_position_is_always_left_and_little_is_wasted() -> None:
    widths = [width(n) for n in range(1, 2000)]
    assert all(w > n for n, w in enumerate(widths, start=1))
    assert all(b >= a for a, b in pairwise(widths))
    assert all(w - n <= max(8, n / 8 + 1) for n, w in enumerate(widths, start=1))


def test_heights_are_powers_of_two_within_the_budget() -> None:
    for tokens in (8, 100, 1024):
        for w in (8, 24, 72, 1024):
            rows = height(w, tokens)
            assert rows & (rows - 1) == 0
            assert rows == 1 or rows * w <= tokens < 2 * rows * w


@given(st.integers(9, 5000))
def test_longest_is_the_greatest_length_that_fits(limit: int) -> None:
    n = longest(limit)
    assert width(n) <= limit < width(n + 1)


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(1, 30))
def test_portions_cover_every_row_in_order_and_keep_within_the_most(
    sizes: list[int], most: int
) -> None:
    cut = list(portions(sizes, most))
    told = [(i, row) for portion in cut for i, rows in portion for row in range(sizes[i])[rows]]
    assert told == [(i, row) for i, size in enumerate(sizes) for row in range(size)]
    assert all(0 < sum(r.stop - r.start for _, r in portion) <= most for portion in cut)


def test_a_plan_takes_arrays_and_leaves_out_nothing_of_one_length() -> None:
    (batch,) = plan(np.full(4, 12), tokens=64)
    assert (batch.width, batch.rows.tolist(), batch.fresh) == (16, [0, 1, 2, 3], 4)
