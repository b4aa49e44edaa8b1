"""Records sent to a topic as they are: key, value, headers, timestamp, and the partition if wanted."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from penstock.cli.cluster_arguments import Configs
from penstock.cli.records.record_json import TopicRecord
from penstock.client.config import ProducerConfig
from penstock.client.librdkafka import (
    BrokerTroubles,
    KafkaException,
    Message,
    NativeError,
    Producer,
    client_error,
    error_of,
    with_diagnostics,
)
from penstock.wire_client.errors import KafkaError

ANY_PARTITION = -1
FLUSH_SECONDS = 1.0
OWN_SETTINGS = {"acks": "all", "enable.idempotence": "true", "linger.ms": "20"}


class TopicWriter:
    """`close` returns when all is acknowledged; the first record that is not ends it."""

    def __init__(self, configs: Configs, topic: str, partitions: int, *, keep_partitions: bool) -> None:
        self.topic = topic
        self.partitions = partitions
        self._keep_partitions = keep_partitions
        self._troubles = BrokerTroubles()
        native = ProducerConfig({**OWN_SETTINGS, **configs}).for_librdkafka()
        self._producer = Producer(with_diagnostics(native, self._troubles))
        self._failure: KafkaError | None = None

    def write(self, record: TopicRecord) -> None:
        partition = record.partition if self._keep_partitions else ANY_PARTITION
        if partition >= self.partitions:
            raise KafkaError(
                f"a record of partition {partition} does not fit into {self.topic}, which has {self.partitions}; "
                "--repartition has keys decide"
            )
        while not self._try_to_send(record, partition):
            self._producer.poll(FLUSH_SECONDS)
        self._producer.poll(0)
        self._raise_failure()

    def _try_to_send(self, record: TopicRecord, partition: int) -> bool:
        try:
            self._producer.produce(
                self.topic,
                record.value,
                record.key,
                partition,
                on_delivery=self._on_delivery,
                timestamp=record.timestamp_ms or 0,
                headers=list(record.headers),
            )
        except BufferError:
            return False
        except KafkaException as error:
            raise client_error(error_of(error), f"writing {self.topic}", self._troubles) from None
        return True

    def _on_delivery(self, error: NativeError | None, message: Message) -> None:
        if error is not None and self._failure is None:
            self._failure = client_error(error, f"writing {self.topic}", self._troubles)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        while self._producer.flush(FLUSH_SECONDS):
            self._raise_failure()
        self._raise_failure()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._producer.purge()
