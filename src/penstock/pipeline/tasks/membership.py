"""A process of a program in its consumer group: which partitions are its, and the membership that commits carry.

It is an ordinary member of an ordinary group, and reads nothing: packs on executors do. What it is given of the leading
topic of a sub-topology stands for tasks. Before it gives something up, the packs have stopped; one that could not be
reached is refused by the broker, because the generation that it would commit with is over.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from typing import Final

from penstock.client import ConsumerConfig
from penstock.client.librdkafka import (
    BrokerTroubles,
    Consumer,
    NativeTopicPartition,
    client_error,
    with_diagnostics,
)
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.streams")

POLL_SECONDS: Final = 0.2
_OURS: Final = {
    "enable.auto.commit": "false",
    "auto.offset.reset": "earliest",
    "partition.assignment.strategy": "range",
}


class Membership:
    """Calls `on_change` in its own thread, whenever it is given partitions or loses some; a change that takes them away
    lasts until that returns."""

    def __init__(
        self,
        settings: StreamsSettings,
        application_id: str,
        topics: Collection[str],
        on_change: Callable[[frozenset[TopicPartition], bytes], None],
        on_failure: Callable[[KafkaError], None],
    ) -> None:
        self._on_change, self._on_failure = on_change, on_failure
        self._troubles = BrokerTroubles()
        config = ConsumerConfig(
            {
                **settings.client_configs("consumer"),
                **_OURS,
                "group.id": application_id,
                "client.id": f"{application_id}-member",
                "session.timeout.ms": str(settings.session_timeout_ms),
                "heartbeat.interval.ms": str(max(1, settings.session_timeout_ms // 3)),
            }
        )
        self._native = Consumer(with_diagnostics(config.for_librdkafka(), self._troubles))
        self._native.subscribe(
            sorted(topics), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
        )
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="streams-membership", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Leaves the group, after what it has is given up."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                message = self._native.poll(POLL_SECONDS)
                if message is not None and (error := message.error()) is not None:
                    self._on_failure(client_error(error, "the program's group", self._troubles))
        finally:
            self._native.close()

    def _assigned(self, native: Consumer, partitions: list[NativeTopicPartition]) -> None:
        native.assign(partitions)
        native.pause(partitions)
        mine = frozenset(TopicPartition(each.topic, each.partition) for each in partitions)
        log.info(
            "has partitions %s",
            ", ".join(sorted(map(str, mine))) or "none: there are more processes than tasks",
        )
        self._on_change(mine, native.consumer_group_metadata())

    def _revoked(self, native: Consumer, partitions: list[NativeTopicPartition]) -> None:
        self._on_change(frozenset(), b"")
