"""JSON as a table of Arrow: the same as reading it value by value, or no table."""

import json
from datetime import UTC, date, datetime, time
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.connectors.lake.arrow import inferred_table, table_of
from penstock.pipeline.connect.converters.json_converter import JsonConverter
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct, Type
from penstock.pipeline.connect.data.logical import DATE, TIME, TIMESTAMP, decimal_schema
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
)


def converter(**settings: Any) -> JsonConverter:
    made = JsonConverter()
    made.configure({name.replace("_", "."): str(value) for name, value in settings.items()}, False)
    return made


def as_text(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


# --- without schemas

texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=6),
    st.sampled_from(["2020-01-01", "2020-01-01T10:00:00Z", "1", "true", "", "null"]),
)
numbers = st.one_of(
    st.integers(-5, 5),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 1e300, 0.1]),
)
leaves = st.one_of(st.none(), st.booleans(), numbers, texts)
nested = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=4,
)
columns_of_one_kind = st.fixed_dictionaries(
    {},
    optional={"a": st.integers(-9, 9), "b": texts, "c": st.floats(-9, 9), "d": st.booleans(), "e": st.none()},
)
rows = st.one_of(
    st.lists(columns_of_one_kind, min_size=1, max_size=8),
    st.lists(st.dictionaries(st.sampled_from("abc"), nested, max_size=3), min_size=1, max_size=4),
)


@given(st.lists(rows, min_size=1, max_size=3))
def test_a_table_has_what_the_values_have(batches: list[list[dict[str, Any]]]) -> None:
    json_converter = converter(schemas_enable="false")
    for batch in batches:
        data = list(map(as_text, batch))
        found = json_converter.to_table("t", data)
        if found is None:
            continue
        schema, table = found
        expected = inferred_table([json_converter.to_connect("t", each).value for each in data])
        assert schema is None
        assert kinds(table.schema) == kinds(expected.schema)
        assert table.to_pylist() == expected.to_pylist()


def kinds(fields: Any) -> Any:
    """Whatever their order."""
    return {each.name: kinds_in(each.type) for each in fields}


def kinds_in(type: Any) -> Any:
    if pa.types.is_struct(type):
        return kinds(type)
    return [kinds_in(type.value_type)] if pa.types.is_list(type) else type


def test_plain_objects_do_make_a_table() -> None:
    values = [
        {"id": 1, "name": "a", "at": "2020-01-01", "x": None},
        {"id": 2, "name": "", "at": "later", "x": [1.5]},
    ]
    found = converter(schemas_enable="false").to_table("t", list(map(as_text, values)))
    assert found is not None
    assert found[1].to_pylist() == values


def test_texts_that_look_like_times_stay_texts() -> None:
    json_converter = converter(schemas_enable="false")
    for value in (
        {"at": "2020-01-01T00:00:00Z", "in": {"at": ["2020-01-01"]}},
        {"at": "no", "in": {"at": []}},
        {"b": 1},
    ):
        found = json_converter.to_table("t", [as_text(value)])
        assert found is not None
        assert found[1].to_pylist() == [value]


@pytest.mark.parametrize(
    "lines",
    [
        [b'{"a":1}', None],
        [b'{"a":1}', b""],
        [b'{"a":1}{"a":2}'],
        [b'{"a":1}{"a":2}', b" "],
        [b'{\n"a":1}'],
        [b'{"a":1}\n'],
        [b'{"a":1'],
        [b'{"a":1}', b'{"a":"x"}'],
        [b'{"a":1,"a":2}'],
        [b'{"a":NaN}'],
        [b'{"a":-Infinity}'],
        [b'{"a":01}'],
        [b'{"a":12345678901234567890}'],
        [b'{"a":0.5}', b'{"a":9007199254740993}'],
        [b'{"a":"\xff"}'],
        [b"{}"],
        [b'{"a":{}}'],
        [b'{"a":[{}]}'],
        [b"[1]"],
        [b"1"],
        [b"null"],
        [],
    ],
)
def test_what_may_be_read_otherwise_is_no_table(lines: list[bytes | None]) -> None:
    assert converter(schemas_enable="false").to_table("t", lines) is None


# --- with schemas

FIELDS: dict[str, tuple[Schema, st.SearchStrategy[Any]]] = {
    "int8": (INT8, st.integers(-200, 200)),
    "int16": (INT16, st.integers(-40_000, 40_000)),
    "int32": (INT32, st.integers(-(2**33), 2**33)),
    "int64": (INT64, st.integers(-(2**65), 2**65)),
    "float32": (FLOAT32, st.floats(-9, 9) | st.integers(-9, 9) | st.sampled_from([1e300, 0.1])),
    "float64": (FLOAT64, st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)),
    "boolean": (BOOLEAN, st.booleans() | st.integers(0, 1)),
    "string": (STRING, texts | st.integers(0, 1)),
    "date": (DATE, st.integers(-800_000, 3_000_000)),
    "time": (TIME, st.integers(-1, 86_400_000)),
    "timestamp": (TIMESTAMP, st.integers(-(10**14), 3 * 10**14)),
    "optional": (OPTIONAL_INT32, st.none() | st.integers(0, 9)),
    "text": (OPTIONAL_STRING, st.none() | texts),
    "default": (SchemaBuilder(Type.INT32).default(7).build(), st.none() | st.integers(0, 9)),
}


