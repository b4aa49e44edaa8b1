"""Clients of other languages: a child process that answers one line of JSON for every line of JSON."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from tests.foreign_clients.drivers.foreign_sessions import ForeignGroups
from tests.foreign_clients.drivers.model import (
    Change,
    ClientError,
    Cluster,
    ConfigValue,
    Consumed,
    OffsetAt,
    PartitionInfo,
    PartitionOffsets,
    Position,
    ProducerState,
    Record,
    Replica,
    Sent,
)
from tests.foreign_clients.drivers.sessions import transform_step_by_step
from tests.support import toolchains

ANSWER_TIMEOUT_SECONDS = 90.0


class LineServer:
    """The child process. A thread reads its answers, so that waiting for one can have an end."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answers: queue.Queue[str] = queue.Queue()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[str] = self._process.stdin
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, output: IO[str]) -> None:
        for line in output:
            self._answers.put(line)
        self._answers.put("")

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self._requests.write(json.dumps(request) + "\n")
        self._requests.flush()
        line = self._answers.get(timeout=ANSWER_TIMEOUT_SECONDS)
        if not line:
            raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self._requests.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()


class ForeignClient(ForeignGroups):
    """Has every operation of its program; a subclass for a program that lacks some says which it has."""

    only: frozenset[str] | None = None

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        self._server = LineServer(self.command())

    @classmethod
    def operations(cls) -> frozenset[str]:
        return super().operations() if cls.only is None else cls.only

    def command(self) -> tuple[str, ...]:
        raise NotImplementedError

    def close(self) -> None:
        self._server.close()

    def _ask(self, operation: str, **arguments: Any) -> dict[str, Any]:
        answer = self._server.ask({"operation": operation, "bootstrap": self.bootstrap, **arguments})
        if error := answer.get("error"):
            raise ClientError(error["code"], f"{error['name']}: {error['message']}")
        result: dict[str, Any] = answer["ok"]
        return result

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
        auto_create: bool = True,
    ) -> list[Sent]:
        answer = self._ask(
            "produce",
            topic=topic,
            records=[record.to_json() for record in records],
            codec=codec,
            acks=acks,
            idempotent=idempotent,
            auto_create=auto_create,
        )
        return [Sent(node["partition"], node["offset"]) for node in answer["sent"]]

    def consume(self, topic: str, count: int, *, partition: int = 0, offset: int = 0) -> list[Consumed]:
        answer = self._ask("consume", topic=topic, partition=partition, offset=offset, count=count)
        return [Consumed.from_json(node) for node in answer["records"]]

    def consume_partitions(self, topic: str, partitions: Sequence[int], count: int) -> list[Consumed]:
        answer = self._ask("consume_partitions", topic=topic, assigned=list(partitions), count=count)
        return [Consumed.from_json(node) for node in answer["records"]]

    def seek(self, topic: str, positions: Sequence[Position], count: int) -> list[list[int]]:
        wanted = [{"kind": position.kind, "at": position.at} for position in positions]
        visits: list[list[int]] = self._ask("seek", topic=topic, positions=wanted, count=count)["visits"]
        return visits

    def offsets(self, topic: str, timestamps: Sequence[int] = (), *, partition: int = 0) -> PartitionOffsets:
        answer = self._ask("offsets", topic=topic, partition=partition, timestamps=list(timestamps))
        for_times = tuple(OffsetAt(node["offset"], node["timestamp"]) for node in answer["for_times"])
        return PartitionOffsets(answer["beginning"], answer["end"], for_times)

    def partitions_of(self, topic: str, *, auto_create: bool) -> list[int]:
        partitions: list[int] = self._ask("partitions_of", topic=topic, auto_create=auto_create)["partitions"]
        return partitions

    def create_topic(
        self,
        topic: str,
        *,
        partitions: int = 1,
        replication_factor: int = 1,
        configs: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None:
        self._ask(
            "create_topic",
            topic=topic,
            partitions=partitions,
            replication_factor=replication_factor,
            configs=dict(configs or {}),
            validate_only=validate_only,
        )

    def delete_topic(self, topic: str) -> None:
        self._ask("delete_topic", topic=topic)

    def create_partitions(self, topic: str, total: int) -> None:
        self._ask("create_partitions", topic=topic, total=total)

    def list_topics(self) -> set[str]:
        return set(self._ask("list_topics")["topics"])

    def describe_topic(self, topic: str) -> list[PartitionInfo]:
        return [
            PartitionInfo(node["partition"], node["leader"], tuple(node["replicas"]), tuple(node["isr"]))
            for node in self._ask("describe_topic", topic=topic)["partitions"]
        ]

    def describe_configs(self, resource_type: str, name: str) -> dict[str, ConfigValue]:
        configs = self._ask("describe_configs", resource_type=resource_type, name=name)["configs"]
        return {
            key: ConfigValue(node["value"], node["source"], node["sensitive"])
            for key, node in configs.items()
        }

    def alter_configs(self, resource_type: str, name: str, configs: Mapping[str, str]) -> None:
        self._ask("alter_configs", resource_type=resource_type, name=name, configs=dict(configs))

    def incremental_alter_configs(self, resource_type: str, name: str, changes: Sequence[Change]) -> None:
        listed = [[change.kind, change.name, change.value] for change in changes]
        self._ask("incremental_alter_configs", resource_type=resource_type, name=name, changes=listed)

    def describe_cluster(self) -> Cluster:
        answer = self._ask("describe_cluster")
        brokers = {int(number): address for number, address in answer["brokers"].items()}
        return Cluster(answer["cluster_id"], answer["controller"], brokers)

    def delete_records(self, topic: str, before: int, *, partition: int = 0) -> int:
        answer = self._ask("delete_records", topic=topic, partition=partition, before=before)
        return int(answer["low_watermark"])

    def list_offsets(self, topic: str, timestamps: Sequence[int], *, partition: int = 0) -> list[OffsetAt]:
        answer = self._ask("list_offsets", topic=topic, partition=partition, timestamps=list(timestamps))
        return [OffsetAt(node["offset"], node["timestamp"]) for node in answer["offsets"]]

    def describe_log_dirs(self, broker: int) -> list[Replica]:
        return [
            Replica(directory["path"], node["topic"], node["partition"], node["size"])
            for directory in self._ask("describe_log_dirs", broker=broker)["dirs"]
            for node in directory["replicas"]
        ]

    def describe_producers(self, topic: str, *, partition: int = 0) -> list[ProducerState]:
        return [
            ProducerState(node["producer_id"], node["epoch"], node["last_sequence"], node["last_timestamp"])
            for node in self._ask("describe_producers", topic=topic, partition=partition)["producers"]
        ]


class JavaClient(ForeignClient):
    """Apache Kafka's own client; its admin has dropped the older way to alter configs."""

    name = "java"
    only = ForeignClient.operations() - {"alter_configs"}
    chooses_auto_creation = False
    group_protocols = ("classic", "cooperative", "consumer")

    def transform(
        self, source: str, target: str, group: str, transactional_id: str, count: int, *, commit: bool
    ) -> None:
        transform_step_by_step(self, source, target, group, transactional_id, count, commit)

    def command(self) -> tuple[str, ...]:
        return toolchains.java_command()


class FranzGoClient(ForeignClient):
    """Sends offsets in a transaction only as part of one client that also consumes.

    A static member of the consumer protocol does not say its instance id when it leaves, and so does not leave.
    """

    name = "franz-go"
    group_protocols = ("classic", "cooperative", "consumer")
    static_protocols = ("classic", "cooperative")
    sends_offsets = False

    def command(self) -> tuple[str, ...]:
        return toolchains.franz_go_command()


class KafkajsClient(ForeignClient):
    """Consumes only in groups, compresses only with gzip by itself, knows no header without a value.

    What it calls a seek it does while it runs; a partition cannot be read without joining a group.
    """

    name = "kafkajs"
    codecs = ("none", "gzip")
    null_headers = False
    static_protocols = ()
    assigns = False
    pattern_finds_new_topics = False
    filters_groups = False
    describes_consumer_groups = False
    unknown_group_is_dead = True
    only = frozenset(
        {
            "produce",
            "consume",
            "open_member",
            "list_groups",
            "describe_group",
            "delete_group",
            "group_offsets",
            "alter_group_offsets",
            "open_transactional_producer",
            "transform",
            "offsets",
            "create_topic",
            "delete_topic",
            "create_partitions",
            "list_topics",
            "describe_topic",
            "describe_configs",
            "alter_configs",
            "describe_cluster",
            "delete_records",
        }
    )

    def transform(
        self, source: str, target: str, group: str, transactional_id: str, count: int, *, commit: bool
    ) -> None:
        transform_step_by_step(self, source, target, group, transactional_id, count, commit)

    def command(self) -> tuple[str, ...]:
        return toolchains.kafkajs_command()
