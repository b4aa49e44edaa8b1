"""Committed offsets as a client sees them."""

from collections.abc import Mapping
from typing import NamedTuple

from penstock.controller.image import ClusterImage
from penstock.errors import ErrorCode
from penstock.group.offsets_answers import find_topic, no_offset, refuse_topic
from penstock.group.offsets_store import NO_TOPIC_ID, CommittedOffset, OffsetStore
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequestTopics,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)


class Look(NamedTuple):
    """At the offsets of one group, in the terms of one request."""

    store: OffsetStore
    image: ClusterImage
    group_id: str
    by_id: bool
    require_stable: bool

    def at_topic(self, topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
        found = find_topic(self.image, topic, by_id=self.by_id)
        if self.by_id and found is None:
            return refuse_topic(topic, ErrorCode.UNKNOWN_TOPIC_ID)
        name = topic.name if found is None else found.name
        committed = self.store.committed.of_group(self.group_id).get(name, {})
        unstable = self._unstable(name)
        partitions = [
            no_offset(index, ErrorCode.UNSTABLE_OFFSET_COMMIT)
            if index in unstable
            else _show(index, committed.get(index), topic.topic_id)
            for index in topic.partition_indexes
        ]
        return OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions)

    def at_all(self) -> list[OffsetFetchResponseTopics]:
        """Where topics go by their id, those without one can't be shown."""
        topics = []
        for name, committed in self.store.committed.of_group(self.group_id).items():
            found = self.image.topics.get(name)
            if self.by_id and found is None:
                continue
            unstable = self._unstable(name)
            partitions = [
                no_offset(index, ErrorCode.UNSTABLE_OFFSET_COMMIT)
                if index in unstable
                else _show(index, offset, NO_TOPIC_ID)
                for index, offset in committed.items()
            ]
            topic_id = NO_TOPIC_ID if found is None else found.topic_id
            topics.append(OffsetFetchResponseTopics(name, topic_id, partitions))
        return topics

    def _unstable(self, topic: str) -> Mapping[int, object]:
        """The partitions that a transaction may still change."""
        if not self.require_stable:
            return {}
        return self.store.open_transactions.of_group(self.group_id).get(topic, {})


def _show(partition: int, offset: CommittedOffset | None, topic_id: bytes) -> OffsetFetchResponsePartitions:
    """An offset that was committed to another topic of the same name is none."""
    if offset is None:
        return no_offset(partition)
    value = offset.value
    if NO_TOPIC_ID not in (topic_id, value.topic_id) and topic_id != value.topic_id:
        return no_offset(partition)
    return OffsetFetchResponsePartitions(partition, value.offset, value.leader_epoch, value.metadata)
