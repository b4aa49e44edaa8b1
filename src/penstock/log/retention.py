"""Which segments are old enough, too many, or below the log's start. Decisions only."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol


class RetentionSettings(Protocol):
    @property
    def cleanup_policy(self) -> Sequence[str]: ...

    @property
    def retention_ms(self) -> int: ...

    @property
    def retention_bytes(self) -> int: ...


class SegmentFacts(NamedTuple):
    base_offset: int
    next_base_offset: int  # of the segment that follows; the log's end for the active one
    size: int
    largest_timestamp: int


def decide_deletable(
    segments: Sequence[SegmentFacts],
    settings: RetentionSettings,
    *,
    log_start_offset: int,
    high_watermark: int,
    now_ms: int,
) -> int:
    """How many of the oldest segments go. Never one with records at or above the high watermark."""
    replicated = _count_while(segments, lambda s: s.next_base_offset <= high_watermark and s.size > 0)
    candidates = segments[:replicated]
    below_start = _count_while(candidates, lambda s: s.next_base_offset <= log_start_offset)
    if "delete" not in settings.cleanup_policy:
        return below_start
    return max(
        below_start,
        _count_expired(candidates, settings.retention_ms, now_ms),
        _count_oversize(segments, replicated, settings.retention_bytes),
    )


def _count_expired(segments: Sequence[SegmentFacts], retention_ms: int, now_ms: int) -> int:
    if retention_ms < 0:
        return 0
    return _count_while(segments, lambda s: now_ms - s.largest_timestamp > retention_ms)


def _count_oversize(segments: Sequence[SegmentFacts], replicated: int, retention_bytes: int) -> int:
    """As many as can go with the rest still holding `retention_bytes`."""
    if retention_bytes < 0:
        return 0
    excess = sum(segment.size for segment in segments) - retention_bytes
    count = 0
    while count < replicated and excess >= segments[count].size:
        excess -= segments[count].size
        count += 1
    return count


def _count_while(segments: Sequence[SegmentFacts], holds: Callable[[SegmentFacts], bool]) -> int:
    count = 0
    while count < len(segments) and holds(segments[count]):
        count += 1
    return count
