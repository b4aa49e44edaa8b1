"""`POST /topics/{topic_name}`, and to one of its partitions.

Everything is read before anything is sent: a record that is not what the request says it is refuses the whole request.
What Kafka does with each record is said in the answer, under HTTP's status 200, unless it is the same for all of them:
there is no such topic, or Kafka cannot be reached.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Sequence
from functools import partial
from json import dumps
from typing import Any

from penstock.client.records import RecordMetadata
from penstock.client.serializers.base import Field as Part
from penstock.rest.errors import (
    AUTHENTICATION,
    AUTHORIZATION,
    KEY_SCHEMA_MISSING,
    VALUE_SCHEMA_MISSING,
    bad_field,
    shown,
)
from penstock.rest.fields import (
    ANYTHING,
    V2_UNRECOGNIZED,
    Field,
    Fields,
    V2Fields,
    coerced_integer,
    read_integer,
    refuse_unrecognized,
)
from penstock.rest.json_stream import objects_in
from penstock.rest.kafka import Kafka
from penstock.rest.payloads import Encode, encode_binary, encode_json
from penstock.rest.schemas.choice import SchemaChoice
from penstock.rest.schemas.codec import FORMATS, TakesLong
from penstock.rest.schemas.writer import PayloadWriter
from penstock.rest.sending import UNAVAILABLE, Turns, of_produce_error, send
from penstock.rest.v2.media_types import FORMAT_OF_MEDIA_TYPE
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import Response
from penstock.wire_client.errors import KafkaError

_SCHEMAS = {
    f"{part}_schema{suffix}": Field(kind, description=text)
    for part in ("key", "value")
    for suffix, kind, text in (
        ("", str, f"the text of the schema of {part}s; it is registered if it is new"),
        ("_id", int, f"or its id in the registry; {part}s with a schema take one of the two"),
    )
}


def _body(name: str, record: dict[str, Field]) -> Fields:
    records = Field(list, required=True, items=V2Fields(f"{name}Record", record))
    return V2Fields(name, {"records": records, **_SCHEMAS})


_KEY_AND_VALUE = {"key": Field(ANYTHING), "value": Field(ANYTHING)}
_PARTITION = Field(int, description="chosen by the key if not given")
TO_TOPIC = _body("ProduceToTopicRequest", {**_KEY_AND_VALUE, "partition": _PARTITION})
TO_PARTITION = _body("ProduceToPartitionRequest", _KEY_AND_VALUE)
"""For the API's description. Records are read by hand below, since that is where the proxy spends its time."""

_OF_BODY, _OF_RECORD = frozenset(TO_TOPIC.fields), frozenset(("key", "value", "partition"))

MOST_PARTITIONS = 2**31 - 1
_PLAIN: dict[str, Encode] = {"binary": encode_binary, "json": encode_json}
_MISSING = {
    "key": (KEY_SCHEMA_MISSING, "Request includes keys but does not include key schema"),
    "value": (VALUE_SCHEMA_MISSING, "Request includes values but does not include value schema"),
}


async def produce_to_topic(kafka: Kafka, request: Request) -> Response:
    """Produce records to a topic."""
    return await _produce(kafka, request, None)


async def produce_to_partition(kafka: Kafka, request: Request) -> Response:
    """Produce records to a partition of a topic."""
    number = read_integer("partition_id", request.path["partition_id"], most=MOST_PARTITIONS)
    return await _produce(kafka, request, number)


async def _produce(kafka: Kafka, request: Request, partition: int | None) -> Response:
    topic = request.path["topic_name"]
    content_type = request.header(b"content-type").partition(";")[0].strip().lower()
    name = FORMAT_OF_MEDIA_TYPE.get(content_type, "binary")
    body = _read_body(await request.body())
    plain = _PLAIN.get(name)
    key_writer = value_writer = None
    if plain is None:
        key_writer = await _writer(kafka, topic, "key", name, body)
        value_writer = await _writer(kafka, topic, "value", name, body)
    encode_key = plain or _encoder("key", key_writer)
    encode_value = plain or _encoder("value", value_writer)
    records = []
    turns = Turns()
    for index, record in enumerate(body["records"]):
        read = partial(_read_record, index, record, encode_key, encode_value, partition)
        try:
            records.append(read())
        except TakesLong:
            records.append(await kafka.schemas.at_length(read))
        await turns.maybe_yield()
    futures = [send(kafka, topic, *record) for record in records]
    return await _answer(futures, key_writer, value_writer)


