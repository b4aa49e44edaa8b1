"""The compiled codecs against kio, which reads and writes the same messages with other code."""

import dataclasses
import datetime
import importlib
import io
import pkgutil
import random
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.schema.index import api_key_map
from kio.serial import entity_reader, entity_writer

import penstock.wire.messages
from penstock.errors import ProtocolError
from penstock.wire.codec import decode_message, encode_message, is_flexible
from penstock.wire.primitives import MAX_STRING_BYTES
from penstock.wire.schema import ApiMessage, Field, Message
from tests.support.rows import each_row

MODULES = [module.name for module in pkgutil.iter_modules(penstock.wire.messages.__path__)]


def message_classes(module_name: str) -> Iterator[type[ApiMessage]]:
    module = importlib.import_module(f"penstock.wire.messages.{module_name}")
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, ApiMessage) and value is not ApiMessage:
            yield value


def kio_class(cls: type[ApiMessage], version: int) -> Any:
    kind = "request" if cls.__name__.endswith("Request") else "response"
    module = importlib.import_module(f"kio.schema.{api_key_map[cls.API_KEY]}.v{version}.{kind}")
    return getattr(module, cls.__name__)


def random_value(field: Field, version: int, rng: random.Random) -> Any:
    if field.nullable_in(version) and rng.random() < 0.2:
        return None
    if field.is_array:
        return [random_element(field, version, rng) for _ in range(rng.randrange(4))]
    return random_element(field, version, rng)


def random_element(field: Field, version: int, rng: random.Random) -> Any:
    bits = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
    kind = field.element_kind
    if kind == "struct":
        assert field.struct is not None
        return random_message(field.struct, version, rng)
    if field.name.endswith("_ms") and kind == "int64":
        return rng.randrange(2**40)  # kio makes a datetime of it
    if field.name.endswith("error_code"):
        return rng.choice(list(KioErrorCode)).value
    if kind in bits:
        return rng.randrange(-(2 ** bits[kind]), 2 ** bits[kind])
    return {
        "bool": lambda: rng.random() < 0.5,
        "uint16": lambda: rng.randrange(2**16),
        "uint32": lambda: rng.randrange(2**32),
        "float64": rng.random,
        "string": lambda: "".join(rng.choice("aäß漢x-") for _ in range(rng.choice((0, 3, 200)))),
        "bytes": lambda: rng.randbytes(rng.choice((0, 5, 300))),
        "records": lambda: rng.randbytes(rng.choice((0, 5, 300))),
        "uuid": lambda: rng.randbytes(16),
    }[kind]()


def random_message(cls: type[Message], version: int, rng: random.Random) -> Message:
    values = {f.name: random_value(f, version, rng) for f in cls.SCHEMA if f.exists_in(version)}
    return cls(**values)


def encode(message: ApiMessage, version: int) -> bytes:
    return b"".join(bytes(part) for part in encode_message(message, version, bytearray()))  # type: ignore[arg-type]


def assert_same(ours: Any, theirs: Any) -> None:
    """Compares our value with kio's, which has richer types."""
    if isinstance(ours, Message):
        names = {f.name for f in ours.SCHEMA}
        for name in (f.name for f in dataclasses.fields(theirs)):
            assert_same(getattr(ours, name if name in names else f"{name}_ms"), getattr(theirs, name))
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    elif isinstance(theirs, uuid.UUID):
        assert ours == theirs.bytes
    elif isinstance(theirs, datetime.timedelta):
        assert ours == theirs // datetime.timedelta(milliseconds=1)
    elif isinstance(theirs, datetime.datetime):
        assert ours == round(theirs.timestamp() * 1000)
    elif isinstance(theirs, KioErrorCode):
        assert ours == theirs.value
    elif theirs is None:
        assert ours in (None, bytes(16), -1)
    else:
        assert ours == theirs


