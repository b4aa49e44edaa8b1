"""Records to produce: what a request says of one, and what the answer says of it."""

from __future__ import annotations

from json import dumps
from typing import Any, NamedTuple

from penstock.client.records import RecordMetadata
from penstock.rest.errors import bad_field, of_kafka_error, partition_not_found
from penstock.rest.fields import Field, Fields, coerced_integer, refuse_unrecognized
from penstock.rest.kafka import Kafka
from penstock.rest.payloads import encode_binary
from penstock.rest.schemas.choice import SchemaChoice
from penstock.rest.schemas.codec import TakesLong
from penstock.rest.schemas.writer import PayloadWriter
from penstock.rest.sending import Produced, send
from penstock.rest.timestamps import parse_time, time_text
from penstock.rest.v3.new_payloads import DATA, KnownWriter, SchemaNotKnown, read_payload
from penstock.web.errors import HttpError
from penstock.wire_client.errors import KafkaError

_HEADER = Fields(
    "ProduceRequestHeader",
    {"name": Field(str, required=True), "value": Field(str, description="in base64")},
)
_RECORD = {
    "partition_id": Field(int, description="chosen by the key if not given"),
    "headers": Field(list, items=_HEADER),
    "key": Field(dict, items=DATA),
    "value": Field(dict, items=DATA),
    "timestamp": Field(str, description="as in 2021-02-05T19:14:42Z; now if not given"),
}
RECORD = Fields("ProduceRequest", _RECORD)
_ENTRY = Fields("ProduceBatchRequestEntry", {"id": Field(str, required=True), **_RECORD})
BATCH = Fields("ProduceBatchRequest", {"entries": Field(list, required=True, items=_ENTRY)})
"""For the API's description. Records are read by hand below, since that is where the proxy spends its time."""

_OF_RECORD, _OF_HEADER = frozenset(_RECORD), frozenset(_HEADER.fields)

Headers = list[tuple[str, bytes | None]]


class NewRecord(NamedTuple):
    partition: int | None
    about_key: str | None
    key: bytes | None
    about_value: str | None
    value: bytes | None
    timestamp_ms: int | None
    headers: Headers


ProducedRecord = Produced[NewRecord]


def read_record(given: Any, topic: str, known_writer: KnownWriter) -> NewRecord:
    """The record that an object of a request describes; an `HttpError` names the field that it does not."""
    if not isinstance(given, dict):
        raise bad_field("record", given, "an object with key and value")
    if not _OF_RECORD.issuperset(given):
        refuse_unrecognized(given, _OF_RECORD)
    get = given.get
    partition, timestamp, headers = get("partition_id"), get("timestamp"), get("headers")
    if type(partition) is str:
        partition = coerced_integer(partition)
    if partition is not None:
        _check_partition(partition)
    about_key, key = read_payload("key", get("key"), topic, known_writer)
    about_value, value = read_payload("value", get("value"), topic, known_writer)
    return NewRecord(
        partition,
        about_key,
        key,
        about_value,
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
    refuse_unrecognized(given, _OF_HEADER)
    name, value = given.get("name"), given.get("value")
    if not isinstance(name, str):
        raise bad_field(f"{field}.name", name, "a string")
    return name, None if value is None else encode_binary(f"{field}.value", value)


def produce_known(
    kafka: Kafka, topic: str, given: Any, known_writer: KnownWriter | None = None
) -> ProducedRecord:
    """Without waiting; raises `SchemaNotKnown` or `TakesLong` before anything is sent."""
    try:
        record = read_record(given, topic, known_writer or kafka.schemas.known_writer)
    except HttpError as error:
        return Produced(None, None, error)
    return _send(kafka, topic, record)


def _send(kafka: Kafka, topic: str, record: NewRecord) -> ProducedRecord:
    future = send(
        kafka, topic, record.value, record.key, record.partition, record.timestamp_ms, record.headers
    )
    return Produced(record, future)


async def produce_record(kafka: Kafka, topic: str, given: Any) -> ProducedRecord:
    """The same, after the registry was asked for what is not known; in a thread, if it takes long."""
    found: dict[SchemaChoice, PayloadWriter] = {}

    def known(choice: SchemaChoice) -> PayloadWriter | None:
        return found.get(choice) or kafka.schemas.known_writer(choice)

    while True:
        try:
            try:
                return produce_known(kafka, topic, given, known)
            except TakesLong:
                return _send(
                    kafka, topic, await kafka.schemas.at_length(lambda: read_record(given, topic, known))
                )
        except HttpError as error:
            return Produced(None, None, error)
        except SchemaNotKnown as unknown:
            try:
                found[unknown.choice] = await kafka.schemas.writer(unknown.choice)
            except HttpError as error:
                return Produced(None, None, error)
            except KafkaError as error:
                return Produced(None, None, of_kafka_error(error))


class Wording:
    """What outcomes of one topic's records say. They are written as text: an encoder would take longer than Kafka."""

    def __init__(self, cluster_id: str, topic: str) -> None:
        self._place = f'"cluster_id":{dumps(cluster_id)},"topic_name":{dumps(topic)},"partition_id":'

    def success(self, record: NewRecord, metadata: RecordMetadata) -> str:
        """The members of the object that says where the record is."""
        _, partition, offset, timestamp_ms = metadata
        text = f'{self._place}{partition},"offset":{offset},"timestamp":"{time_text(timestamp_ms or 0)}"'
        if record.about_key is not None:
            text += f',"key":{{{record.about_key},"size":{len(record.key or b"")}}}'
        if record.about_value is not None:
            text += f',"value":{{{record.about_value},"size":{len(record.value or b"")}}}'
        return text


def failure(error: HttpError) -> str:
    return f'"error_code":{error.error_code},"message":{dumps(error.message)}'
