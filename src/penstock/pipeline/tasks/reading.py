"""The consumer of a pack: where it stands, what it gets, and which of its partitions it has read to the end."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from penstock.client import ConsumerConfig, KafkaAdmin
from penstock.client.librdkafka import (
    BrokerTroubles,
    Consumer,
    KafkaException,
    Message,
    NativeError,
    NativeTopicPartition,
    client_error,
    error_of,
    with_diagnostics,
)
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.types import TopicPartition

CALL_SECONDS: Final = 30.0
MOST_AT_ONCE: Final = 2_000
END_MS: Final = "20"
"""librdkafka tells of the end of a partition when a fetch has waited for so long in vain."""
_OURS: Final = {
    "isolation.level": "read_committed",
    "enable.auto.commit": "false",
    "auto.offset.reset": "earliest",
}


class Reader:
    """Reads partitions that it is told, never as a member of the group: who has which is for the planner to say."""

    def __init__(
        self, settings: StreamsSettings, application_id: str, client_id: str, *, tells_ends_soon: bool
    ) -> None:
        """`tells_ends_soon` if tasks wait for one input to have nothing more before they go on with the other."""
        self._settings, self._application_id = settings, application_id
        self._troubles = BrokerTroubles()
        soon = {"fetch.max.wait.ms": END_MS} if tells_ends_soon else {}
        names = {"group.id": application_id, "client.id": client_id}
        config = ConsumerConfig({**soon, **settings.client_configs("consumer"), **_OURS, **names})
        native = with_diagnostics(config.for_librdkafka(), self._troubles)
        self._native = Consumer({**native, "enable.partition.eof": True, "enable.auto.offset.store": False})
        self.at_end: set[TopicPartition] = set()
        self._ends: dict[TopicPartition, int] = {}
        self._paused: set[TopicPartition] = set()

    # --- where it stands

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, tuple[int, str]]:
        """Offsets and what was noted with them, of those that have one."""
        asked = [NativeTopicPartition(*each) for each in partitions]
        found = self._call("the positions are not known", self._native.committed, asked) if asked else []
        for each in found:
            if each.error is not None:
                raise client_error(each.error, f"the position in {each.topic}-{each.partition} is not known")
        offsets = {
            TopicPartition(each.topic, each.partition): each.offset for each in found if each.offset >= 0
        }
        return self._with_notes(offsets) if offsets else {}

    def _with_notes(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, tuple[int, str]]:
        """librdkafka waits for transactions that are not over, but what it has noted does not end where the note
        does: bytes that follow in memory come along."""
        with KafkaAdmin(self._settings.client_configs("admin")) as admin:
            found = admin.committed_offsets(self._application_id, offsets)
        return {
            where: (offset, each.metadata if (each := found.get(where)) and each.offset == offset else "")
            for where, offset in offsets.items()
        }

    def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        """The first offset, and the one that comes next."""
        low, high = self._call(
            f"the offsets of {partition} are not known",
            self._native.get_watermark_offsets,
            NativeTopicPartition(*partition),
        )
        return low, high

    def _call(self, what: str, function, *arguments):  # type: ignore[no-untyped-def]
        try:
            return function(*arguments, timeout=CALL_SECONDS)
        except KafkaException as error:
            raise client_error(error_of(error), what, self._troubles) from None

    def assign(self, positions: Mapping[TopicPartition, int]) -> None:
        self.at_end.clear()
        self._paused.clear()
        self._native.assign([NativeTopicPartition(*each, offset) for each, offset in positions.items()])

    def hold_back(self, partitions: set[TopicPartition]) -> None:
        """Reads no more of these, for now, and of all others."""
        if partitions == self._paused:
            return
        if resumed := self._paused - partitions:
            self._native.resume([NativeTopicPartition(*each) for each in resumed])
        if paused := partitions - self._paused:
            self._native.pause([NativeTopicPartition(*each) for each in paused])
        self._paused = set(partitions)

    # --- records

    def poll(self, timeout: float) -> list[tuple[TopicPartition, Sequence[Message]]]:
        """What is there, partition by partition; waits for the first record only."""
        first = self._native.poll(timeout)
        if first is None:
            return []
        return list(self._by_partition([first, *self._native.consume(MOST_AT_ONCE, 0)]))

    def _by_partition(self, messages: list[Message]) -> Iterator[tuple[TopicPartition, Sequence[Message]]]:
        places = zip(map(Message.topic, messages), map(Message.partition, messages), strict=True)
        of_places = itertools.groupby(zip(places, messages, strict=True), operator.itemgetter(0))
        for (topic, partition), group in of_places:
            where = TopicPartition(topic or "", partition)
            records = [message for _, message in group]
            if any(error is not None for error in map(Message.error, records)):
                records = self._without_ends(where, records)
            else:
                self.at_end.discard(where)
            if records:
                yield where, records

    def has_read_all(self, partitions: Collection[TopicPartition], *, waits_for_transactions: bool) -> bool:
        """Up to the end; also of transactions, whose ends a broker may still have to write after they were decided."""
        return all(
            where in self.at_end and not (waits_for_transactions and self._ends[where] < self._last(where))
            for where in partitions
        )

    def _last(self, where: TopicPartition) -> int:
        _, last = self._native.get_watermark_offsets(NativeTopicPartition(*where), cached=True)
        return last

    def _without_ends(self, where: TopicPartition, messages: list[Message]) -> list[Message]:
        """Records only; what else is among messages says that there is nothing after those before it."""
        records = []
        for message in messages:
            error = message.error()
            if error is None:
                records.append(message)
                self.at_end.discard(where)
            elif error.code() == NativeError._PARTITION_EOF:
                self.at_end.add(where)
                self._ends[where] = message.offset() or 0
            else:
                raise client_error(error, f"{where} can't be read", self._troubles)
        return records

    def close(self) -> None:
        self._native.close()