@each_row("module", MODULES)
def test_kio_reads_what_we_write_and_writes_it_alike(module: str) -> None:
    rng = random.Random(module)
    for cls in message_classes(module):
        for version in range(cls.VERSIONS[0], cls.VERSIONS[1] + 1):
            read, write = entity_reader(kio_class(cls, version)), entity_writer(kio_class(cls, version))
            for _ in range(5):
                message = random_message(cls, version, rng)
                encoded = encode(message, version)
                theirs, size = read(encoded, 0)
                assert size == len(encoded)
                assert_same(message, theirs)
                out = io.BytesIO()
                write(out, theirs)
                decoded = decode_message(cls, version, memoryview(out.getvalue()), 0)
                assert_same(decoded, theirs)


@each_row("module", MODULES)
def test_hostile_bytes_are_refused_and_never_ask_for_memory(module: str) -> None:
    rng = random.Random(module)
    for cls in message_classes(module):
        for version in {cls.VERSIONS[0], cls.VERSIONS[1]}:
            encoded = encode(random_message(cls, version, rng), version)  # type: ignore[arg-type]
            for _ in range(60):
                broken = bytearray(encoded)
                for _ in range(rng.randrange(1, 4)):
                    if broken:
                        broken[rng.randrange(len(broken))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
                cut = memoryview(broken)[: rng.randrange(len(broken) + 1)]
                try:
                    decode_message(cls, version, cut, 0)
                except ProtocolError:
                    pass  # the only way out besides a message


@each_row("module", MODULES)
def test_a_message_cut_anywhere_is_refused(module: str) -> None:
    rng = random.Random(module)
    for cls in message_classes(module):
        version = cls.VERSIONS[1]
        encoded = encode(random_message(cls, version, rng), version)  # type: ignore[arg-type]
        for end in range(min(len(encoded), 400)):
            with pytest.raises(ProtocolError):
                decode_message(cls, version, memoryview(encoded)[:end], 0)


def test_unknown_tagged_fields_are_skipped() -> None:
    from penstock.wire.messages.metadata import MetadataRequest

    encoded = encode(MetadataRequest(topics=None), 12)
    assert encoded[-1] == 0
    with_unknown = encoded[:-1] + bytes([2, 99, 3]) + b"abc" + bytes([100, 0])
    assert decode_message(MetadataRequest, 12, memoryview(with_unknown), 0) == MetadataRequest(topics=None)


def test_a_huge_array_count_is_refused() -> None:
    from penstock.wire.messages.metadata import MetadataRequest

    assert is_flexible(MetadataRequest, 12)
    with pytest.raises(ProtocolError, match="topics"):
        decode_message(MetadataRequest, 12, memoryview(b"\xff\xff\xff\xff\x07\x00"), 0)


def test_a_string_has_a_limit() -> None:
    """Also where its length is a varint, as in Kafka."""
    from penstock.wire.messages.list_groups import ListGroupsRequest
    from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

    def check(request: ApiMessage, version: int) -> None:
        assert decode_message(type(request), version, memoryview(encode(request, version)), 0) == request

    def check_all(name: str) -> Iterator[Callable[[], None]]:
        yield lambda: check(MetadataRequest([MetadataRequestTopic(bytes(16), name)]), 12)
        yield lambda: check(ListGroupsRequest([name]), 5)

    for taken in check_all("x" * MAX_STRING_BYTES):
        taken()
    for refused in check_all("x" * (MAX_STRING_BYTES + 1)):
        with pytest.raises(ProtocolError, match="a string of 32768 bytes; at most 32767 are taken"):
            refused()


def test_records_stay_a_view_into_the_frame() -> None:
    from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

    data = PartitionProduceData(0, b"records")
    encoded = encode(ProduceRequest(None, 1, 100, [TopicProduceData("t", bytes(16), [data])]), 9)
    frame = bytearray(encoded)
    request = decode_message(ProduceRequest, 9, memoryview(frame), 0)
    records = request.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is frame