def _read_body(body: bytes) -> dict[str, Any]:
    objects = list(objects_in(body))
    if len(objects) != 1 or not isinstance(objects[0], dict):
        raise HttpError(422, 422, "Request body: takes one JSON object with records")
    given: dict[str, Any] = objects[0]
    refuse_unrecognized(given, _OF_BODY, V2_UNRECOGNIZED)
    records = given.get("records")
    if not isinstance(records, list) or not records:
        got = "an empty array" if records == [] else shown(records)
        raise HttpError(422, 422, f"records: got {got}, takes an array of at least one record")
    return given


def _read_record(
    index: int, record: Any, encode_key: Encode, encode_value: Encode, partition: int | None
) -> tuple[bytes | None, bytes | None, int | None]:
    """What the producer takes: value, key, partition."""
    if type(record) is not dict:
        raise bad_field(f"records[{index}]", record, "an object with key and value")
    if not _OF_RECORD.issuperset(record):
        refuse_unrecognized(record, _OF_RECORD, V2_UNRECOGNIZED)
    get = record.get
    key, value, own = get("key"), get("value"), get("partition")
    if type(own) is str:
        own = coerced_integer(own)
    if own is not None and (type(own) is not int or not 0 <= own <= MOST_PARTITIONS):
        raise bad_field(f"records[{index}].partition", own, "the number of a partition")
    return (
        None if value is None else encode_value(f"records[{index}].value", value),
        None if key is None else encode_key(f"records[{index}].key", key),
        partition if own is None else own,
    )


# --- schemas


async def _writer(
    kafka: Kafka, topic: str, part: Part, name: str, body: dict[str, Any]
) -> PayloadWriter | None:
    by_text, by_id = f"{part}_schema", f"{part}_schema_id"
    text, schema_id = (
        None if body.get(field) is None else _SCHEMAS[field].check(field, body[field])
        for field in (by_text, by_id)
    )
    if text is None and schema_id is None:
        return None
    if text is not None and schema_id is not None:
        raise HttpError(400, 400, f"{by_id}: only one of {by_text}, {by_id} can be used")
    field = by_text if schema_id is None else by_id
    choice = SchemaChoice(field, topic, part, FORMATS[name], schema=text, schema_id=schema_id)
    return kafka.schemas.known_writer(choice) or await kafka.schemas.writer(choice)


def _encoder(part: Part, writer: PayloadWriter | None) -> Encode:
    if writer is not None:
        return writer.encode

    def refuse(field: str, data: Any) -> bytes:
        raise HttpError(422, *_MISSING[part])

    return refuse


# --- the answer


async def _answer(
    futures: Sequence[Future[RecordMetadata]],
    key_writer: PayloadWriter | None,
    value_writer: PayloadWriter | None,
) -> Response:
    offsets: list[str] = []
    errors: list[HttpError] = []
    for future in futures:
        try:
            _, number, offset, _ = await future
            offsets.append(f'{{"partition":{number},"offset":{offset},"error_code":null,"error":null}}')
        except KafkaError as failed:
            error = of_produce_error(failed)
            errors.append(error)
            offsets.append(
                f'{{"partition":null,"offset":null,"error_code":{error.error_code},"error":{dumps(error.message)}}}'
            )
    _raise_if_all(errors, len(futures))
    text = (
        f'{{"offsets":[{",".join(offsets)}],"key_schema_id":{_id_text(key_writer)},'
        f'"value_schema_id":{_id_text(value_writer)}}}'
    )
    return Response(text.encode(), _status(errors))


def _id_text(writer: PayloadWriter | None) -> str:
    return "null" if writer is None else str(writer.schema_id)


def _raise_if_all(errors: Sequence[HttpError], count: int) -> None:
    """What is true of the topic, the partition or Kafka rather than of a record."""
    if len(errors) < count:
        return
    is_same = all(error.error_code == errors[0].error_code for error in errors)
    if all(error.status == UNAVAILABLE for error in errors) or (is_same and errors[0].status == 404):
        raise errors[0]


def _status(errors: Sequence[HttpError]) -> int:
    codes = {error.error_code for error in errors}
    return 401 if AUTHENTICATION in codes else 403 if AUTHORIZATION in codes else 200
