"""Records to produce: what a request says of one, and what the answer says of it."""

from __future__ import annotations

from asyncio import Future, ensure_future
from json import dumps
from typing import Any, NamedTuple

from penstock.client.errors import FatalError, KafkaError, RetriableError
from penstock.client.records import RecordMetadata
from penstock.rest.errors import bad_field, of_kafka_error, partition_not_found
from penstock.rest.fields import ANYTHING, Field, Fields
from penstock.rest.kafka import Kafka
from penstock.rest.payloads import ENCODERS, encode_binary, encode_payload
from penstock.rest.timestamps import parse_time, time_text
from penstock.web.errors import HttpError

_HEADER = Fields(
    "ProduceRequestHeader",
    {"name": Field(str, required=True), "value": Field(str, description="in base64")},
)
_DATA = Fields(
    "ProduceRequestData", {"type": Field(str, required=True, values=tuple(ENCODERS)), "data": Field(ANYTHING)}
)
_RECORD = {
    "partition_id": Field(int, description="chosen by the key if not given"),
    "headers": Field(list, items=_HEADER),
    "key": Field(dict, items=_DATA),
    "value": Field(dict, items=_DATA),
    "timestamp": Field(str, description="as in 2021-02-05T19:14:42Z; now if not given"),
}
RECORD = Fields("ProduceRequest", _RECORD)
_ENTRY = Fields("ProduceBatchRequestEntry", {"id": Field(str, required=True), **_RECORD})
BATCH = Fields("ProduceBatchRequest", {"entries": Field(list, required=True, items=_ENTRY)})
"""For the API's description. Records are read by hand below, since that is where the proxy spends its time."""

Headers = list[tuple[str, bytes | None]]


class NewRecord(NamedTuple):
    partition: int | None
    key_type: str | None
    key: bytes | None
    value_type: str | None
    value: bytes | None
    timestamp_ms: int | None
    headers: Headers


def read_record(given: Any) -> NewRecord:
    """The record that an object of a request describes; an `HttpError` names the field that it does not."""
    if not isinstance(given, dict):
        raise bad_field("record", given, "an object with key and value")
    get = given.get
    partition, timestamp, headers = get("partition_id"), get("timestamp"), get("headers")
    if partition is not None:
        _check_partition(partition)
    key_type, key = encode_payload("key", get("key"))
    value_type, value = encode_payload("value", get("value"))
    return NewRecord(
        partition,
        key_type,
        key,
        value_type,
        value,
        None if timestamp is None else parse_time("timestamp", timestamp),
        _headers(headers) if headers else [],
    )


def _check_partition(partition: Any) -> None:
    if type(partition) is not int or partition >= 2**31:
        raise bad_field("partition_id", partition, "the number of a partition")
    if partition < 0:
        raise partition_not_found()


def _headers(given: Any) -> Headers:
    if not isinstance(given, list):
        raise bad_field("headers", given, "an array of objects with name and value")
    return [_header(f"headers[{index}]", each) for index, each in enumerate(given)]


def _header(field: str, given: Any) -> tuple[str, bytes | None]:
    if not isinstance(given, dict):
        raise bad_field(field, given, "an object with name and value")
    name, value = given.get("name"), given.get("value")
    if not isinstance(name, str):
        raise bad_field(f"{field}.name", name, "a string")
    return name, None if value is None else encode_binary(f"{field}.value", value)


class Produced:
    """A record that was handed to the producer, or refused before."""

    __slots__ = ("error", "future", "record")

    def __init__(self, record: NewRecord | None, future: Future[RecordMetadata] | None) -> None:
        self.record = record
        self.future = future
        self.error: HttpError | None = None

    async def outcome(self) -> RecordMetadata | None:
        """Where it is; None if there is an `error`."""
        if self.error is None:
            assert self.future is not None
            try:
                return await self.future
            except KafkaError as error:
                self.error = of_kafka_error(error)
        return None

    def forget(self) -> None:
        """Nobody will ask for the outcome; an error of it is nobody's business."""
        if self.future is not None:
            self.future.add_done_callback(lambda future: future.cancelled() or future.exception())


def produce_record(kafka: Kafka, topic: str, given: Any) -> Produced:
    try:
        record = read_record(given)
    except HttpError as error:
        refused = Produced(None, None)
        refused.error = error
        return refused
    return Produced(record, _send(kafka, topic, record))


def _send(kafka: Kafka, topic: str, record: NewRecord) -> Future[RecordMetadata]:
    sent = (topic, record.value, record.key, record.partition, record.timestamp_ms, record.headers)
    try:
        future = kafka.producer.send_nowait(*sent)
        if future.done() and isinstance(future.exception(), FatalError):
            future = kafka.replace_producer().send_nowait(*sent)
        return future
    except RetriableError:  # the buffer is full: wait for room
        return ensure_future(kafka.producer.send(*sent))


class Wording:
    """What outcomes of one topic's records say. They are written as text: an encoder would take longer than Kafka."""

    def __init__(self, cluster_id: str, topic: str) -> None:
        self._place = f'"cluster_id":{dumps(cluster_id)},"topic_name":{dumps(topic)},"partition_id":'

    def success(self, record: NewRecord, metadata: RecordMetadata) -> str:
        """The members of the object that says where the record is."""
        _, partition, offset, timestamp_ms = metadata
        text = f'{self._place}{partition},"offset":{offset},"timestamp":"{time_text(timestamp_ms or 0)}"'
        if record.key_type is not None:
            text += f',"key":{{"type":"{record.key_type}","size":{len(record.key or b"")}}}'
        if record.value_type is not None:
            text += f',"value":{{"type":"{record.value_type}","size":{len(record.value or b"")}}}'
        return text


def failure(error: HttpError) -> str:
    return f'"error_code":{error.error_code},"message":{dumps(error.message)}'
