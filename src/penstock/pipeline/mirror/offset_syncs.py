"""Offset syncs: which record of the source became which record of the target.

A sync is written when its record's transaction is committed, never before, by a producer of its own: the topic is in
the source cluster unless told otherwise, where the records' transaction does not reach. A sync that is lost with its
process costs precision, not correctness: a group is then translated to an earlier offset until the next one.

Which records get one: the first of each partition in a tick, those behind a gap in the source, one whenever the copy
has grown by `offset.lag.max` records since the last; and whatever is the last one, now and then and at the end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Final

from penstock.client import KafkaProducer
from penstock.pipeline.mirror.configs import client_configs, offset_syncs_topic
from penstock.pipeline.mirror.formats import OffsetSync
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.mirror")

LATEST_SECONDS: Final = 1.0
"""How often the last record of a partition gets a sync, although it is none that has to have one."""
FLUSH_SECONDS: Final = 10.0


class SyncChoice:
    """Says of each record that was copied whether it needs a sync."""

    def __init__(self, max_lag: int) -> None:
        self._max_lag = max_lag
        self._previous: dict[TopicPartition, OffsetSync] = {}
        self._last_due: dict[TopicPartition, int] = {}

    def is_due(self, sync: OffsetSync) -> bool:
        previous = self._previous.get(sync.partition)
        self._previous[sync.partition] = sync
        if previous is not None and self._follows(previous, sync):
            return False
        self._last_due[sync.partition] = sync.downstream_offset
        return True

    def _follows(self, previous: OffsetSync, sync: OffsetSync) -> bool:
        translated = self._last_due[sync.partition] + 1
        return (
            sync.upstream_offset == previous.upstream_offset + 1
            and sync.downstream_offset >= previous.downstream_offset
            and sync.downstream_offset - translated < self._max_lag
        )


class OffsetSyncWriter:
    def __init__(self, configs: Mapping[str, str], max_lag: int) -> None:
        side, self._topic = offset_syncs_topic(configs)
        self._configs = client_configs(configs, side, "producer", f"offset-syncs-{side}-producer")
        self._choice = SyncChoice(max_lag)
        self._latest: dict[TopicPartition, OffsetSync] = {}
        self._latest_at = time.monotonic()
        self._producer: KafkaProducer | None = None

    def on_copied(self, sync: OffsetSync) -> None:
        if self._choice.is_due(sync):
            self._latest.pop(sync.partition, None)
            self._send(sync)
        else:
            self._latest[sync.partition] = sync

    def on_commit(self) -> None:
        if time.monotonic() - self._latest_at >= LATEST_SECONDS:
            self._send_latest()

    def close(self) -> None:
        self._send_latest()
        if self._producer is None:
            return
        try:
            self._producer.close(FLUSH_SECONDS)
        except KafkaError as error:
            log.warning("offset syncs to %s: %s", self._topic, error)

    def _send_latest(self) -> None:
        latest, self._latest = self._latest, {}
        self._latest_at = time.monotonic()
        for sync in latest.values():
            self._send(sync)

    def _send(self, sync: OffsetSync) -> None:
        if self._producer is None:
            self._producer = KafkaProducer(self._configs)
        key, value = sync.encode()
        try:
            self._producer.produce(self._topic, value, key, partition=0)
        except KafkaError as error:
            log.warning("offset sync to %s: %s", self._topic, error)
