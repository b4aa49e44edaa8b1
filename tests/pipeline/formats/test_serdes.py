"""The quick ways of serdes make what the clients' own functions make."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from penstock.client.serializers import JsonDeserializer, JsonSerializer
from penstock.pipeline.formats.serdes import serde_of
from penstock.pipeline.plan.serdes import Serde
from penstock.wire_client.errors import SerializationError

FLOATS = some.floats(allow_nan=False, allow_infinity=False) | some.sampled_from(
    (0.0, -0.0, 1e-4, -1e-4, 9.99e-5, 1e15, 9_999_999_999_999_998.0, 1e16, -1e16, 5e-324, 1e308)
)
INTEGERS = some.integers() | some.sampled_from((2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1))
VALUES = some.recursive(
    some.none() | some.booleans() | INTEGERS | FLOATS | some.text(),
    lambda inner: (
        some.lists(inner) | some.dictionaries(some.text(), inner) | some.dictionaries(INTEGERS, inner)
    ),
)
TEXTS = (
    *(b"-0", b"1e5", b"1E400", b"-0.0", b"NaN", b"-Infinity", b"18446744073709551616", b'{"a":1,"a":2}'),
    *(b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\x7f"', b'"\\u0000\\/"', b"\xef\xbb\xbf1", b'"\xed\xa0\x80"'),
    *('{"a":"b"}'.encode(each) for each in ("utf-16", "utf-16-le", "utf-32")),
)
NO_JSON = (b"", b"01", b"1.", b"[1,]", b'"a\nb"', b"\x0b1", b"1 2", b'{"a":1}\x00', b'"\xff"', b"nul")


def quick() -> Serde:
    serde = serde_of("json", "value")
    assert serde is not None
    return serde


@given(VALUES)
def test_json_is_written_as_clients_write_it(value: Any) -> None:
    expected = None if value is None else JsonSerializer().serialize("t", value)
    assert quick().encode("t", value) == expected


@given(VALUES)
def test_json_is_read_as_clients_read_it(value: Any) -> None:
    for data in (json.dumps(value).encode(), json.dumps(value, ensure_ascii=False, indent=1).encode()):
        assert repr(quick().decode("t", data)) == repr(JsonDeserializer().deserialize("t", data))


@pytest.mark.parametrize("data", TEXTS)
def test_what_few_write_is_read_as_well(data: bytes) -> None:
    assert repr(quick().decode("t", data)) == repr(json.loads(data))


@pytest.mark.parametrize("data", NO_JSON)
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(SerializationError, match="topic t: JsonDeserializer cannot read the value"):
        quick().decode("t", data)


def test_what_json_cannot_say_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in (math.nan, [math.inf], {"a": object()}, endless, "\ud800"):
        with pytest.raises(SerializationError):
            quick().encode("t", value)


def test_nothing_stays_nothing() -> None:
    assert quick().encode("t", None) is None
    assert quick().decode("t", None) is None
