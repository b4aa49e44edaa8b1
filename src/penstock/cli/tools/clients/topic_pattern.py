"""`--include`: the topics whose whole name matches a regular expression, those that are made later included."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping

from penstock.client.librdkafka import Consumer, KafkaException, NativeTopicPartition
from penstock.wire_client.errors import KafkaError

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
DEFAULT_REFRESH_MS = 5 * 60_000
METADATA_TIMEOUT_SECONDS = 1.0
RebalanceListener = Callable[[Consumer, list[NativeTopicPartition]], None]


class TopicPattern:
    def __init__(self, pattern: str, configs: Mapping[str, str]) -> None:
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise KafkaError(
                f"--include: got '{pattern}', takes a regular expression ({error.msg})"
            ) from None
        self._takes_internal = configs.get("exclude.internal.topics", "true").lower() == "false"
        self._refresh_seconds = int(configs.get("metadata.max.age.ms", DEFAULT_REFRESH_MS)) / 1000
        self._topics: list[str] = []
        self._refresh_at = 0.0

    def subscribe(self, consumer: Consumer, **listener: RebalanceListener) -> None:
        """To what matches now; a cluster that cannot be asked is asked again at the next refresh."""
        try:
            known = consumer.list_topics(timeout=METADATA_TIMEOUT_SECONDS).topics
        except KafkaException:
            return
        self._refresh_at = time.monotonic() + self._refresh_seconds
        topics = sorted(name for name in known if self.matches(name))
        if topics and topics != self._topics:
            consumer.subscribe(topics, **listener)
            self._topics = topics

    def matches(self, topic: str) -> bool:
        if topic in INTERNAL_TOPICS and not self._takes_internal:
            return False
        return self._pattern.fullmatch(topic) is not None

    def maybe_refresh(self, consumer: Consumer) -> None:
        if time.monotonic() >= self._refresh_at:
            self.subscribe(consumer)
