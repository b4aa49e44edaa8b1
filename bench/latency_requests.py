"""The requests of the latency client, all encoded before its clock starts, and what is to come back.

The versions are fixed, so that both servers are asked the very same bytes but for the topic's id. Each request produces
one batch of one record to partition 0 with acks=all; its value is its number. Fetches are as clients send them: at
least one byte, half a second at most, fifty megabytes, a megabyte of a partition.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bench.wire import Connection
from penstock.errors import ErrorCode
from penstock.records.batch import Batch, split_batches
from penstock.records.builder import build_batch
from penstock.records.reader import Record, iterate_records
from penstock.wire.frames import decode_response_frame, encode_request_frame
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from penstock.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from penstock.wire.schema import ApiMessage

METADATA_VERSION, PRODUCE_VERSION, FETCH_VERSION = 12, 13, 17
CLIENT_ID = "bench"
VALUE_BYTES = 100
ACKS_ALL = -1
PRODUCE_TIMEOUT_MS = 30_000
FETCH_MAX_WAIT_MS = 500
FETCH_MIN_BYTES = 1
FETCH_MAX_BYTES = 52_428_800
FETCH_PARTITION_MAX_BYTES = 1_048_576


def encode(request: ApiMessage, version: int, correlation_id: int) -> bytes:
    parts = encode_request_frame(request, version, correlation_id, CLIENT_ID)
    return b"".join(bytes(part) for part in parts)  # type: ignore[arg-type]  # none lies in a file


def value_of(number: int) -> bytes:
    return str(number).encode().rjust(VALUE_BYTES, b"0")


def encode_produce(topic_id: bytes, number: int) -> bytes:
    batch = build_batch([Record(0, time.time_ns() // 1_000_000, None, value_of(number))])
    topic = TopicProduceData(topic_id=topic_id, partition_data=[PartitionProduceData(0, batch.view)])
    return encode(ProduceRequest(None, ACKS_ALL, PRODUCE_TIMEOUT_MS, [topic]), PRODUCE_VERSION, number)


def encode_fetch(topic_id: bytes, offset: int) -> bytes:
    partition = FetchPartition(0, fetch_offset=offset, partition_max_bytes=FETCH_PARTITION_MAX_BYTES)
    request = FetchRequest(
        max_wait_ms=FETCH_MAX_WAIT_MS,
        min_bytes=FETCH_MIN_BYTES,
        max_bytes=FETCH_MAX_BYTES,
        topics=[FetchTopic(topic_id=topic_id, partitions=[partition])],
    )
    return encode(request, FETCH_VERSION, offset)


def ask_topic_id(port: int, topic: str) -> bytes:
    connection = Connection(port)
    request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    frame = connection.exchange(encode(request, METADATA_VERSION, 0))
    connection.close()
    _, answer = decode_response_frame(MetadataResponse, METADATA_VERSION, memoryview(frame))
    assert isinstance(answer, MetadataResponse)
    (found,) = answer.topics
    raise_for(found.error_code, f"the metadata of {topic}")
    return found.topic_id


def decode_fetched(frame: memoryview) -> list[Batch]:
    """The batches, none if nothing came while the broker waited; what is in them is looked at later."""
    offset, answer = decode_response_frame(FetchResponse, FETCH_VERSION, frame)
    assert isinstance(answer, FetchResponse)
    raise_for(answer.error_code, f"the fetch at offset {offset}")
    partitions = [partition for topic in answer.responses for partition in topic.partitions]
    for partition in partitions:
        raise_for(partition.error_code, f"the fetch at offset {offset}")
    return [
        batch
        for partition in partitions
        if isinstance(partition.records, memoryview)
        for batch in split_batches(partition.records)
    ]


def raise_for(error_code: int, what: str) -> None:
    if error_code:
        raise RuntimeError(f"{what}: {ErrorCode(error_code).name}")


def check_acknowledged(frames: Sequence[memoryview]) -> None:
    """That the records were accepted in their order, each at its offset."""
    for number, frame in enumerate(frames):
        answered, answer = decode_response_frame(ProduceResponse, PRODUCE_VERSION, frame)
        assert isinstance(answer, ProduceResponse)
        partition = answer.responses[0].partition_responses[0]
        raise_for(partition.error_code, f"the acknowledgement of record {number}")
        if (answered, partition.base_offset) != (number, number):
            raise RuntimeError(
                f"record {number} was answered as {answered} at offset {partition.base_offset}"
            )


def check_read_back(batches: Sequence[Batch]) -> None:
    """That each batch has the one record of its turn, at its offset, intact."""
    for number, batch in enumerate(batches):
        if not batch.is_valid():
            raise RuntimeError(f"the batch at offset {batch.base_offset} is corrupt")
        found = [(record.offset, record.value) for record in iterate_records(batch)]
        if found != [(number, value_of(number))]:
            raise RuntimeError(f"read {found} where record {number} belongs")
