"""Where a group that stands somewhere in the source goes on in the copy.

Known are syncs, some records' offsets on both sides. Between two of them records may have been left out (a transform
dropped them, compaction removed them) and the copy has markers of transactions that the source has not; so an offset is
translated to that of the last sync before it, or to the one behind that: never too far, at most some records back.

A sync that goes back, on either side, says that a topic was made anew: what was known before is void. The older half of
many syncs is thinned out; a group that is far behind is translated less precisely than one that keeps up.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

from penstock.pipeline.mirror.formats import OffsetSync
from penstock.types import TopicPartition

MAX_SYNCS: Final = 1024
"""Per partition."""


class _PartitionSyncs:
    def __init__(self) -> None:
        self.upstream: list[int] = []
        self.downstream: list[int] = []

    def add(self, sync: OffsetSync) -> None:
        if self.upstream and self._goes_back(sync):
            self.upstream, self.downstream = [], []
        if self.upstream and sync.upstream_offset == self.upstream[-1]:
            self.downstream[-1] = sync.downstream_offset
            return
        self.upstream.append(sync.upstream_offset)
        self.downstream.append(sync.downstream_offset)
        if len(self.upstream) > MAX_SYNCS:
            self._thin_out()

    def _goes_back(self, sync: OffsetSync) -> bool:
        return sync.upstream_offset < self.upstream[-1] or sync.downstream_offset < self.downstream[-1]

    def _thin_out(self) -> None:
        for offsets in (self.upstream, self.downstream):
            offsets[: MAX_SYNCS // 2] = offsets[: MAX_SYNCS // 2 : 2]


class OffsetTranslation:
    def __init__(self) -> None:
        self._syncs: dict[TopicPartition, _PartitionSyncs] = {}

    def add(self, syncs: Iterable[OffsetSync]) -> None:
        for sync in syncs:
            self._syncs.setdefault(sync.partition, _PartitionSyncs()).add(sync)

    def translate(self, partition: TopicPartition, upstream_offset: int) -> int | None:
        """None where nothing is known of the partition, or nothing that is old enough."""
        syncs = self._syncs.get(partition)
        place = bisect_right(syncs.upstream, upstream_offset) - 1 if syncs is not None else -1
        if syncs is None or place < 0:
            return None
        return syncs.downstream[place] + (syncs.upstream[place] != upstream_offset)
