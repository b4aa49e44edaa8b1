"""What every client is asked, in one vocabulary: records, answers, errors and the operations themselves.

A driver subclasses `Client` and overrides the operations that its library has; `operations()` is read off
that, so that tests run for exactly the clients that can. Every failure that a broker caused is a `ClientError`
with Kafka's numeric error code, whatever the library calls it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from tests.foreign_clients.drivers.sessions import (
    Committed,
    Member,
    Membership,
    Offsets,
    ShareMember,
    TopicAndPartition,
    TransactionalProducer,
)

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5

# Kafka's error codes, as far as the suite expects them.
OFFSET_OUT_OF_RANGE = 1
UNKNOWN_TOPIC_OR_PARTITION = 3
MESSAGE_TOO_LARGE = 10
INVALID_TOPIC_EXCEPTION = 17
UNKNOWN_MEMBER_ID = 25
TOPIC_ALREADY_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_REPLICATION_FACTOR = 38
INVALID_CONFIG = 40
INVALID_PRODUCER_EPOCH = 47
NON_EMPTY_GROUP = 68
GROUP_ID_NOT_FOUND = 69
FENCED_INSTANCE_ID = 82
GROUP_SUBSCRIBED_TO_TOPIC = 86
INVALID_RECORD = 87
PRODUCER_FENCED = 90
TRANSACTIONAL_ID_NOT_FOUND = 105


class ClientError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"error {code}: {message}")
        self.code = code


def _encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


@dataclass(frozen=True)
class Record:
    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp: int | None = None
    partition: int | None = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "key": _encoded(self.key),
            "value": _encoded(self.value),
            "headers": [[name, _encoded(value)] for name, value in self.headers],
            "timestamp": self.timestamp,
            "partition": self.partition,
        }


@dataclass(frozen=True)
class Consumed:
    record: Record
    offset: int
    timestamp_type: str | None  # CreateTime, LogAppendTime; None where the library does not say

    @classmethod
    def from_json(cls, node: Mapping[str, Any]) -> Consumed:
        headers = tuple((name, _decoded(value)) for name, value in node["headers"])
        value, key = _decoded(node["value"]), _decoded(node["key"])
        record = Record(value, key, headers, node["timestamp"], node["partition"])
        return cls(record, node["offset"], node["timestamp_type"])


@dataclass(frozen=True)
class Sent:
    partition: int
    offset: int  # -1 with acks=0


@dataclass(frozen=True)
class Position:
    """Where a consumer seeks to: kind is offset, timestamp, beginning or end."""

    kind: str
    at: int = 0


@dataclass(frozen=True)
class OffsetAt:
    offset: int
    timestamp: int | None  # None where the library does not say


@dataclass(frozen=True)
class PartitionOffsets:
    beginning: int
    end: int
    for_times: tuple[OffsetAt, ...]


@dataclass(frozen=True)
class PartitionInfo:
    partition: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True)
class ConfigValue:
    value: str | None
    source: str | None  # None where the library does not say
    sensitive: bool


@dataclass(frozen=True)
class Cluster:
    cluster_id: str | None  # None where the library does not say
    controller: int | None
    brokers: Mapping[int, str]


@dataclass(frozen=True)
class Replica:
    path: str
    topic: str
    partition: int
    size: int


@dataclass(frozen=True)
class ProducerState:
    producer_id: int
    epoch: int
    last_sequence: int
    last_timestamp: int


@dataclass(frozen=True)
class GroupListing:
    protocol_type: str | None  # None where the library does not say
    state: str | None
    kind: str | None  # classic, consumer or share


@dataclass(frozen=True)
class MemberInfo:
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: frozenset[TopicAndPartition]


@dataclass(frozen=True)
class GroupInfo:
    state: str
    kind: str | None  # None where the library does not say
    assignor: str
    members: tuple[MemberInfo, ...]


@dataclass(frozen=True)
class TransactionInfo:
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    partitions: frozenset[TopicAndPartition]


@dataclass(frozen=True)
class Change:
    """One incremental change of a config: SET, DELETE, APPEND or SUBTRACT."""

    kind: str
    name: str
    value: str | None = None


class Client:
    """One client library against one cluster. Not overridden means: the library cannot."""

    name: str
    codecs: tuple[str, ...] = CODECS
    null_headers = True  # a header without a value can be sent
    chooses_auto_creation = True  # the producer can be told not to create topics
    group_protocols: tuple[str, ...] = ("classic",)  # of classic, cooperative, consumer
    static_protocols: tuple[str, ...] = (
        "classic",
        "cooperative",
        "consumer",
    )  # a member can have an instance id
    tells_metadata = True  # of committed offsets, to an administrator
    metadata_end = ""  # what the library puts behind the metadata of an offset
    sends_offsets = True  # a transactional producer takes offsets by themselves
    assigns = True  # a consumer can be given partitions instead of a subscription
    pattern_finds_new_topics = True  # a topic made later joins a pattern
    describes_consumer_groups = True  # also those of the consumer protocol
    unknown_group_is_dead = (
        False  # describes a group that is not there as one, in an older version of the request
    )
    filters_groups = True  # groups can be listed by state and by type

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    @classmethod
    def operations(cls) -> frozenset[str]:
        return frozenset(name for name in OPERATIONS if getattr(cls, name) is not getattr(Client, name))

    def close(self) -> None:
        pass

    def _lacks(self, operation: str) -> NoReturn:
        raise NotImplementedError(f"{self.name} has no {operation}")

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
        self._lacks("produce")

    def consume(self, topic: str, count: int, *, partition: int = 0, offset: int = 0) -> list[Consumed]:
        self._lacks("consume")

    def consume_partitions(self, topic: str, partitions: Sequence[int], count: int) -> list[Consumed]:
        """One consumer, assigned all of the partitions, from their beginning."""
        self._lacks("consume_partitions")

    def seek(self, topic: str, positions: Sequence[Position], count: int) -> list[list[int]]:
        """Moves one consumer to each position in turn and reads `count` records there: their offsets."""
        self._lacks("seek")

    def offsets(self, topic: str, timestamps: Sequence[int] = (), *, partition: int = 0) -> PartitionOffsets:
        self._lacks("offsets")

    def partitions_of(self, topic: str, *, auto_create: bool) -> list[int]:
        """The partitions as a consumer sees them that may, or may not, create the topic by asking."""
        self._lacks("partitions_of")

    def create_topic(
        self,
        topic: str,
        *,
        partitions: int = 1,
        replication_factor: int = 1,
        configs: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None:
        self._lacks("create_topic")

    def delete_topic(self, topic: str) -> None:
        self._lacks("delete_topic")

    def create_partitions(self, topic: str, total: int) -> None:
        self._lacks("create_partitions")

    def list_topics(self) -> set[str]:
        self._lacks("list_topics")

    def describe_topic(self, topic: str) -> list[PartitionInfo]:
        self._lacks("describe_topic")

    def describe_configs(self, resource_type: str, name: str) -> dict[str, ConfigValue]:
        self._lacks("describe_configs")

    def alter_configs(self, resource_type: str, name: str, configs: Mapping[str, str]) -> None:
        """Sets these and resets every other one: the older call."""
        self._lacks("alter_configs")

    def incremental_alter_configs(self, resource_type: str, name: str, changes: Sequence[Change]) -> None:
        self._lacks("incremental_alter_configs")

    def describe_cluster(self) -> Cluster:
        self._lacks("describe_cluster")

    def delete_records(self, topic: str, before: int, *, partition: int = 0) -> int:
        """Returns the new low watermark."""
        self._lacks("delete_records")

    def list_offsets(self, topic: str, timestamps: Sequence[int], *, partition: int = 0) -> list[OffsetAt]:
        """The admin's way; a negative timestamp is one of the specials above."""
        self._lacks("list_offsets")

    def describe_log_dirs(self, broker: int) -> list[Replica]:
        self._lacks("describe_log_dirs")

    def describe_producers(self, topic: str, *, partition: int = 0) -> list[ProducerState]:
        self._lacks("describe_producers")

    def open_member(self, membership: Membership) -> Member:
        self._lacks("open_member")

    def list_groups(
        self, *, states: Sequence[str] = (), kinds: Sequence[str] = ()
    ) -> dict[str, GroupListing]:
        self._lacks("list_groups")

    def describe_group(self, group: str) -> GroupInfo:
        self._lacks("describe_group")

    def delete_group(self, group: str) -> None:
        self._lacks("delete_group")

    def group_offsets(self, group: str) -> dict[TopicAndPartition, Committed]:
        self._lacks("group_offsets")

    def alter_group_offsets(self, group: str, offsets: Offsets) -> None:
        self._lacks("alter_group_offsets")

    def delete_group_offsets(self, group: str, partitions: Sequence[TopicAndPartition]) -> None:
        self._lacks("delete_group_offsets")

    def remove_static_member(self, group: str, instance_id: str) -> None:
        self._lacks("remove_static_member")

    def open_transactional_producer(
        self, transactional_id: str, *, timeout_ms: int = 60_000
    ) -> TransactionalProducer:
        """Returns when its epoch is the newest: older ones are fenced, what they left open is aborted."""
        self._lacks("open_transactional_producer")

    def transform(
        self, source: str, target: str, group: str, transactional_id: str, count: int, *, commit: bool
    ) -> None:
        """Reads `count` records in the group and writes them on, with the offsets, in one transaction."""
        self._lacks("transform")

    def describe_transaction(self, transactional_id: str) -> TransactionInfo:
        self._lacks("describe_transaction")

    def list_transactions(self) -> dict[str, str]:
        """The state of each transactional id."""
        self._lacks("list_transactions")

    def describe_share_group(self, group: str) -> GroupInfo:
        self._lacks("describe_share_group")

    def delete_share_group(self, group: str) -> None:
        self._lacks("delete_share_group")

    def open_share_member(self, group: str, topic: str, *, explicit: bool, max_records: int) -> ShareMember:
        """Explicit: each record is acknowledged by name, not by polling again."""
        self._lacks("open_share_member")


OPERATIONS = tuple(
    name
    for name, member in vars(Client).items()
    if callable(member) and not name.startswith("_") and name != "close"
)
