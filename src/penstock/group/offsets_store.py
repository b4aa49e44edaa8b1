"""What is known of committed offsets: those in force, and those that wait for the end of a transaction."""

from collections.abc import Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from penstock.wire.stored.group import OffsetCommitValue

ValueT = TypeVar("ValueT")
NO_TOPIC_ID = bytes(16)
"""Of commits whose topic is known by its name only."""


class CommittedOffset(NamedTuple):
    value: OffsetCommitValue
    record_offset: int
    """Where the commit stands in the log: of two commits the later one counts, whenever it takes effect."""


class Partitions(Generic[ValueT]):
    """Something for each of some groups' partitions; groups and topics that have nothing are not there."""

    def __init__(self) -> None:
        self.groups: dict[str, dict[str, dict[int, ValueT]]] = {}

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, ValueT]]:
        return self.groups.get(group_id) or {}

    def get(self, group_id: str, topic: str, partition: int) -> ValueT | None:
        topics = self.groups.get(group_id)
        partitions = None if topics is None else topics.get(topic)
        return None if partitions is None else partitions.get(partition)

    def put(self, group_id: str, topic: str, partition: int, value: ValueT) -> None:
        self.groups.setdefault(group_id, {}).setdefault(topic, {})[partition] = value

    def pop(self, group_id: str, topic: str, partition: int) -> ValueT | None:
        topics = self.groups.get(group_id, {})
        partitions = topics.get(topic, {})
        value = partitions.pop(partition, None)
        if not partitions and topics.pop(topic, None) is not None and not topics:
            del self.groups[group_id]
        return value

    def of_topic(self, topic: str) -> Iterator[tuple[str, int, ValueT]]:
        """(group id, partition, value) of each group that has this topic."""
        for group_id, topics in self.groups.items():
            for partition, value in topics.get(topic, {}).items():
                yield group_id, partition, value

    def __iter__(self) -> Iterator[tuple[str, str, int, ValueT]]:
        for group_id, topics in self.groups.items():
            for topic, partitions in topics.items():
                for partition, value in partitions.items():
                    yield group_id, topic, partition, value


class OffsetStore:
    """Changes in replay only."""

    def __init__(self) -> None:
        self.committed: Partitions[CommittedOffset] = Partitions()
        self.pending: dict[int, Partitions[CommittedOffset]] = {}
        """By producer id: what counts when its transaction is committed."""
        self.open_transactions: Partitions[set[int]] = Partitions()
        """The producers that have something pending, by partition."""

    def commit(self, group_id: str, topic: str, partition: int, offset: CommittedOffset) -> None:
        self.committed.put(group_id, topic, partition, offset)

    def commit_pending(
        self, producer_id: int, group_id: str, topic: str, partition: int, offset: CommittedOffset
    ) -> None:
        self.pending.setdefault(producer_id, Partitions()).put(group_id, topic, partition, offset)
        producers = self.open_transactions.get(group_id, topic, partition)
        if producers is None:
            self.open_transactions.put(group_id, topic, partition, {producer_id})
        else:
            producers.add(producer_id)

    def remove(self, group_id: str, topic: str, partition: int) -> None:
        """Forgets what is committed, and what is pending too."""
        self.committed.pop(group_id, topic, partition)
        for producer_id in self.open_transactions.pop(group_id, topic, partition) or ():
            self.pending[producer_id].pop(group_id, topic, partition)

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        for group_id, topic, partition, offset in self.pending.pop(producer_id, ()):
            self._close(producer_id, group_id, topic, partition)
            if not is_commit:
                continue
            known = self.committed.get(group_id, topic, partition)
            if known is None or known.record_offset < offset.record_offset:
                self.commit(group_id, topic, partition, offset)

    def _close(self, producer_id: int, group_id: str, topic: str, partition: int) -> None:
        producers = self.open_transactions.get(group_id, topic, partition)
        if producers is not None:
            producers.discard(producer_id)
            if not producers:
                self.open_transactions.pop(group_id, topic, partition)

    def has(self, group_id: str, topic: str, partition: int) -> bool:
        return (
            self.committed.get(group_id, topic, partition) is not None
            or self.open_transactions.get(group_id, topic, partition) is not None
        )

    def partitions_of_group(self, group_id: str) -> list[tuple[str, int]]:
        """Each partition once, whether committed or pending."""
        found = dict.fromkeys(
            (topic, partition)
            for offsets in (self.committed, self.open_transactions)
            for topic, partitions in offsets.of_group(group_id).items()
            for partition in partitions
        )
        return list(found)
