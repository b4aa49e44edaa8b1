"""Short ways to say the requests that most tests need."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Sequence
from typing import Any

from penstock.errors import ErrorCode
from penstock.records.batch import Batch, split_batches
from penstock.records.builder import build_batch
from penstock.records.reader import Record, iterate_records
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

EARLIEST, LATEST = -2, -1
PRODUCE_BY_NAME = 12
"""The newest version of Produce that names topics."""
FETCH_BY_NAME = 12
TOPIC_RESOURCE = 2
SET, APPEND = 0, 2
INCREMENTAL_ALTER_CONFIGS_OPERATION_DELETE = 1

_numbers = itertools.count()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


# topics


def create_topic(
    client: WireClient, name: str, partitions: int = 1, *, replicas: int = 1, **configs: str
) -> Any:
    """Asks for a topic; configs with underscores for dots. Returns the topic's result."""
    request = CreateTopicsRequest(
        topics=[
            CreatableTopic(
                name=name,
                num_partitions=partitions,
                replication_factor=replicas,
                configs=[
                    CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()
                ],
            )
        ],
        timeout_ms=30_000,
    )
    return client.send(request).topics[0]


def new_topic(client: WireClient, name: str, partitions: int = 1, **configs: str) -> str:
    result = create_topic(client, name, partitions, **configs)
    assert result.error_code == 0, result
    wait_for(lambda: has_leaders(client, name, partitions), what=f"leaders of {name}")
    return name


def unique_topic(client: WireClient, partitions: int = 1, **configs: str) -> str:
    return new_topic(client, f"topic-{os.getpid()}-{next(_numbers)}", partitions, **configs)


def metadata(client: WireClient, *names: str) -> Any:
    """What the broker says of these topics; does not create them."""
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False
    )
    return client.send(request)


def has_leaders(client: WireClient, name: str, partitions: int) -> bool:
    (topic,) = metadata(client, name).topics
    return (
        topic.error_code == 0
        and len(topic.partitions) == partitions
        and all(partition.error_code == 0 for partition in topic.partitions)
        and all(log_end_offset(client, name, index) >= 0 for index in range(partitions))
    )


def topic_id(client: WireClient, name: str) -> bytes:
    found: bytes = metadata(client, name).topics[0].topic_id
    return found


def set_config(client: WireClient, topic: str, key: str, value: str) -> None:
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=TOPIC_RESOURCE,
                resource_name=topic,
                configs=[AlterableConfig(name=key, config_operation=SET, value=value)],
            )
        ]
    )
    (answer,) = client.send(request).responses
    assert answer.error_code == 0, answer


# records


def batch_of(
    *values: bytes | None, timestamp: int | None = None, key: bytes | None = None, **header: Any
) -> bytes:
    """A batch with one record per value, as a producer sends it."""
    if timestamp is None:
        timestamp = now_ms()
    records = [Record(index, timestamp, key, value) for index, value in enumerate(values)]
    return bytes(build_batch(records, **header).view)


def produce_request(topic: str, records: bytes | None, partition: int = 0, acks: int = -1) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=records)
    return ProduceRequest(
        acks=acks, timeout_ms=30_000, topic_data=[TopicProduceData(name=topic, partition_data=[data])]
    )


def produce(
    client: WireClient,
    topic: str,
    records: bytes | None,
    partition: int = 0,
    acks: int = -1,
    version: int = PRODUCE_BY_NAME,
) -> Any:
    """Sends one batch; the answer for its partition."""
    response = client.send(produce_request(topic, records, partition, acks), version)
    return response.responses[0].partition_responses[0]


def produced(client: WireClient, topic: str, records: bytes, partition: int = 0) -> int:
    """Sends one batch, which must be taken; its base offset."""
    answer = produce(client, topic, records, partition)
    assert answer.error_code == 0, answer
    offset: int = answer.base_offset
    return offset


# reading


def list_offset(
    client: WireClient,
    topic: str,
    timestamp: int,
    partition: int = 0,
    version: int | None = None,
    isolation_level: int = 0,
) -> Any:
    wanted = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name=topic, partitions=[wanted])],
    )
    return client.send(request, version).topics[0].partitions[0]


def log_end_offset(client: WireClient, topic: str, partition: int = 0) -> int:
    offset: int = list_offset(client, topic, LATEST, partition).offset
    return offset


def log_start_offset(client: WireClient, topic: str, partition: int = 0) -> int:
    offset: int = list_offset(client, topic, EARLIEST, partition).offset
    return offset


def wanted(topic: str, offset: int = 0, partition: int = 0, max_bytes: int = 1 << 20) -> FetchTopic:
    return FetchTopic(
        topic=topic,
        partitions=[FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes)],
    )


def fetch_request(
    *topics: FetchTopic,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 24,
    session_id: int = 0,
    session_epoch: int = -1,
    isolation_level: int = 0,
    forgotten: Sequence[ForgottenTopic] = (),
) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation_level,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=list(topics),
        forgotten_topics_data=list(forgotten),
    )


def fetch(client: WireClient, *topics: FetchTopic, version: int = FETCH_BY_NAME, **settings: Any) -> Any:
    return client.send(fetch_request(*topics, **settings), version)


def fetch_one(client: WireClient, topic: str, offset: int = 0, partition: int = 0, **settings: Any) -> Any:
    """The answer for one partition."""
    response = fetch(client, wanted(topic, offset, partition), **settings)
    assert response.error_code == 0, ErrorCode(response.error_code)
    return response.responses[0].partitions[0]


def batches_of(data: Any) -> list[Batch]:
    return split_batches(memoryview(bytes(data.records or b"")))


def records_of(data: Any) -> list[Record]:
    """What a consumer hands out; markers of transactions are not among it."""
    return [record for batch in batches_of(data) if not batch.is_control for record in iterate_records(batch)]


def read_all(client: WireClient, topic: str, partition: int = 0) -> list[Record]:
    """Every record of a partition, from its start."""
    records: list[Record] = []
    offset, end = log_start_offset(client, topic, partition), log_end_offset(client, topic, partition)
    while offset < end:
        data = fetch_one(client, topic, offset, partition)
        assert data.error_code == 0, ErrorCode(data.error_code)
        found = [record for record in records_of(data) if record.offset >= offset]
        records += found
        offset = batches_of(data)[-1].next_offset
    return records


def values_in(client: WireClient, topic: str, partition: int = 0) -> list[bytes | None]:
    return [record.value for record in read_all(client, topic, partition)]
