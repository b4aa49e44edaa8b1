"""The error answer of every API in every version that the broker serves, through the codecs."""

from collections.abc import Iterator
from typing import Any

from penstock.broker.router import APIS, load_handlers
from penstock.errors import ErrorCode
from penstock.testing.interception.error_answers import error_answer, response_class
from penstock.wire.api_keys import ApiKey
from penstock.wire.frames import decode_response_frame, encode_response_frame
from penstock.wire.messages.delete_topics import DeleteTopicsRequest
from penstock.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from penstock.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from penstock.wire.schema import Message
from tests.support.rows import each_row

load_handlers()
EVERY_VERSION = [
    (key, version)
    for key, api in sorted(APIS.items())
    for version in range(api.versions[0], api.versions[1] + 1)
]
CODE = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
SCALARS = {"string": "text", "bytes": b"b", "records": b"r", "bool": True, "uuid": b"u" * 16}


def filled(cls: type[Message], version: int) -> Any:
    """A message with one item in each array and a value in each field."""
    message = cls()
    for field in cls.SCHEMA:
        if field.exists_in(version):
            struct = field.struct
            value = filled(struct, version) if struct else SCALARS.get(field.element_kind, 7)
            setattr(message, field.name, [value] if field.is_array else value)
    return message


def codes_in(message: Message) -> Iterator[int]:
    for field in message.SCHEMA:
        value = getattr(message, field.name)
        if field.name in ("error_code", "partition_error_code"):
            yield value
        elif field.struct is not None:
            for item in (value or ()) if field.is_array else [value] if value is not None else []:
                yield from codes_in(item)


@each_row(("key", "version"), EVERY_VERSION, lambda key, version: f"{ApiKey(key).name}, {version}")
def test_the_client_reads_the_error(key: int, version: int) -> None:
    request = filled(APIS[key].request, version)
    answer = error_answer(request, version, CODE, "not yet")
    frame = b"".join(bytes(part) for part in encode_response_frame(answer, version, 5))
    correlation_id, read = decode_response_frame(
        response_class(type(request)), version, memoryview(frame)[4:]
    )
    assert correlation_id == 5
    assert CODE in codes_in(read)


def test_items_come_back_under_their_names() -> None:
    asked = ListOffsetsRequest(
        topics=[ListOffsetsTopic("a", [ListOffsetsPartition(3, timestamp=99), ListOffsetsPartition(4)])]
    )
    answer: Any = error_answer(asked, 7, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    (topic,) = answer.topics
    assert topic.name == "a"
    found = [(one.partition_index, one.error_code, one.timestamp, one.offset) for one in topic.partitions]
    assert found == [(3, 6, -1, -1), (4, 6, -1, -1)]


def test_plain_names_become_items() -> None:
    answer: Any = error_answer(DeleteTopicsRequest(topic_names=["a", "b"]), 1, ErrorCode.NOT_CONTROLLER)
    assert [(one.name, one.error_code) for one in answer.responses] == [("a", 41), ("b", 41)]


def test_the_outermost_place_is_taken() -> None:
    asked = OffsetFetchRequest(group_id="old", groups=[OffsetFetchRequestGroup("g")])
    newer: Any = error_answer(asked, 8, ErrorCode.NOT_COORDINATOR)
    assert [(one.group_id, one.error_code) for one in newer.groups] == [("g", 16)]
    older: Any = error_answer(asked, 7, ErrorCode.NOT_COORDINATOR)
    assert older.error_code == 16


def test_items_within_items() -> None:
    asked = WriteTxnMarkersRequest([WritableTxnMarker(12, topics=[WritableTxnMarkerTopic("a", [0, 1])])])
    answer: Any = error_answer(asked, 1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    (marker,) = answer.markers
    assert marker.producer_id == 12
    assert [one.partition_index for one in marker.topics[0].partitions] == [0, 1]
