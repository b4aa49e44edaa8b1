"""Schemas, structs, headers, records and logical types: the ground that everything in Connect stands on."""

from __future__ import annotations

import pickle
import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from penstock.pipeline.connect.data import (
    Header,
    Headers,
    Schema,
    SchemaBuilder,
    SinkRecord,
    SourceRecord,
    Struct,
    Type,
    logical,
)
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    INT8,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
)
from penstock.pipeline.connect.data.validation import validate_value
from penstock.pipeline.connect.errors import DataError

ORDER = (
    SchemaBuilder.struct()
    .name("order")
    .version(2)
    .doc("words")
    .parameter("p", "q")
    .field("id", INT64)
    .field("note", OPTIONAL_STRING)
    .field("count", SchemaBuilder(Type.INT32).default(7).build())
    .build()
)


# --- schemas


def test_schemas_are_values() -> None:
    again = SchemaBuilder.like(ORDER).field("id", INT64).field("note", OPTIONAL_STRING)
    again = again.field("count", SchemaBuilder(Type.INT32).default(7).build())
    assert again.build() == ORDER
    assert hash(again.build()) == hash(ORDER)
    assert pickle.loads(pickle.dumps(ORDER)) == ORDER


DIFFERENT = [
    SchemaBuilder(Type.INT32).build(),
    SchemaBuilder(Type.INT64).build(),
    SchemaBuilder(Type.INT32).optional().build(),
    SchemaBuilder(Type.INT32).name("n").build(),
    SchemaBuilder(Type.INT32).version(1).build(),
    SchemaBuilder(Type.INT32).doc("d").build(),
    SchemaBuilder(Type.INT32).parameter("a", "b").build(),
    SchemaBuilder(Type.INT32).default(5).build(),
    SchemaBuilder.array(INT32).build(),
    SchemaBuilder.array(INT64).build(),
    SchemaBuilder.map(STRING, INT32).build(),
    SchemaBuilder.struct().build(),
    SchemaBuilder.struct().field("a", INT32).build(),
    SchemaBuilder.struct().field("b", INT32).build(),
]


def test_schemas_that_say_something_else_are_others() -> None:
    for index, one in enumerate(DIFFERENT):
        assert [other == one for other in DIFFERENT].index(True) == index
        assert sum(other == one for other in DIFFERENT) == 1


def test_optional_and_back() -> None:
    assert INT32.as_optional() == OPTIONAL_INT32
    assert OPTIONAL_INT32.as_optional() is OPTIONAL_INT32
    assert SchemaBuilder.like(OPTIONAL_INT32).required().build() == INT32


def test_fields_are_found_by_name() -> None:
    assert ORDER.field("note") == ORDER.fields[1]
    assert ORDER.field("missing") is None
    assert [each.index for each in ORDER.fields] == [0, 1, 2]


WRONG_FIELDS = [
    (lambda: SchemaBuilder(Type.INT32).field("a", INT32), "a schema of type int32 has no fields"),
    (lambda: SchemaBuilder.struct().field("", INT32), "a field needs a name"),
    (lambda: SchemaBuilder.struct().field("a", INT32).field("a", INT32), "field 'a' is there twice"),
]


