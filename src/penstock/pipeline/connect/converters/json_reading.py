"""From parsed JSON to Connect's values: for each schema a function is made once, and values go through it.

What is of the wrong type becomes what Kafka's converter makes of it: a number's zero, false, no text. Only what should
be a map or a struct, and a logical type, is refused.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias

from penstock.pipeline.connect.data import Schema, Struct, Type
from penstock.pipeline.connect.data.java_text import MILLIS_PER_DAY, to_float32
from penstock.pipeline.connect.data.logical import (
    DATE_NAME,
    DECIMAL_NAME,
    TIME_NAME,
    TIMESTAMP_NAME,
    date_from_days,
    decimal_from_bytes,
    scale_of,
    time_from_millis,
    timestamp_from_millis,
)
from penstock.pipeline.connect.data.numbers import BITS, wrapped
from penstock.pipeline.connect.errors import DataError

Reader: TypeAlias = Callable[[Any], Any]
Null: TypeAlias = Callable[[], Any]
ReaderMaker: TypeAlias = "Callable[[Any, Schema, Null], Reader]"

_NODE_TYPES: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (bool, "BOOLEAN"),
    ((int, float, Decimal), "NUMBER"),
    (str, "STRING"),
    (list, "ARRAY"),
    (dict, "OBJECT"),
)


def node_type(value: Any) -> str:
    return next((name for kind, name in _NODE_TYPES if isinstance(value, kind)), "NULL")


class JsonReading:
    """`uses_defaults`: a null is read as its schema's default. Another form of JSON has `makers` of its own."""

    makers: ClassVar[Mapping[Type, ReaderMaker]] = MappingProxyType({})

    def __init__(self, uses_defaults: bool = True, schemas_remembered: int = 1000) -> None:
        self.uses_defaults = uses_defaults
        self.reader_of: Callable[[Schema], Reader] = lru_cache(schemas_remembered)(self._reader_of)

    def _reader_of(self, schema: Schema) -> Reader:
        make = _LOGICAL.get(schema.name or "") or self.makers.get(schema.type) or _PLAIN[schema.type]
        return make(self, schema, self._null_reader(schema))

    def _null_reader(self, schema: Schema) -> Null:
        if schema.default is not None and self.uses_defaults:
            return lambda: schema.default
        if schema.optional:
            return lambda: None

        def refuse() -> Any:
            raise DataError(f"Invalid null value for required {schema.type.name} field")

        return refuse


# --- plain types


def _as_number(value: Any) -> int | float | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return 0
    return value


def _as_whole(value: Any, bits: int) -> int:
    number = _as_number(value)
    if isinstance(number, float) and not math.isfinite(number):
        return 0
    return wrapped(wrapped(int(number), max(bits, 32)), bits)


