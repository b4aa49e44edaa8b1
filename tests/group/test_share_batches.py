"""Merging stored states, against a model that looks at each offset."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from penstock.group.share_batches import merge_batches
from penstock.wire.stored.share_state import StateBatch

BATCHES = st.lists(
    st.builds(
        lambda first, size, state, count: StateBatch(first, first + size - 1, state, count),
        st.integers(0, 40),
        st.integers(1, 12),
        st.sampled_from([0, 2, 4]),
        st.integers(1, 4),
    ),
    max_size=8,
)


def by_offset(batches: list[StateBatch], start_offset: int) -> dict[int, tuple[int, int]]:
    known: dict[int, tuple[int, int]] = {}
    for batch in batches:
        for offset in range(max(batch.first_offset, start_offset), batch.last_offset + 1):
            said = batch.delivery_count, batch.delivery_state
            known[offset] = max(known.get(offset, said), said)
    return known


@given(BATCHES, BATCHES, st.integers(0, 30), st.integers(0, 20))
def test_the_newest_word_on_each_offset_counts(
    first: list[StateBatch], second: list[StateBatch], start_offset: int, step: int
) -> None:
    known = merge_batches([], first, start_offset)
    merged = merge_batches(known, second, start_offset + step)
    assert by_offset(merged, 0) == by_offset([*known, *second], start_offset + step)
    for left, right in itertools.pairwise(merged):
        assert left.last_offset < right.first_offset
        is_neighbour = left.last_offset + 1 == right.first_offset
        is_alike = (left.delivery_count, left.delivery_state) == (right.delivery_count, right.delivery_state)
        assert not (is_neighbour and is_alike), "what is alike is one batch"
