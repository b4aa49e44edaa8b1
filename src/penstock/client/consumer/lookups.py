"""Questions to the cluster about offsets and partitions, through librdkafka's consumer."""

from collections.abc import Iterable, Mapping

from penstock.client.librdkafka import (
    OFFSET_END,
    BrokerTroubles,
    Consumer,
    KafkaException,
    NativeError,
    NativeTopicPartition,
    client_error,
    error_of,
)
from penstock.client.records import OffsetAndMetadata
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client.errors import error_for


class Lookups:
    """Each call asks the cluster, and gives up with an error that says which broker does not answer."""

    def __init__(self, native: Consumer, troubles: BrokerTroubles) -> None:
        self._native = native
        self._troubles = troubles

    def committed(
        self, partitions: Iterable[TopicPartition], timeout: float
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        wanted = [NativeTopicPartition(*partition) for partition in partitions]
        try:
            found = self._native.committed(wanted, timeout)
        except KafkaException as error:
            raise self._translated(error_of(error), "committed offsets") from error
        return {_key(each): self._offset_of(each) for each in found}

    def _offset_of(self, found: NativeTopicPartition) -> OffsetAndMetadata | None:
        self._check(found, "committed offset")
        if found.offset < 0:
            return None
        return OffsetAndMetadata(found.offset, found.metadata or "", found.leader_epoch)

    def watermarks(
        self, partitions: Iterable[TopicPartition], timeout: float
    ) -> dict[TopicPartition, tuple[int, int]]:
        """The first offset of each partition, and the next one that will be written."""
        return {partition: self._watermarks(partition, timeout) for partition in partitions}

    def _watermarks(self, partition: TopicPartition, timeout: float) -> tuple[int, int]:
        try:
            return self._native.get_watermark_offsets(NativeTopicPartition(*partition), timeout)
        except KafkaException as error:
            raise self._translated(error_of(error), f"offsets of {partition}") from error

    def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int], timeout: float
    ) -> dict[TopicPartition, int | None]:
        """The first offset at or after each time; None where there is none so late."""
        wanted = [NativeTopicPartition(*partition, time_ms) for partition, time_ms in times_ms.items()]
        try:
            found = self._native.offsets_for_times(wanted, timeout)
        except KafkaException as error:
            raise self._translated(error_of(error), "offsets for times") from error
        for each in found:
            self._check(each, "offset for a time")
        return {_key(each): each.offset if each.offset != OFFSET_END else None for each in found}

    def topics(self, timeout: float) -> dict[str, list[TopicPartition]]:
        """All topics with their partitions."""
        try:
            found = self._native.list_topics(timeout=timeout)
        except KafkaException as error:
            raise self._translated(error_of(error), "list of topics") from error
        return {
            name: [TopicPartition(name, partition) for partition in sorted(topic.partitions)]
            for name, topic in found.topics.items()
        }

    def partitions_for(self, topic: str, timeout: float) -> list[TopicPartition]:
        found = self.topics(timeout).get(topic)
        if found is None:
            raise error_for(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {topic} does not exist")
        return found

    def _check(self, found: NativeTopicPartition, what: str) -> None:
        if found.error is not None:
            raise self._translated(found.error, f"{what} of {_key(found)}")

    def _translated(self, error: NativeError, what: str) -> Exception:
        return client_error(error, what, self._troubles)


def _key(found: NativeTopicPartition) -> TopicPartition:
    return TopicPartition(found.topic, found.partition)