def _integer(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    bits = BITS[schema.type]
    low, high = -1 << (bits - 1), (1 << (bits - 1)) - 1

    def read(value: Any) -> Any:
        if type(value) is int and low <= value <= high:
            return value
        return null() if value is None else _as_whole(value, bits)

    return read


def _float(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    narrows = schema.type is Type.FLOAT32

    def read(value: Any) -> Any:
        if value is None:
            return null()
        number = float(_as_number(value)) if type(value) is not float else value
        return to_float32(number) if narrows else number

    return read


def _boolean(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    return lambda value: null() if value is None else value is True


def _string(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is str:
            return value
        return null() if value is None else None

    return read


def _bytes(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    def read(value: Any) -> Any:
        if value is None:
            return null()
        return _decoded(value, "Invalid bytes field") if isinstance(value, str) else None

    return read


def _decoded(text: str, problem: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DataError(f"{problem}: {error}") from error


# --- what has values inside


def _array(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    assert schema.value_schema is not None
    item = reading.reader_of(schema.value_schema)

    def read(value: Any) -> Any:
        if type(value) is list:
            return [item(each) for each in value]
        if value is None:
            return null()
        return [item(each) for each in value.values()] if type(value) is dict else []

    return read


def read_map(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    item = reading.reader_of(schema.value_schema)
    if schema.key_schema.type is Type.STRING:
        return _object_reader(item, null)
    return _pairs_reader(reading.reader_of(schema.key_schema), item, null)


def _object_reader(item: Reader, null: Null) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is dict:
            return {name: item(each) for name, each in value.items()}
        if value is None:
            return null()
        raise DataError(
            f"Maps with string fields should be encoded as JSON objects, but found {node_type(value)}"
        )

    return read


def _pairs_reader(key: Reader, item: Reader, null: Null) -> Reader:
    def read(value: Any) -> Any:
        if value is None:
            return null()
        if type(value) is not list:
            raise DataError(
                "Maps with non-string fields should be encoded as JSON array of tuples, "
                f"but found {node_type(value)}"
            )
        try:
            return {key(_pair(each)[0]): item(each[1]) for each in value}
        except TypeError:
            raise DataError("a list, a map or a struct cannot be a map's key") from None

    return read


def _pair(entry: Any) -> Any:
    if type(entry) is not list:
        raise DataError(f"Found invalid map entry instead of array tuple: {node_type(entry)}")
    if len(entry) != 2:
        raise DataError(f"Found invalid map entry, expected length 2 but found :{len(entry)}")
    return entry


def read_struct(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    fields = [(each.name, _required(each.name, each.schema, reading)) for each in schema.fields]
    struct_of = Struct.of

    def read(value: Any) -> Any:
        if type(value) is dict:
            get = value.get
            return struct_of(schema, [read_field(get(name)) for name, read_field in fields])
        if value is None:
            return null()
        raise DataError(f"Structs should be encoded as JSON objects, but found {node_type(value)}")

    return read


def _required(name: str, schema: Schema, reading: JsonReading) -> Reader:
    """A field's reader; where it may have nothing to give for a text or bytes, the field must be one that may."""
    read = reading.reader_of(schema)
    if schema.optional or schema.type not in (Type.STRING, Type.BYTES):
        return read

    def read_some(value: Any) -> Any:
        found = read(value)
        if found is None:
            raise DataError(
                f'Invalid value: null used for required field: "{name}", schema type: {schema.type.name}'
            )
        return found

    return read_some


# --- logical types


def _decimal(reading: JsonReading, schema: Schema, null: Null) -> Reader:
    def read(value: Any) -> Any:
        if value is None:
            return null()
        if isinstance(value, str):
            return _decimal_of(value, schema)
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise DataError(
                "Invalid type for Decimal, underlying representation should be numeric or bytes "
                f"but was {node_type(value)}"
            )
        return value if isinstance(value, Decimal) else Decimal(repr(value))

    return read


def _decimal_of(text: str, schema: Schema) -> Decimal:
    data = _decoded(text, "Invalid bytes for Decimal field")
    if not data:
        raise DataError("Invalid bytes for Decimal field: there are none")
    try:
        return decimal_from_bytes(data, scale_of(schema))
    except DataError as error:
        raise DataError(f"Invalid bytes for Decimal field: {error}") from error


def _date_like(name: str, kind: str, bits: int, make: Callable[[int], Any]) -> ReaderMaker:
    low, high = -1 << (bits - 1), (1 << (bits - 1)) - 1

    def maker(reading: JsonReading, schema: Schema, null: Null) -> Reader:
        def read(value: Any) -> Any:
            if type(value) is int and (low <= value <= high or bits > 32):
                return _made(wrapped(value, bits))
            if value is None:
                return null()
            raise DataError(
                f"Invalid type for {name}, underlying representation should be {kind} "
                f"but was {node_type(value)}"
            )

        return read

    def _made(value: int) -> Any:
        try:
            return make(value)
        except OverflowError:
            raise DataError(f"{name} {value} is out of range: years 1 to 9999 are known") from None

    return maker


def _time(millis: int) -> Any:
    if not 0 <= millis <= MILLIS_PER_DAY:
        raise DataError("Time values must use number of milliseconds greater than 0 and less than 86400000")
    return time_from_millis(millis)


_LOGICAL: Final = {
    DECIMAL_NAME: _decimal,
    DATE_NAME: _date_like("Date", "integer", 32, date_from_days),
    TIME_NAME: _date_like("Time", "integer", 32, _time),
    TIMESTAMP_NAME: _date_like("Timestamp", "integral", 64, timestamp_from_millis),
}
_PLAIN: Final = {
    **dict.fromkeys(BITS, _integer),
    Type.FLOAT32: _float,
    Type.FLOAT64: _float,
    Type.BOOLEAN: _boolean,
    Type.STRING: _string,
    Type.BYTES: _bytes,
    Type.ARRAY: _array,
    Type.MAP: read_map,
    Type.STRUCT: read_struct,
}


def has_decimals(schema: Schema | None) -> bool:
    """Whether numbers are to be read digit by digit."""
    if schema is None:
        return False
    inner = (schema.key_schema, schema.value_schema, *(each.schema for each in schema.fields))
    return schema.name == DECIMAL_NAME or any(map(has_decimals, inner))
