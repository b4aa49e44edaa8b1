"""The partitions that a consumer reads: which it wants, which it has, where in them it is sent, which rest.

Partitions that were assigned by hand are started when the next records are asked for; those that the group assigns,
when the listener was told of them. Whoever seeks before that changes where they start, and nothing is fetched in vain.

A pattern is matched here and not by librdkafka, whose regular expressions are not Python's.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping

from penstock.client.config import ConsumerConfig
from penstock.client.consumer.errors import ConsumerErrors
from penstock.client.consumer.lookups import Lookups
from penstock.client.consumer.progress import Progress
from penstock.client.consumer.rebalance import Listeners, PartitionsCallback
from penstock.client.librdkafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    Consumer,
    KafkaException,
    NativeTopicPartition,
    client_error,
    error_of,
)
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError, error_for

Topics = str | re.Pattern[str] | Iterable[str]

COOPERATIVE = "cooperative-sticky"
UNSUBSCRIBE_SECONDS = 5.0
REFRESH_SECONDS = 5.0
"""How often topics are listed while none matches the pattern."""
_RESET_OFFSETS = {"earliest": OFFSET_BEGINNING, "latest": OFFSET_END}


class Partitions:
    def __init__(
        self,
        native: Consumer,
        config: ConsumerConfig,
        progress: Progress,
        lookups: Lookups,
        errors: ConsumerErrors,
        before_they_go: Callable[[list[TopicPartition]], bool],
        on_change: Callable[[], object],
    ) -> None:
        self._native = native
        self._config = config
        self._progress = progress
        self._lookups = lookups
        self._errors = errors
        self._before_they_go = before_they_go
        self._on_change = on_change
        self._is_incremental = (
            config.group_protocol.lower() == "consumer"
            or COOPERATIVE in config.for_librdkafka()["partition.assignment.strategy"]  # type: ignore[operator]
        )
        self._listeners = Listeners()
        self._starts: dict[TopicPartition, int] | None = None
        self._next_refresh = 0.0
        self.names: list[str] = []
        self.pattern: re.Pattern[str] | None = None
        self.are_by_hand = False
        self.paused: set[TopicPartition] = set()

    # wanting

    def subscribe(self, topics: Topics, listeners: Listeners) -> None:
        if self._config.group_id is None:
            raise error_for(
                ErrorCode.INVALID_GROUP_ID, "subscribe: group.id is missing; set it, or use assign()"
            )
        if self.are_by_hand:
            raise KafkaError("subscribe: partitions are assigned by hand; call unsubscribe() first")
        self._listeners = listeners
        self.pattern = _pattern_of(topics)
        if self.pattern is not None:
            self.names, self._next_refresh = [], 0.0
            return
        names = [topics] if isinstance(topics, str) else list(topics)  # type: ignore[arg-type]
        if not all(isinstance(name, str) and name for name in names):
            raise TypeError(f"subscribe: got {topics!r}; takes names of topics, or a compiled pattern")
        self._subscribe(names)

    def _subscribe(self, names: list[str]) -> None:
        self.names = names
        self._on_change()
        kept = self._errors.kept_from
        with self._translated("subscribe"):
            self._native.subscribe(
                names,
                on_assign=kept(self._on_assign),
                on_revoke=kept(self._on_revoke),
                on_lost=kept(self._on_lost),
            )

    def assign(self, partitions: Iterable[TopicPartition] | Mapping[TopicPartition, int]) -> None:
        if self.names or self.pattern:
            raise KafkaError("assign: topics are subscribed; call unsubscribe() first")
        wanted = {TopicPartition(*partition): OFFSET_INVALID for partition in partitions}
        if isinstance(partitions, Mapping):
            wanted.update({TopicPartition(*partition): offset for partition, offset in partitions.items()})
        self._remove([partition for partition in self._progress.assigned if partition not in wanted])
        self._progress.add(wanted)
        self.are_by_hand = bool(wanted)
        self._starts = {partition: self._start_of(partition, offset) for partition, offset in wanted.items()}
        self._on_change()

    def _start_of(self, partition: TopicPartition, offset: int) -> int:
        """An offset that was given, or where the partition stands; else the group's, or where to start without."""
        if offset >= 0:
            self._progress.move_to(partition, offset)
            return offset
        if (position := self._progress.handed_out().get(partition)) is not None:
            return position.offset
        if self._config.group_id is not None:
            return OFFSET_INVALID
        return _RESET_OFFSETS.get(self._config.auto_offset_reset, OFFSET_INVALID)

    def unsubscribe(self) -> None:
        self._before_they_go(self._progress.assigned)
        with self._translated("unsubscribe"):
            self._native.unassign() if self.are_by_hand else self._native.unsubscribe()
        if self.are_by_hand:
            self._remove(self._progress.assigned)
        self._serve_until_revoked()
        self.names, self.pattern, self.are_by_hand, self._starts = [], None, False, None
        self._on_change()

    def _serve_until_revoked(self) -> None:
        deadline = time.monotonic() + UNSUBSCRIBE_SECONDS
        while self._progress.assigned and time.monotonic() < deadline:
            self._native.poll(0.01)

    # before records are asked for

    def start(self) -> None:
        """Starts what was assigned by hand, and looks for topics that match the pattern."""
        if self._starts is not None:
            self._start()
        if self.pattern is not None and time.monotonic() >= self._next_refresh:
            self._refresh(self.pattern)

    def _start(self) -> None:
        starts, self._starts = self._starts or {}, None
        with self._translated("assign"):
            self._native.assign([NativeTopicPartition(*key, offset) for key, offset in starts.items()])
            self._rest(starts)

    def _refresh(self, pattern: re.Pattern[str]) -> None:
        hides = self._config.exclude_internal_topics
        found = self._lookups.topics(self._config.default_api_timeout_ms / 1000)
        names = sorted(
            name for name in found if pattern.match(name) and not (hides and name.startswith("__"))
        )
        age = self._config.metadata_max_age_ms / 1000
        self._next_refresh = time.monotonic() + (age if names else min(age, REFRESH_SECONDS))
        if names and names != self.names:
            self._subscribe(names)

    # what the group says

    def _on_assign(self, native: Consumer, found: list[NativeTopicPartition]) -> None:
        partitions = [TopicPartition(each.topic, each.partition) for each in found]
        self._progress.add(partitions)
        self._starts = dict.fromkeys(partitions, OFFSET_INVALID)
        self._on_change()
        self._tell(self._listeners.on_assigned, partitions)
        starts, self._starts = self._starts, None
        start = native.incremental_assign if self._is_incremental else native.assign
        start([NativeTopicPartition(*key, offset) for key, offset in starts.items()])
        self._rest(partitions)

    def _on_revoke(self, native: Consumer, found: list[NativeTopicPartition]) -> None:
        partitions = [TopicPartition(each.topic, each.partition) for each in found]
        is_owner = self._before_they_go(partitions) and bool(native.memberid())
        self._tell(self._listeners.on_revoked if is_owner else self._listeners.on_lost, partitions)
        self._go(native, found, partitions)

    def _on_lost(self, native: Consumer, found: list[NativeTopicPartition]) -> None:
        partitions = [TopicPartition(each.topic, each.partition) for each in found]
        self._tell(self._listeners.on_lost, partitions)
        self._go(native, found, partitions)

    def _tell(self, callback: PartitionsCallback | None, partitions: list[TopicPartition]) -> None:
        if callback is not None:
            self._errors.kept_from(callback)(partitions)

    def _go(
        self, native: Consumer, found: list[NativeTopicPartition], partitions: list[TopicPartition]
    ) -> None:
        self._remove(partitions)
        if self._is_incremental:
            native.incremental_unassign(found)
        else:
            native.unassign()

    def _remove(self, partitions: Iterable[TopicPartition]) -> None:
        gone = list(partitions)
        self._progress.remove(gone)
        self.paused.difference_update(gone)
        for partition in gone:
            self._errors.ends.pop(partition, None)
        self._on_change()

    # where, and whether

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self._require_assigned("seek", [partition])
        if offset < 0:
            raise ValueError(f"seek: got offset {offset} for {partition}; takes 0 or more")
        self._errors.ends.pop(partition, None)
        if self._starts is not None and partition in self._starts:
            self._starts[partition] = offset
        else:
            self._move(partition, offset)
        self._progress.move_to(partition, offset)
        self._on_change()

    def _move(self, partition: TopicPartition, offset: int) -> None:
        try:
            self._native.seek(NativeTopicPartition(*partition, offset))
        except KafkaException as error:
            if error_of(error).name() != "_STATE":
                raise client_error(error_of(error), f"seek in {partition}") from error
            self._start_again(partition, offset)

    def _start_again(self, partition: TopicPartition, offset: int) -> None:
        """A partition that is not being fetched, such as one that had no offset to start from."""
        moved = NativeTopicPartition(*partition, offset)
        with self._translated(f"seek in {partition}"):
            if self._is_incremental and not self.are_by_hand:
                self._native.incremental_unassign([moved])
                self._native.incremental_assign([moved])
            else:
                others = [each for each in self._progress.assigned if each != partition]
                starts = [
                    NativeTopicPartition(*each, self._start_of(each, OFFSET_INVALID)) for each in others
                ]
                self._native.assign([*starts, moved])
            self._rest(self._progress.assigned)

    def go_back(self) -> None:
        """librdkafka was interrupted, and may have dropped what it was about to return: it is fetched again."""
        positions = self._progress.handed_out()
        for partition in self._progress.assigned:
            if (position := positions.get(partition)) is not None:
                self._move(partition, position.offset)
            else:
                self._start_again(partition, OFFSET_INVALID)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        chosen = self._require_assigned("pause", partitions)
        self._give_back(chosen)
        self.paused.update(chosen)
        self._rest(chosen)
        self._on_change()

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        chosen = self._require_assigned("resume", partitions)
        self.paused.difference_update(chosen)
        started = self._started(chosen)
        if started:
            with self._translated("resume"):
                self._native.resume(started)
        self._on_change()

    def _give_back(self, partitions: Iterable[TopicPartition]) -> None:
        """What was fetched, but not handed out, is fetched again when the partition is resumed."""
        for partition, offset in self._progress.first_pending().items():
            if partition in partitions:
                self._progress.drop_pending(partition)
                self._move(partition, offset)

    def _rest(self, partitions: Iterable[TopicPartition]) -> None:
        resting = self._started(self.paused.intersection(partitions))
        if resting:
            with self._translated("pause"):
                self._native.pause(resting)

    def _started(self, partitions: Iterable[TopicPartition]) -> list[NativeTopicPartition]:
        starts = self._starts or {}
        return [NativeTopicPartition(*each) for each in partitions if each not in starts]

    def _require_assigned(self, what: str, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        chosen = [TopicPartition(*partition) for partition in partitions]
        for partition in chosen:
            if not self._progress.is_assigned(partition):
                raise KafkaError(f"{what}: {partition} is not assigned to this consumer")
        return chosen

    def _translated(self, what: str) -> "_Translated":
        return _Translated(what)


class _Translated:
    """librdkafka's exceptions as ours."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, KafkaException):
            raise client_error(error_of(error), self._what) from error


def _pattern_of(topics: Topics) -> re.Pattern[str] | None:
    if isinstance(topics, re.Pattern):
        return topics
    if isinstance(topics, str) and topics.startswith("^"):
        return re.compile(topics)
    return None
