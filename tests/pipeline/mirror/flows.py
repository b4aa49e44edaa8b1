"""A flow from one cluster to another: the connectors' own objects, and their tasks for a tick, as a worker has them."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from penstock import ConsumerRecord, KafkaAdmin, KafkaProducer
from penstock.pipeline.connect.api.connector import SourceConnector
from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork
from penstock.pipeline.mirror.checkpoint_connector import MirrorCheckpointConnector
from penstock.pipeline.mirror.heartbeat import MirrorHeartbeatConnector
from penstock.pipeline.mirror.source_connector import MirrorSourceConnector
from tests.pipeline.connect.tasks.works import new_name
from tests.support.cluster_fixture import KafkaServer
from tests.support.topic_records import records_to_end

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
RUN_MS = 1000
PATIENCE_SECONDS = 60.0
CLASSES: dict[str, type[SourceConnector]] = {
    "source": MirrorSourceConnector,
    "checkpoint": MirrorCheckpointConnector,
    "heartbeat": MirrorHeartbeatConnector,
}


class Heard:
    """What a connector asked of its worker."""

    connector_name = "mirror"

    def __init__(self) -> None:
        self.reconfigurations = 0
        self.errors: list[Exception] = []

    def request_task_reconfiguration(self) -> None:
        self.reconfigurations += 1

    def raise_error(self, error: Exception) -> None:
        self.errors.append(error)


class Flow:
    """Names of its own in both clusters, so that flows do not meet."""

    def __init__(self, source: KafkaServer, target: KafkaServer) -> None:
        self.source, self.target = source.bootstrap, target.bootstrap
        self.source_alias, self.target_alias = new_name("west"), new_name("east")
        self.topic, self.group = new_name("orders"), new_name("billing")
        self.offsets_topic = new_name("offsets")
        self.heard = Heard()
        self._connectors: list[SourceConnector] = []
        self.create(self.target, self.offsets_topic)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for connector in self._connectors:
            connector.stop()

    # --- connectors and tasks

    @property
    def copy(self) -> str:
        return f"{self.source_alias}.{self.topic}"

    def configs(self, **more: str) -> dict[str, str]:
        return {
            "name": "mirror",
            "source.cluster.alias": self.source_alias,
            "target.cluster.alias": self.target_alias,
            "source.cluster.bootstrap.servers": self.source,
            "target.cluster.bootstrap.servers": self.target,
            "topics": f"{self.topic}.*",
            "groups": f"{self.group}.*",
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            "checkpoints.topic.replication.factor": "1",
            "heartbeats.topic.replication.factor": "1",
            "consumer.poll.timeout.ms": "300",
            "emit.checkpoints.interval.seconds": "1",
            "sync.group.offsets.interval.seconds": "1",
            **more,
        }

    def connector(self, kind: str = "source", configs: dict[str, str] | None = None) -> Any:
        connector: Any = CLASSES[kind]()
        connector.context = self.heard
        self._connectors.append(connector)
        connector.start(configs or self.configs())
        return connector

    def works(
        self, kind: str = "source", max_tasks: int = 1, run_ms: int = RUN_MS, **more: str
    ) -> list[TaskWork]:
        configs = self.configs(**more)
        connector = self.connector(kind, configs)
        task_class = f"{type(connector).task_class.__module__}:{type(connector).task_class.__name__}"
        worker_configs = {
            "bootstrap.servers": self.target,
            "group.id": f"{self.source_alias}-mm2",
            "offset.storage.topic": self.offsets_topic,
            "key.converter": BYTES,
            "value.converter": BYTES,
            "header.converter": BYTES,
        }
        return [
            TaskWork(kind, number, "source", task_class, each, configs, worker_configs, run_ms)
            for number, each in enumerate(connector.task_configs(max_tasks))
        ]

    def tick(
        self, kind: str = "source", max_tasks: int = 1, run_ms: int = RUN_MS, **more: str
    ) -> list[TaskReport]:
        reports = [run_task(work) for work in self.works(kind, max_tasks, run_ms, **more)]
        assert [report.trace for report in reports] == [None] * len(reports)
        return reports

    def copy_records(self, count: int, max_tasks: int = 1, **more: str) -> None:
        """Ticks, longer and longer ones, until so many more are copied, and not one beyond.

        Heartbeats of other tests on the same cluster are none of it.
        """
        copied, run_ms = 0, 500
        more = {"heartbeats.replication.enabled": "false", **more}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while copied < count and time.monotonic() < deadline:
            reports = self.tick(max_tasks=max_tasks, run_ms=run_ms, **more)
            run_ms = min(2 * run_ms, 4000)
            assert len(reports) == max_tasks
            copied += sum(report.records for report in reports)
        assert copied == count, f"{copied} records were copied, not {count}"

    # --- the two clusters

    @staticmethod
    def create(bootstrap: str, topic: str, partitions: int = 1, **configs: str) -> None:
        given = {name.replace("_", "."): value for name, value in configs.items()}
        with KafkaAdmin(bootstrap_servers=bootstrap) as admin:
            admin.create_topic(topic, partitions=partitions, configs=given)

    def produce(self, *values: str, topic: str | None = None, partition: int = 0) -> None:
        with KafkaProducer(bootstrap_servers=self.source) as producer:
            for value in values:
                producer.produce(topic or self.topic, value.encode(), partition=partition)

    @staticmethod
    def records(
        bootstrap: str, topic: str, partition: int = 0, isolation: str = "read_committed"
    ) -> list[ConsumerRecord]:
        return records_to_end(bootstrap, topic, [partition], isolation)

    def values(self, topic: str | None = None, partition: int = 0) -> list[str]:
        records = self.records(self.target, topic or self.copy, partition)
        return [(record.value or b"").decode() for record in records]