@st.composite
def with_schemas(draw: st.DrawFn) -> tuple[Schema, list[dict[str, Any]]]:
    names = draw(st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=4, unique=True))
    builder = SchemaBuilder.struct()
    for name in names:
        builder.field(name, FIELDS[name][0])
    sure = st.fixed_dictionaries({name: FIELDS[name][1] for name in names})
    missing = st.fixed_dictionaries({}, optional={name: FIELDS[name][1] for name in names})
    extra = st.fixed_dictionaries({**{name: FIELDS[name][1] for name in names}, "other": leaves})
    return builder.build(), draw(st.lists(sure | missing | extra, min_size=1, max_size=5))


def enveloped(schema: Schema, payloads: list[Any]) -> list[bytes]:
    """As Kafka writes it; the schema's text is what the converter itself writes of an empty value."""
    head = converter().from_connect("t", schema.as_optional(), None)
    assert head is not None
    head = head.removesuffix(b"null}").replace(b'"optional":true}', b'"optional":false}')
    return [head + as_text(payload) + b"}" for payload in payloads]


@given(with_schemas())
def test_a_table_with_a_schema_has_what_the_values_have(case: tuple[Schema, list[dict[str, Any]]]) -> None:
    data, json_converter = enveloped(*case), converter()
    found = json_converter.to_table("t", data)
    if found is None:
        return
    expected = [json_converter.to_connect("t", each) for each in data]
    schema, table = found
    assert {each.schema for each in expected} == {schema}
    assert schema is not None
    slow = table_of(schema, [each.value for each in expected])
    assert table.schema == slow.schema
    assert repr(table.to_pylist()) == repr(slow.to_pylist())


def test_structs_do_make_a_table() -> None:
    schema = SchemaBuilder.struct()
    for name in ("int32", "string", "float32", "date", "time", "timestamp", "optional"):
        schema.field(name, FIELDS[name][0])
    payload = {"int32": 1, "string": "2020-01-01", "float32": 0.5, "date": 1, "time": 1000, "timestamp": 0}
    found = converter().to_table("t", enveloped(schema.build(), [payload, {**payload, "optional": 2}]))
    assert found is not None
    assert found[1].to_pylist()[1] == {
        **payload,
        "date": date(1970, 1, 2),
        "time": time(0, 0, 1),
        "timestamp": datetime(1970, 1, 1, tzinfo=UTC),
        "optional": 2,
    }


def test_spaces_between_do_no_harm() -> None:
    schema = {"type": "struct", "fields": [{"field": "a", "type": "int32"}]}
    data = [json.dumps({"schema": schema, "payload": {"a": number}}).encode() for number in range(3)]
    found = converter().to_table("t", data)
    assert found is not None
    assert found[1].column("a").to_pylist() == [0, 1, 2]


def test_one_schema_for_all_needs_no_envelope() -> None:
    content = '{"type":"struct","optional":false,"fields":[{"field":"a","type":"int32","optional":false}]}'
    found = converter(schema_content=content).to_table("t", [b'{"a":1}', b'{"a":2}'])
    assert found is not None
    assert found[1].column("a").to_pylist() == [1, 2]


@pytest.mark.parametrize(
    "spoilt",
    [
        b'{"schema":{"type":"int32"},"payload":1}',
        b'{"schema":{"type":"struct","optional":false,"fields":[{"type":"int64","optional":false,"field":"a"}]},'
        b'"payload":{"a":1}}',
        b'{"a":1}',
        b"null",
        b'{"schema":null,"payload":{"a":1}}',
    ],
)
def test_another_record_among_them_is_no_table(spoilt: bytes) -> None:
    data = enveloped(SchemaBuilder.struct().field("a", INT32).build(), [{"a": 1}, {"a": 2}])
    json_converter = converter()
    assert json_converter.to_table("t", data) is not None
    for place in range(3):
        assert json_converter.to_table("t", [*data[:place], spoilt, *data[place:]]) is None


@pytest.mark.parametrize(
    "field",
    [
        decimal_schema(2),
        SchemaBuilder.array(INT32).build(),
        SchemaBuilder.struct().field("b", INT32).build(),
        SchemaBuilder.map(STRING, INT32).build(),
        Schema(Type.BYTES),
    ],
)
def test_schemas_of_other_values_are_read_one_by_one(field: Schema) -> None:
    schema = SchemaBuilder.struct().field("a", field.as_optional()).build()
    data = converter().from_connect("t", schema, Struct(schema))
    assert converter().to_table("t", [data]) is None


def test_the_tables_are_arrows() -> None:
    found = converter(schemas_enable="false").to_table("t", [b'{"a":1}'])
    assert found is not None
    assert isinstance(found[1], pa.Table)
