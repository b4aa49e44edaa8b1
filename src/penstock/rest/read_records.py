"""Records as JSON, in the shape that they are produced in; and where in a topic to begin."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Sequence
from json import loads
from typing import Any, NamedTuple

from penstock.client.admin.list_offsets import OffsetSpec, list_offsets
from penstock.client.serializers.base import Field as Part
from penstock.errors import ErrorCode
from penstock.records.reader import Record
from penstock.rest.errors import bad_field, partition_not_found
from penstock.rest.fields import Parameter
from penstock.rest.kafka import Kafka
from penstock.rest.schemas.codec import FORMATS as SCHEMA_FORMATS
from penstock.rest.schemas.payloads import SchemaPayloads, Undecodable
from penstock.rest.timestamps import parse_time, time_text
from penstock.types import TopicPartition
from penstock.web.request import Request
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for

Payload = dict[str, Any] | None


def _binary(data: bytes) -> Payload:
    return {"type": "BINARY", "data": b2a_base64(data, newline=False).decode()}


def _string(data: bytes) -> Payload:
    try:
        return {"type": "STRING", "data": data.decode()}
    except UnicodeDecodeError:
        return _binary(data)


def _json(data: bytes) -> Payload:
    try:
        return {"type": "JSON", "data": loads(data)}
    except (ValueError, RecursionError):
        return _binary(data)


Decode = Callable[[bytes], Payload]
DECODERS: dict[str, Decode] = {"BINARY": _binary, "JSON": _json, "STRING": _string}
TYPES = (*DECODERS, *(each.name for each in SCHEMA_FORMATS.values()))
PARTS: tuple[Part, Part] = ("key", "value")
FORMATS = tuple(
    Parameter(f"{part}_type", str, f"{', '.join(TYPES)}; BINARY unless given. What is none is BINARY.")
    for part in PARTS
)


class RecordFormat(NamedTuple):
    """How records are told: keys and values of which types."""

    schemas: SchemaPayloads
    key_type: str
    value_type: str

    @classmethod
    def of(cls, kafka: Kafka, request: Request) -> RecordFormat:
        wanted = cls(kafka.schemas, *(_type(request, each.name) for each in FORMATS))
        if not DECODERS.keys() >= {wanted.key_type, wanted.value_type}:
            kafka.schemas.require_registry("deserializing")
        return wanted

    async def told(self, partition: int, record: Record) -> dict[str, Any]:
        return {
            "partition_id": partition,
            "offset": record.offset,
            "timestamp": time_text(max(0, record.timestamp)),
            "headers": [
                {"name": name, "value": None if value is None else b2a_base64(value, newline=False).decode()}
                for name, value in record.headers
            ],
            "key": None if record.key is None else await self._payload("key", record.key, record),
            "value": None if record.value is None else await self._payload("value", record.value, record),
        }

    async def _payload(self, part: Part, data: bytes, record: Record) -> Payload:
        kind = self.key_type if part == "key" else self.value_type
        plain = DECODERS.get(kind)
        if plain is not None:
            return plain(data)
        try:
            schema_id, value = await self.schemas.decoded(kind.lower(), data, record.headers, part)
        except Undecodable:
            return _binary(data)
        which = {"schema_id": schema_id.id} if schema_id.guid is None else {"schema_guid": schema_id.guid}
        return {"type": kind, **which, "data": value}


def _type(request: Request, name: str) -> str:
    kind = request.text(name, "BINARY").upper()
    if kind not in TYPES:
        raise bad_field(name, request.text(name), f"one of {', '.join(TYPES)}")
    return kind


# --- where to begin

PLACES = "earliest, latest, an offset, or a time as in 2021-02-05T19:14:42Z"
_SPECS = {"earliest": OffsetSpec.EARLIEST, "latest": OffsetSpec.LATEST}


async def partitions_of(cluster: Cluster, topic: str) -> list[int]:
    """Raises if there is no such topic."""
    [found] = (await cluster.metadata([topic])).topics
    if found.error_code and found.error_code != ErrorCode.LEADER_NOT_AVAILABLE:
        raise error_for(found.error_code)
    return sorted(each.partition_index for each in found.partitions)


async def require_partition(cluster: Cluster, topic: str, partition: int) -> None:
    if partition not in await partitions_of(cluster, topic):
        raise partition_not_found()


async def offsets_from(
    cluster: Cluster, topic: str, partitions: Sequence[int], place: str, name: str
) -> dict[int, int]:
    """The offsets at which to begin in each partition; `place` is one of `PLACES`, given as `name`."""
    if place.isdecimal():
        if len(partitions) > 1:
            raise bad_field(name, place, "an offset only together with one partition")
        return {partitions[0]: _in_range(await _ends(cluster, topic, partitions[0]), int(place), name)}
    spec = _SPECS.get(place)
    time = int(spec) if spec is not None else _time(name, place)
    found = await _listed(cluster, topic, partitions, time)
    if time >= 0 and -1 in found.values():  # no record is that young: begin at the end
        found = {**await _listed(cluster, topic, partitions, OffsetSpec.LATEST)} | {
            number: offset for number, offset in found.items() if offset >= 0
        }
    return found


async def offsets_at(cluster: Cluster, topic: str, wanted: dict[int, int]) -> dict[int, int]:
    """The same offsets; the first one instead of one that is not there, or not there any more."""
    found: dict[int, int] = {}
    for number, offset in wanted.items():
        first, end = await _ends(cluster, topic, number)
        found[number] = offset if first <= offset <= end else first
    return found


def _time(name: str, place: str) -> int:
    if "T" not in place:
        raise bad_field(name, place, PLACES)
    return parse_time(name, place)


async def _ends(cluster: Cluster, topic: str, partition: int) -> tuple[int, int]:
    ends = [
        await _listed(cluster, topic, [partition], spec) for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
    ]
    return ends[0][partition], ends[1][partition]


def _in_range(ends: tuple[int, int], offset: int, name: str) -> int:
    if not ends[0] <= offset <= ends[1]:
        raise bad_field(name, offset, f"an offset from {ends[0]} to {ends[1]}")
    return offset


async def _listed(cluster: Cluster, topic: str, partitions: Sequence[int], spec: int) -> dict[int, int]:
    wanted = {TopicPartition(topic, number): spec for number in partitions}
    found: dict[int, int] = {}
    for partition, listed in (await list_offsets(cluster, wanted)).items():
        if isinstance(listed, KafkaError):
            raise listed
        found[partition.partition] = listed.offset
    return found
