"""Offsets of the source as offsets of the copy: pure decisions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock import TopicPartition
from penstock.pipeline.mirror.formats import OffsetSync
from penstock.pipeline.mirror.offset_syncs import SyncChoice
from penstock.pipeline.mirror.translation import MAX_SYNCS, OffsetTranslation

ORDERS = TopicPartition("orders", 0)


def syncs(*pairs: tuple[int, int]) -> list[OffsetSync]:
    return [OffsetSync(ORDERS, upstream, downstream) for upstream, downstream in pairs]


def translation(*pairs: tuple[int, int]) -> OffsetTranslation:
    found = OffsetTranslation()
    found.add(syncs(*pairs))
    return found


def test_between_syncs() -> None:
    known = translation((10, 100), (20, 115), (30, 125))
    translated = [known.translate(ORDERS, offset) for offset in (9, 10, 11, 19, 20, 21, 30, 31, 1000)]
    assert translated == [None, 100, 101, 101, 115, 116, 125, 126, 126]
    assert known.translate(TopicPartition("others", 0), 10) is None


def test_what_goes_back_voids_what_was() -> None:
    assert translation((10, 100), (20, 110), (5, 200)).translate(ORDERS, 20) == 201
    assert translation((10, 100), (20, 110), (25, 3)).translate(ORDERS, 21) is None


def test_the_same_record_again() -> None:
    assert translation((10, 100), (10, 104)).translate(ORDERS, 10) == 104


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=3 * MAX_SYNCS))
def test_many_syncs_are_thinned_out_and_never_translate_too_far(steps: list[tuple[int, int]]) -> None:
    """Upstream steps by one or more, downstream too; what lies between is known here, not to the translation."""
    known, pairs, at = OffsetTranslation(), [], (0, 0)
    for up, down in steps:
        at = (at[0] + up, at[1] + down)
        pairs.append(at)
    known.add(syncs(*pairs))
    for upstream, downstream in (pairs[0], pairs[len(pairs) // 2], pairs[-1]):
        found = known.translate(ORDERS, upstream)
        assert found is not None
        assert found <= downstream
    assert known.translate(ORDERS, pairs[-1][0]) == pairs[-1][1]
    assert len(known._syncs[ORDERS].upstream) <= MAX_SYNCS


def test_which_records_get_a_sync() -> None:
    choice = SyncChoice(max_lag=3)
    copied = syncs((0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (9, 6), (10, 7), (11, 2), (12, 3))
    assert [sync.upstream_offset for sync in copied if choice.is_due(sync)] == [0, 4, 9, 11]


def test_each_partition_by_itself() -> None:
    choice = SyncChoice(max_lag=100)
    assert choice.is_due(OffsetSync(ORDERS, 7, 0))
    assert choice.is_due(OffsetSync(TopicPartition("orders", 1), 9, 0))
    assert not choice.is_due(OffsetSync(ORDERS, 8, 1))
