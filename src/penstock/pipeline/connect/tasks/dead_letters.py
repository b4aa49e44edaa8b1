"""The dead-letter queue of a sink: records that failed, as they were consumed, with headers that say why."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from typing import Final

from penstock.client import KafkaAdmin, KafkaProducer, SendFuture
from penstock.client.librdkafka import Message
from penstock.errors import ErrorCode
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType
from penstock.pipeline.connect.errors import (
    AlreadyExistsError,
    ConnectError,
    DataError,
    NotFoundError,
    RetriableConnectError,
)
from penstock.pipeline.connect.tasks.client_configs import client_configs
from penstock.pipeline.connect.tasks.error_policy import FailedRecord
from penstock.pipeline.connect.tasks.tally import Tally
from penstock.pipeline.connect.tasks.work import TaskWork
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.connect.tasks")

HEADER_PREFIX: Final = "__connect.errors."
REPLICATION_FACTOR: Final = "errors.deadletterqueue.topic.replication.factor"
PARTITIONS: Final = 1
FLUSH_SECONDS: Final = 30.0

DEAD_LETTER_SETTINGS: Final = (
    ConfigDef()
    .define("errors.deadletterqueue.topic.name", ConfigType.STRING, "")
    .define(REPLICATION_FACTOR, ConfigType.SHORT, 3)
    .define("errors.deadletterqueue.context.headers.enable", ConfigType.BOOLEAN, False)
)

_JAVA_ERRORS: Final[dict[type[Exception], str]] = {
    ConnectError: "org.apache.kafka.connect.errors.ConnectException",
    DataError: "org.apache.kafka.connect.errors.DataException",
    RetriableConnectError: "org.apache.kafka.connect.errors.RetriableException",
    NotFoundError: "org.apache.kafka.connect.errors.NotFoundException",
    AlreadyExistsError: "org.apache.kafka.connect.errors.AlreadyExistsException",
}


class DeadLetterQueue:
    """Made before the first record is read, so that a topic which cannot be made fails the task at once."""

    def __init__(self, work: TaskWork, tally: Tally) -> None:
        settings = DEAD_LETTER_SETTINGS.parse(work.connector_configs)
        self._work, self._tally = work, tally
        self._topic: str = settings["errors.deadletterqueue.topic.name"]
        self._has_context: bool = settings["errors.deadletterqueue.context.headers.enable"]
        self._producer: KafkaProducer | None = None
        self._sent: list[SendFuture] = []
        self._create_topic(settings[REPLICATION_FACTOR])

    @staticmethod
    def is_wanted(work: TaskWork) -> bool:
        return bool(work.connector_configs.get("errors.deadletterqueue.topic.name", "").strip())

    def _create_topic(self, replication_factor: int) -> None:
        with KafkaAdmin(client_configs(self._work, "admin")) as admin:
            if any(topic.name == self._topic for topic in admin.list_topics(include_internal=True)):
                return
            log.warning("Topic %s doesn't exist. Will attempt to create topic.", self._topic)
            try:
                replicas = self._replicas(admin, replication_factor)
                admin.create_topic(self._topic, partitions=PARTITIONS, replication_factor=replicas)
            except KafkaError as error:
                if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise ConnectError(
                        f"Could not initialize dead letter queue with topic={self._topic}: {error}"
                    ) from error

    def _replicas(self, admin: KafkaAdmin, wanted: int) -> int | None:
        """What was asked for. Connect's default of three is more than a cluster of one or two brokers can have."""
        if REPLICATION_FACTOR in self._work.connector_configs:
            return wanted if wanted > 0 else None
        return min(wanted, max(1, len(admin.describe_cluster().nodes)))

    def put(self, record: FailedRecord) -> None:
        original = record.original
        assert isinstance(original, Message)
        if self._producer is None:
            client_id = f"connector-dlq-producer-{self._work.name}"
            self._producer = KafkaProducer({**client_configs(self._work, "producer"), "client.id": client_id})
        headers = [
            *(original.headers() or ()),
            *(self._context(record, original) if self._has_context else ()),
        ]
        kind, timestamp = original.timestamp()
        self._sent.append(
            self._producer.send(
                *(self._topic, original.value(), original.key()),
                timestamp_ms=timestamp if kind else None,
                headers=headers,
            )
        )
        self._tally.dead_lettered += 1

    def _context(self, record: FailedRecord, original: Message) -> Iterator[tuple[str, bytes]]:
        facts = {
            "topic": original.topic(),
            "partition": original.partition(),
            "offset": original.offset(),
            "connector.name": self._work.connector,
            "task.id": self._work.task,
            "stage": record.stage,
            "class.name": record.executing_class,
            "exception.class.name": error_name(record.error),
            "exception.message": record.error,
            "exception.stacktrace": "".join(traceback.format_exception(record.error)),
        }
        for name, fact in facts.items():
            yield f"{HEADER_PREFIX}{name}", str(fact).encode(errors="replace")

    def flush(self) -> None:
        """Until all are in Kafka; no offset behind them may be committed before."""
        if self._producer is None or not self._sent:
            return
        self._producer.flush(FLUSH_SECONDS)
        sent, self._sent = self._sent, []
        for future in sent:
            future.result(FLUSH_SECONDS)

    def close(self) -> None:
        if self._producer is not None:
            self._producer.close(0 if self._sent else FLUSH_SECONDS)


def error_name(error: Exception) -> str:
    """Java's name for what Connect has a name for, so that whoever reads the queue finds what they look for."""
    kind = type(error)
    return _JAVA_ERRORS.get(kind) or f"{kind.__module__}.{kind.__qualname__}"
