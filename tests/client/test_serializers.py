"""Keys and values to bytes and back: Kafka's formats, JSON of models, and errors that say what did not fit."""

import datetime
import decimal
import enum
import uuid
from dataclasses import dataclass, field
from typing import Literal

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client import JsonDeserializer, JsonSerializer, SerializationError, Serializer
from penstock.client.serializers import Field, resolve_deserializer, resolve_serializer
from penstock.errors import ConfigError

JAVA = "org.apache.kafka.common.serialization"
ID = uuid.UUID("5b1e0f4e-8f43-4d0a-9d6c-0d7d6f0a1b2c")


def there_and_back(name: str, value: object) -> object:
    encode, decode = resolve_serializer(name, "value"), resolve_deserializer(name, "value")
    data = encode("t", value)
    return data if decode is None else decode("t", data)


@pytest.mark.parametrize(
    ("name", "value", "data"),
    [
        ("string", "café", "café".encode()),
        ("bytes", b"\x00\xff", b"\x00\xff"),
        ("short", -2, b"\xff\xfe"),
        ("integer", 258, b"\x00\x00\x01\x02"),
        ("long", -1, b"\xff" * 8),
        ("float", 0.5, b"\x3f\x00\x00\x00"),
        ("double", 1.0, b"\x3f\xf0\x00\x00\x00\x00\x00\x00"),
        ("uuid", ID, str(ID).encode()),
        ("json", {"a": [1, None, "é"]}, '{"a":[1,null,"é"]}'.encode()),
        (f"{JAVA}.StringSerializer", "x", b"x"),
        (f"{JAVA}.ByteArraySerializer", b"x", b"x"),
        (f"{JAVA}.IntegerSerializer", 1, b"\x00\x00\x00\x01"),
        (f"{JAVA}.UUIDSerializer", ID, str(ID).encode()),
    ],
)
def test_formats_are_kafkas(name: str, value: object, data: bytes) -> None:
    encode = resolve_serializer(name, "value")
    decode = resolve_deserializer(name.replace("Serializer", "Deserializer"), "value")
    assert encode("t", value) == data
    assert (decode("t", data) if decode else data) == value


@given(st.integers(-(2**63), 2**63 - 1))
def test_longs_come_back(number: int) -> None:
    assert there_and_back("long", number) == number


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda each: st.lists(each)))
def test_json_comes_back(value: object) -> None:
    assert there_and_back("json", value) == value


def test_none_is_a_tombstone_in_every_format() -> None:
    for name in ("string", "bytes", "integer", "json", "uuid"):
        assert resolve_serializer(name, "value")("t", None) is None


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("string", 7, "the value is a int, which StringSerializer cannot serialize: .*It takes str"),
        (
            "bytes",
            "x",
            "the value is a str, which BytesSerializer cannot serialize: not bytes. It takes bytes",
        ),
        (
            "integer",
            2**31,
            "IntegerSerializer cannot serialize: .*It takes int from -2147483648 to 2147483647",
        ),
        ("integer", True, "a bool is no number"),
        ("long", "1", "It takes int from -9223372036854775808"),
        ("double", "x", "It takes float or int"),
        ("uuid", "x", "not a uuid.UUID"),
        ("json", object(), "JSON has no object"),
        ("json", float("nan"), "It takes what JSON can say"),
        (lambda value: 1 / 0, 7, "division by zero"),
        (str.upper, "x", "str.upper made a str of the value; takes bytes or None"),
    ],
)
def test_what_does_not_fit_is_said(name: object, value: object, why: str) -> None:
    with pytest.raises(SerializationError, match=f"^topic orders: .*{why}"):
        resolve_serializer(name, "value")("orders", value)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        (
            "integer",
            b"abc",
            r"IntegerDeserializer cannot read the key, which has 3 bytes and begins with b'abc'.*4 bytes",
        ),
        ("string", b"\xff", "text in utf-8"),
        ("json", b"{", "It takes JSON"),
        ("uuid", b"no", "the text of a UUID"),
    ],
)
def test_what_cannot_be_read_is_said(name: str, data: bytes, why: str) -> None:
    with pytest.raises(SerializationError, match=f"^topic orders: .*{why}"):
        resolve_deserializer(name, "key")("orders", data)


