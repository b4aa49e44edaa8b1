"""Pieces of work for tasks of `some_tasks`, as a worker would plan them."""

from __future__ import annotations

import itertools
import uuid
from pathlib import Path

from penstock import ConsumerRecord, KafkaAdmin, KafkaProducer
from penstock.pipeline.connect.storage.offset_state import OffsetState
from penstock.pipeline.connect.tasks.work import TaskWork
from tests.support.cluster_fixture import KafkaServer
from tests.support.topic_records import abort_records, records_to_end

STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
_numbers = itertools.count()


def new_name(what: str) -> str:
    return f"{what}-{next(_numbers)}-{uuid.uuid4().hex[:6]}"


class Place:
    """A connector's topics on a broker."""

    def __init__(self, kafka: KafkaServer) -> None:
        self.bootstrap = kafka.bootstrap
        self.connector = new_name("counter")
        self.topic, self.offsets_topic = new_name("numbers"), new_name("offsets")
        with KafkaAdmin(bootstrap_servers=kafka.bootstrap) as admin:
            admin.create_topic(self.topic, partitions=1)
            admin.create_topic(self.offsets_topic, partitions=3, configs={"cleanup.policy": "compact"})

    @property
    def worker_configs(self) -> dict[str, str]:
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": "connect-tests",
            "offset.storage.topic": self.offsets_topic,
            "plugin.path": "tests.pipeline.connect.tasks.some_tasks",
            "key.converter": STRING,
            "value.converter": STRING,
        }

    def source(self, name: str, last: int, run_ms: int = 300, **configs: str) -> TaskWork:
        given = {"topic": self.topic, "last": str(last), **configs}
        return TaskWork(
            *(self.connector, 0, "source", f"tests.pipeline.connect.tasks.some_tasks:{name}"),
            *(given, given, {**self.worker_configs}, run_ms),
        )

    def sink(
        self, file: Path, start: int | None = None, run_ms: int = 400, partition: int = 0, **configs: str
    ) -> TaskWork:
        given = {"file": str(file), **configs}
        return TaskWork(
            *(self.connector, 0, "sink", "tests.pipeline.connect.tasks.some_tasks:FileOfValues"),
            *(given, given, self.worker_configs, run_ms),
            positions={(self.topic, partition): start},
        )

    def values(self, topic: str | None = None, isolation: str = "read_committed") -> list[str]:
        return [(record.value or b"").decode() for record in self.records(topic, isolation)]

    def records(self, topic: str | None = None, isolation: str = "read_committed") -> list[ConsumerRecord]:
        return records_to_end(self.bootstrap, topic or self.topic, isolation=isolation)

    def stored(self) -> dict[str, object]:
        """What the offsets topic says of the connector, by the text of the partition."""
        state = OffsetState()
        for record in records_to_end(self.bootstrap, self.offsets_topic, range(3)):
            state.replay(record.key, record.value)
        return {key: each.offset for key, each in state.connectors.get(self.connector, {}).items()}

    def produce(self, *values: str | None, **more: object) -> None:
        with KafkaProducer(bootstrap_servers=self.bootstrap) as producer:
            for value in values:
                producer.produce(self.topic, None if value is None else value.encode(), **more)

    def abort(self, *values: str) -> None:
        """Puts them into the topic, in a transaction that comes to nothing."""
        abort_records(self.bootstrap, self.topic, *values)
