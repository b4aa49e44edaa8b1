"""The first MirrorMaker: members of a consumer group that produce what they read, under the same names.

What was aborted in the source is not read, unless `isolation.level` says so. A batch is committed when all of it is
acknowledged, so each record arrives, and after a crash some of them twice. Whoever needs each once, translated offsets
or names of their own uses the connectors.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Final

from penstock.client import KafkaConsumer, KafkaProducer
from penstock.errors import PenstockError
from penstock.wire_client.errors import KafkaError

POLL_SECONDS: Final = 0.5
FLUSH_SECONDS: Final = 60.0


class Streams:
    """`count` members, each a thread; one that fails ends all."""

    def __init__(
        self,
        consumer_configs: Mapping[str, str],
        producer_configs: Mapping[str, str],
        include: re.Pattern[str],
        count: int,
        stops_when_refused: bool,
    ) -> None:
        self._consumer_configs = {
            "isolation.level": "read_committed",
            **consumer_configs,
            "enable.auto.commit": "false",
        }
        self._producer_configs = {"acks": "all", "enable.idempotence": "true", **producer_configs}
        self._include = include
        self._stops_when_refused = stops_when_refused
        self._stopping = threading.Event()
        self._failure: PenstockError | None = None
        self._threads = [threading.Thread(target=self._run, name=f"stream-{n}") for n in range(count)]

    def run(self) -> None:
        """Until `stop`; raises what ended a member."""
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            thread.join()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        self._stopping.set()

    def _run(self) -> None:
        try:
            with (
                KafkaProducer(self._producer_configs) as producer,
                KafkaConsumer(self._consumer_configs) as consumer,
            ):
                producer.watch_every_record()
                consumer.subscribe(self._include)
                while not self._stopping.is_set():
                    self._copy(consumer, producer)
        except PenstockError as error:
            self._failure = self._failure or error
            self._stopping.set()

    def _copy(self, consumer: KafkaConsumer, producer: KafkaProducer) -> None:
        refused_before = producer.failed_records
        records = consumer.poll(POLL_SECONDS)
        for record in records:
            producer.produce(
                *(record.topic, record.value, record.key),
                timestamp_ms=record.timestamp_ms,
                headers=record.headers,
            )
        if not records:
            return
        producer.flush(FLUSH_SECONDS)
        refused = producer.failed_records - refused_before
        if refused and self._stops_when_refused:
            raise KafkaError(f"{refused} records were refused by the target; they are not committed")
        consumer.commit()
