"""Bytes of schema ids, the same as Confluent's library makes and reads."""

import io
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client.registry.wire_format import SchemaId, decode_schema_id, encode_guid, encode_id
from tests.client.registry.confluent import TheirSchemaId

IDS = st.integers(0, 2**32 - 1)
INDEXES = st.lists(st.integers(0, 2**20), min_size=1, max_size=12)
GUID = "89791762-2336-4186-9674-299b90a802e2"


@given(IDS)
def test_an_id_is_written_as_theirs(schema_id: int) -> None:
    data = encode_id(schema_id)
    assert data == TheirSchemaId("AVRO", schema_id).id_to_bytes()
    assert decode_schema_id(data + b"data", [], "value", False) == (SchemaId(schema_id, None), 5)


@given(st.uuids())
def test_a_guid_is_written_as_theirs(guid: uuid.UUID) -> None:
    data = encode_guid(str(guid))
    assert data == TheirSchemaId("AVRO", None, str(guid)).guid_to_bytes()
    headers = [("other", b"x"), ("__key_schema_id", data)]
    assert decode_schema_id(b"data", headers, "key", False) == (SchemaId(None, str(guid)), 0)


@given(IDS, INDEXES)
def test_message_indexes_are_written_as_theirs(schema_id: int, indexes: list[int]) -> None:
    data = encode_id(schema_id, indexes)
    assert data == TheirSchemaId("PROTOBUF", schema_id, None, indexes).id_to_bytes()
    found, start = decode_schema_id(data + b"data", [], "value", True)
    assert (found, start) == (SchemaId(schema_id, None, tuple(indexes)), len(data))
    read = TheirSchemaId("PROTOBUF")
    read.from_bytes(io.BytesIO(data))
    assert read.message_indexes == indexes


def test_the_first_message_is_one_zero() -> None:
    assert encode_id(258, [0]) == b"\0\0\0\1\2\0"
    long_form = b"\0\0\0\1\2\2\0"
    assert decode_schema_id(long_form, [], "value", True) == (SchemaId(258, None, (0,)), 7)


def test_a_header_goes_before_the_prefix() -> None:
    headers = [("__value_schema_id", encode_guid(GUID))]
    assert decode_schema_id(encode_id(7) + b"x", headers, "value", False) == (SchemaId(None, GUID), 0)
    assert decode_schema_id(encode_id(7) + b"x", headers, "key", False) == (SchemaId(7, None), 5)


@pytest.mark.parametrize(
    ("data", "headers", "message"),
    [
        (b"", [], "the prefix is empty"),
        (b"\0\0\0\1", [], "the prefix ends within its schema id"),
        (b"\1" + bytes(15), [], "the prefix ends within its schema id"),
        (b'{"cups": 2}', [], "the prefix begins with byte 123"),
        (b"x", [("__value_schema_id", b"")], "header __value_schema_id is empty"),
        (b"x", [("__value_schema_id", b"\7" * 17)], "header __value_schema_id begins with byte 7"),
        (b"x", [("__value_schema_id", encode_id(1) + b"!")], "header __value_schema_id has 1 bytes too many"),
    ],
)
def test_what_is_no_schema_id(data: bytes, headers: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode_schema_id(data, headers, "value", False)


@pytest.mark.parametrize(
    ("indexes", "message"),
    [
        (b"", "the message indexes do not end"),
        (b"\x80", "the message indexes do not end"),
        (b"\x80\x80\x80\x80\x80\x80\x01", "the message indexes do not end"),
        (b"\4\0", "the message indexes do not end"),
        (b"\1", "-1 message indexes"),
        (b"\2\1", "message index -1 is negative"),
        (b"\xfe\xff\x7f", "1048575 message indexes"),
    ],
)
def test_message_indexes_that_are_none(indexes: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode_schema_id(encode_id(1) + indexes, [], "value", True)


@given(st.binary(max_size=40), st.booleans())
def test_any_bytes_are_read_or_refused(data: bytes, with_indexes: bool) -> None:
    try:
        _, start = decode_schema_id(data, [], "value", with_indexes)
    except ValueError:
        return
    assert 5 <= start <= len(data)
