"""Merging the stored states of a share partition's records.

Where two batches say something of the same offsets, the one with the higher delivery count is the newer one; with the
same count, the one with the higher state.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import attrgetter

from penstock.wire.stored.share_state import StateBatch

_first = attrgetter("first_offset")
_last = attrgetter("last_offset")


def merge_batches(known: list[StateBatch], news: Iterable[StateBatch], start_offset: int) -> list[StateBatch]:
    """What is known after the news, in order, without overlaps, and nothing below the start offset."""
    merged = list(known)
    for batch in news:
        begin = bisect_left(merged, batch.first_offset - 1, key=_last)
        end = bisect_right(merged, batch.last_offset + 1, key=_first)
        merged[begin:end] = _joined(_overlaid(merged[begin:end], batch))
    return _from(merged, start_offset)


def _from(batches: list[StateBatch], start_offset: int) -> list[StateBatch]:
    kept = batches[bisect_left(batches, start_offset, key=_last) :]
    if kept and kept[0].first_offset < start_offset:
        kept[0] = _part(kept[0], start_offset, kept[0].last_offset)
    return kept


def _overlaid(batches: list[StateBatch], news: StateBatch) -> Iterable[StateBatch]:
    """Ordered batches with another one laid over them, cut where they overlap."""
    position = news.first_offset
    for batch in batches:
        if batch.first_offset < news.first_offset:
            yield _part(batch, batch.first_offset, min(batch.last_offset, news.first_offset - 1))
        if position < batch.first_offset:
            yield _part(news, position, min(news.last_offset, batch.first_offset - 1))
        first, last = (
            max(batch.first_offset, news.first_offset),
            min(batch.last_offset, news.last_offset),
        )
        if first <= last:
            yield _part(max(batch, news, key=_rank), first, last)
        position = max(position, batch.last_offset + 1)
        if batch.last_offset > news.last_offset:
            yield _part(batch, max(batch.first_offset, news.last_offset + 1), batch.last_offset)
    if position <= news.last_offset:
        yield _part(news, position, news.last_offset)


def _rank(batch: StateBatch) -> tuple[int, int]:
    return batch.delivery_count, batch.delivery_state


def _part(batch: StateBatch, first: int, last: int) -> StateBatch:
    return StateBatch(first, last, batch.delivery_state, batch.delivery_count)


def _joined(batches: Iterable[StateBatch]) -> list[StateBatch]:
    """With neighbours that say the same made one."""
    joined: list[StateBatch] = []
    for batch in batches:
        if joined and joined[-1].last_offset + 1 == batch.first_offset and _rank(joined[-1]) == _rank(batch):
            joined[-1] = _part(batch, joined[-1].first_offset, batch.last_offset)
        else:
            joined.append(batch)
    return joined
