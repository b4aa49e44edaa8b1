from __future__ import annotations

import os
import struct
import threading

import pytest

from penstock.cli.tools.clients.java_text import bytes_text, double_text, fixed, float_text, ratio
from penstock.cli.tools.common.bootstrap_address import problem_with_servers
from penstock.cli.tools.common.broker_list import with_bootstrap_server
from penstock.cli.tools.console.deserializers import UnknownDeserializerError, deserializer_of
from penstock.cli.tools.console.output import Output
from penstock.cli.tools.console.stored_json import camel_case, record_as_json
from penstock.wire.stored.group import RECORD_TYPES, OffsetCommitKey, OffsetCommitValue
from penstock.wire.stored_records import encode_key, encode_value
from penstock.wire_client.errors import SerializationError

PACKAGE = "org.apache.kafka.common.serialization"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-1.25e-7, "-1.25E-7"),
        (123456.789, "123456.789"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_doubles(number: float, text: str) -> None:
    assert double_text(number) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0.1, "0.1"), (1 / 3, "0.33333334"), (16777216.0, "1.6777216E7"), (3.4e38, "3.4E38")]
)
def test_floats(number: float, text: str) -> None:
    as_float = struct.unpack(">f", struct.pack(">f", number))[0]
    assert float_text(as_float) == text


def test_quotients_of_nothing() -> None:
    assert fixed(ratio(0, 0), 2) == "NaN"
    assert fixed(ratio(1, 0), 2) == "Infinity"
    assert fixed(ratio(1, 8), 2) == "0.12"


def test_bytes_as_text() -> None:
    assert bytes_text(b"a\\\x00\xff~") == "a\\x5C\\x00\\xFF~"


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [
        ("Long", b"1234", "Size of data received by LongDeserializer is not 8"),
        ("Double", b"", "Size of data received by Deserializer is not 8"),
        ("Boolean", b"\xfe", "Unexpected byte received by BooleanDeserializer: -2"),
        ("Boolean", b"ab", "Size of data received by BooleanDeserializer is not 1"),
        ("UUID", b"123e4567e89b12d3a456426614174000", "Error parsing data into UUID"),
        ("Void", b"x", "Data should be null for a VoidDeserializer."),
    ],
)
def test_data_that_does_not_fit(kind: str, data: bytes, problem: str) -> None:
    with pytest.raises(SerializationError) as caught:
        deserializer_of(f"{PACKAGE}.{kind}Deserializer", {}, False)(data)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("name", "configs"),
    [
        ("StringDeserializer", {}),
        (f"{PACKAGE}.PictureDeserializer", {}),
        (f"{PACKAGE}.StringDeserializer", {"deserializer.encoding": "no-such-encoding"}),
    ],
)
def test_deserializers_that_there_are_not(name: str, configs: dict[str, str]) -> None:
    with pytest.raises(UnknownDeserializerError):
        deserializer_of(name, configs, False)


def test_encodings_of_keys_and_values() -> None:
    configs = {"key.deserializer.encoding": "latin-1", "deserializer.encoding": "utf-16-be"}
    assert deserializer_of(f"{PACKAGE}.StringDeserializer", configs, True)(b"\xe9") == "é"
    assert deserializer_of(f"{PACKAGE}.StringDeserializer", configs, False)(b"\x00a") == "a"


# --- records of internal topics


def test_a_stored_record() -> None:
    key = encode_key(OffsetCommitKey("g", "t", 3))
    value = encode_value(OffsetCommitValue(7, 2, "é", 99), 3)
    assert record_as_json(RECORD_TYPES, key, value, None) == (
        '{"key":{"type":1,"data":{"group":"g","topic":"t","partition":3}},'
        '"value":{"version":3,"data":{"offset":7,"leaderEpoch":2,"metadata":"é","commitTimestamp":99}}}'
    )


def test_a_stored_record_that_is_deleted_or_not_wanted() -> None:
    key = encode_key(OffsetCommitKey("g", "t", 3))
    deleted = record_as_json(RECORD_TYPES, key, None, (1,))
    assert deleted is not None
    assert deleted.endswith('"value":null}')
    assert record_as_json(RECORD_TYPES, key, None, (2,)) is None
    assert record_as_json(RECORD_TYPES, b"\x00\x63", None, None) is None


def test_names_in_camel_case() -> None:
    assert camel_case("expire_timestamp_ms") == "expireTimestampMs"


# --- words and output


def test_old_name_of_the_servers() -> None:
    assert with_bootstrap_server(["--broker-list", "a:1", "--broker-list=b:2", "--broker-lists"]) == [
        *("--bootstrap-server", "a:1", "--bootstrap-server=b:2", "--broker-lists")
    ]


@pytest.mark.parametrize("text", ["localhost:9092", "a:1,b:2", "a:1,", "PLAINTEXT://h:1", "[::1]:9092"])
def test_servers(text: str) -> None:
    assert problem_with_servers(text) is None


@pytest.mark.parametrize("text", [None, "", " ", ",", "localhost", "a:1,b", ",a:1", "a:x"])
def test_what_is_no_server(text: str | None) -> None:
    assert problem_with_servers(text) is not None


def test_more_than_a_pipe_takes_at_once() -> None:
    read_end, write_end = os.pipe()
    received = bytearray()

    def receive() -> None:
        while piece := os.read(read_end, 1000):
            received.extend(piece)

    reader = threading.Thread(target=receive)
    reader.start()
    output = Output(write_end)
    output.write(b"x" * 1_000_000)
    os.close(write_end)
    reader.join(30)
    os.close(read_end)
    assert received == b"x" * 1_000_000
    assert not output.is_broken


def test_a_reader_that_left() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    output = Output(write_end)
    output.write(b"x")
    output.write(b"y")
    os.close(write_end)
    assert output.is_broken