@pytest.mark.parametrize(("build", "words"), WRONG_FIELDS)
def test_fields_that_cannot_be(build: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        build()


# --- structs


def test_a_struct_reads_defaults() -> None:
    struct = Struct(ORDER, id=5)
    assert (struct["id"], struct["note"], struct["count"]) == (5, None, 7)
    assert struct.get_without_default("count") is None
    assert struct.all_values() == [5, None, 7]
    assert struct.all_values(with_defaults=False) == [5, None, None]
    assert struct == Struct.of(ORDER, [5, None, 7])
    assert pickle.loads(pickle.dumps(struct)) == struct
    assert struct != Struct(ORDER, id=6)


def test_a_struct_takes_what_fits() -> None:
    with pytest.raises(
        DataError, match=re.escape("'x' is not a field of struct order; it has id, note, count")
    ):
        Struct(ORDER, x=1)
    with pytest.raises(DataError, match=re.escape("id: got str 'a'; takes int64")):
        Struct(ORDER, id="a")
    with pytest.raises(DataError, match="id: got null; takes int64, which is not optional"):
        Struct(ORDER).validate()
    with pytest.raises(DataError, match="a Struct needs a schema of type struct, got int32"):
        Struct(INT32)
    Struct(ORDER, id=1).validate()


FITS: list[tuple[Schema, Any]] = [
    (INT8, -128),
    (INT8, 127),
    (FLOAT32, 1.5),
    (BOOLEAN, False),
    (BYTES, bytearray(b"a")),
    (OPTIONAL_STRING, None),
    (SchemaBuilder.array(INT32).build(), [1, 2]),
    (SchemaBuilder.map(STRING, OPTIONAL_INT32).build(), {"a": None}),
    (logical.DATE, date(2020, 1, 1)),
    (logical.TIME, time(1)),
    (logical.TIMESTAMP, datetime(2020, 1, 1, tzinfo=UTC)),
    (logical.decimal_schema(2), Decimal("1.50")),
]
DOES_NOT: list[tuple[Schema, Any, str]] = [
    (INT8, 128, "value: got int 128; takes int8"),
    (INT32, True, "value: got bool True; takes int32"),
    (FLOAT32, 1, "value: got int 1; takes float32"),
    (STRING, None, "value: got null; takes string, which is not optional"),
    (SchemaBuilder.array(INT32).build(), [1, "x"], "value[1]: got str 'x'; takes int32"),
    (SchemaBuilder.map(STRING, INT32).build(), {1: 1}, "value's key: got int 1; takes string"),
    (SchemaBuilder.map(STRING, INT32).build(), {"a": None}, "value['a']: got null; takes int32"),
    (logical.DATE, 5, "takes org.apache.kafka.connect.data.Date (int32)"),
    (ORDER, Struct(SchemaBuilder.struct().build()), "takes order (struct)"),
]


@pytest.mark.parametrize(("schema", "value"), FITS)
def test_what_fits(schema: Schema, value: Any) -> None:
    validate_value(schema, value)


@pytest.mark.parametrize(("schema", "value", "words"), DOES_NOT)
def test_what_does_not(schema: Schema, value: Any, words: str) -> None:
    with pytest.raises(DataError, match=re.escape(words)):
        validate_value(schema, value)


# --- logical types


@pytest.mark.parametrize(
    "text", ["0", "1.50", "-1.50", "12345678901234567890123456789012345.67", "-0.01", "1E+3"]
)
def test_decimals_keep_every_digit(text: str) -> None:
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    data = logical.decimal_to_bytes(value, -exponent)
    back = logical.decimal_from_bytes(data, -exponent)
    assert back.as_tuple() == value.as_tuple() or value == 0


@pytest.mark.parametrize(
    ("unscaled", "data"), [(0, "00"), (127, "7f"), (128, "0080"), (-128, "80"), (-129, "ff7f")]
)
def test_decimals_are_stored_as_java_has_them(unscaled: int, data: str) -> None:
    assert logical.decimal_to_bytes(Decimal(unscaled), 0).hex() == data


def test_the_scale_must_be_that_of_the_schema() -> None:
    with pytest.raises(DataError, match="Schema has scale 2, value has scale 1"):
        logical.decimal_to_bytes(Decimal("1.5"), 2)
    with pytest.raises(DataError, match="scale parameter not found"):
        logical.scale_of(BYTES)


@pytest.mark.parametrize("millis", [0, 1, -1, 1234567890123, -62_135_596_800_000])
def test_timestamps_there_and_back(millis: int) -> None:
    assert logical.timestamp_to_millis(logical.timestamp_from_millis(millis)) == millis


def test_dates_and_times_there_and_back() -> None:
    assert logical.date_from_days(logical.date_to_days(date(2009, 2, 13))) == date(2009, 2, 13)
    assert logical.time_from_millis(logical.time_to_millis(time(23, 31, 30, 123000))) == time(
        23, 31, 30, 123000
    )
    naive = datetime(2009, 2, 13, 23, 31, 30)
    assert logical.timestamp_to_millis(naive) == 1234567890000, "without a zone it is UTC"


# --- headers and records


def test_headers_keep_their_order() -> None:
    headers = Headers().add("a", 1, INT32).add("b", 2).add("a", 3)
    assert headers.last("a") == Header("a", 3)
    assert headers.last("x") is None
    assert [each.value for each in headers.all_of("a")] == [1, 3]
    copied = headers.copy().remove("a")
    assert [each.key for each in copied] == ["b"]
    assert len(headers) == 3
    doubled = headers.copy().apply(lambda each: None if each.key == "b" else Header(each.key, each.value * 2))
    assert [each.value for each in doubled] == [2, 6]


@pytest.mark.parametrize(
    "record", [SinkRecord("t", 1, 5, "v", STRING), SourceRecord({"f": 1}, {"o": 2}, "t", "v", STRING)]
)
def test_a_record_is_never_changed(record: SinkRecord | SourceRecord) -> None:
    changed = record.changed(topic="new", value=7, value_schema=INT32)
    assert (record.topic, record.value) == ("t", "v")
    assert (changed.topic, changed.value, changed.value_schema) == ("new", 7, INT32)
    assert type(changed) is type(record)
    changed.headers.add("h", 1)
    assert len(record.headers) == 0
    assert record.changed() == record
    assert changed != record


def test_a_sink_record_remembers_where_it_came_from() -> None:
    changed = SinkRecord("t", 1, 5).changed(topic="new", partition=9)
    assert (changed.original_topic, changed.original_partition, changed.original_offset) == ("t", 1, 5)