def test_names_are_suggested() -> None:
    with pytest.raises(
        ConfigError, match=r"^key\.serializer: got 'strng'; takes one of .*did you mean string\?"
    ):
        resolve_serializer("strng", "key")
    with pytest.raises(ConfigError, match=r"^value\.deserializer: got 7; takes one of"):
        resolve_deserializer(7, "value")


def test_functions_and_classes() -> None:
    assert resolve_serializer(str.encode, "key")("t", "x") == b"x"
    assert resolve_deserializer(bytes.decode, "key")("t", b"x") == "x"
    assert resolve_deserializer(bytes, "key") is None
    assert resolve_serializer(JsonSerializer, "key")("t", 1) == b"1"


def test_a_serializer_knows_its_field() -> None:
    class Named(Serializer):
        def __init__(self, prefix: str = "") -> None:
            self.prefix = prefix

        def for_field(self, field: Field) -> "Named":
            return Named(field)

        def serialize(self, topic: str, value: object) -> bytes:
            return f"{topic}-{self.prefix}:{value}".encode()

    assert resolve_serializer(Named(), "key")("orders", 1) == b"orders-key:1"


# --- models


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Line:
    name: str
    price: decimal.Decimal


@dataclass
class Order:
    id: uuid.UUID
    at: datetime.datetime
    lines: list[Line]
    colour: Colour = Colour.RED
    note: str | None = None
    tags: frozenset[str] = frozenset()
    sizes: tuple[int, float] = (1, 2.0)
    counts: dict[int, bytes] = field(default_factory=dict)
    state: Literal["new", "paid"] = "new"


ORDER = Order(
    ID,
    datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.UTC),
    [Line("cup", decimal.Decimal("2.50"))],
    note="urgent",
    tags=frozenset({"web"}),
    counts={7: b"\x00"},
)


class PydanticOrder(pydantic.BaseModel):
    id: uuid.UUID
    cups: int


@pydantic.dataclasses.dataclass
class PydanticLine:
    cups: int


class StructOrder(msgspec.Struct):
    id: uuid.UUID
    cups: int


@pytest.mark.parametrize(
    "value",
    [ORDER, PydanticOrder(id=ID, cups=2), StructOrder(ID, 2), PydanticLine(cups=2)],
    ids=["dataclass", "pydantic", "msgspec", "pydantic dataclass"],
)
def test_models_come_back_from_json(value: object) -> None:
    data = resolve_serializer("json", "value")("orders", value)
    assert resolve_deserializer(type(value), "value")("orders", data) == value
    assert JsonDeserializer(type(value)).deserialize("orders", data) == value


@pytest.mark.parametrize("model", [PydanticOrder, StructOrder, Line], ids=lambda model: model.__name__)
def test_json_that_does_not_fit_its_model(model: type) -> None:
    with pytest.raises(SerializationError, match=f"the JSON of {model.__name__}"):
        resolve_deserializer(model, "value")("orders", b'{"cups": "many", "name": 7}')


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"name": 7, "price": "1"}', "Line.name: got 7, takes str"),
        (b'{"name": "cup", "price": "1", "colour": 1}', "Line has no field colour"),
        (b'{"name": "cup"}', "missing 1 required positional argument: 'price'"),
        (b"[]", r"got \[\], takes Line"),
    ],
)
def test_dataclasses_say_which_field(data: bytes, why: str) -> None:
    with pytest.raises(SerializationError, match=why):
        resolve_deserializer(Line, "value")("orders", data)


def test_models_within_plain_values() -> None:
    encode = resolve_serializer("json", "value")
    assert encode("t", {"order": PydanticOrder(id=ID, cups=2), "list": [StructOrder(ID, 1)]}) == (
        f'{{"order":{{"id":"{ID}","cups":2}},"list":[{{"id":"{ID}","cups":1}}]}}'.encode()
    )
