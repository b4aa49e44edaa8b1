"""From Connect's values to JSON: for each schema a function to text is made once, and values go through it.

Text at once, not dictionaries for a JSON library: so numbers come out as their types have them (a float of 32 bits with
its own digits, a Decimal with all of them), and a struct is one filled-in template.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from json import JSONEncoder
from json.encoder import encode_basestring
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias

from penstock.pipeline.connect.data import Schema, Struct, Type
from penstock.pipeline.connect.data.java_text import class_name, shortest_float32
from penstock.pipeline.connect.data.logical import (
    DATE_NAME,
    DECIMAL_NAME,
    TIME_NAME,
    TIMESTAMP_NAME,
    date_to_days,
    decimal_to_bytes,
    scale_of,
    time_to_millis,
    timestamp_to_millis,
)
from penstock.pipeline.connect.data.numbers import BITS
from penstock.pipeline.connect.data.struct import ABSENT
from penstock.pipeline.connect.errors import DataError

Writer: TypeAlias = Callable[[Any], str]
Null: TypeAlias = Callable[[], str]
WriterMaker: TypeAlias = "Callable[[Any, Schema, Null], Writer]"

_BYTES: Final = (bytes, bytearray, memoryview)
_NON_FINITE: Final = {math.inf: '"Infinity"', -math.inf: '"-Infinity"'}


class JsonWriting:
    """`uses_defaults`: a null is written as its schema's default; `numeric_decimals`: Decimals as numbers.

    Another form of JSON has `makers` of its own.
    """

    makers: ClassVar[Mapping[Type, WriterMaker]] = MappingProxyType({})

    def __init__(
        self, uses_defaults: bool = True, numeric_decimals: bool = False, schemas_remembered: int = 1000
    ) -> None:
        self.uses_defaults = uses_defaults
        self.numeric_decimals = numeric_decimals
        self.quoted: Callable[[str], str] = encode_basestring
        self.writer_of: Callable[[Schema], Writer] = lru_cache(schemas_remembered)(self._writer_of)

    def _writer_of(self, schema: Schema) -> Writer:
        make = _LOGICAL.get(schema.name or "") or self.makers.get(schema.type) or _PLAIN[schema.type]
        return make(self, schema, self._null_writer(schema))

    def _null_writer(self, schema: Schema) -> Null:
        if schema.default is not None and self.uses_defaults:
            return lambda: self.writer_of(schema)(schema.default)
        if schema.optional:
            return lambda: "null"
        return _refuse_null


def _refuse_null() -> str:
    raise DataError("Conversion error: null value for field that is required and has no default value")


def write_other(value: Any, schema: Schema, null: Null) -> str:
    """Of what is not of the schema's type: null, or wrong."""
    if value is None or value is ABSENT:
        return null()
    raise DataError(f"Invalid type for {schema.type.name}: class {class_name(value)}")


# --- plain types


def _integer(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    bits = BITS[schema.type]
    low, high = -1 << (bits - 1), (1 << (bits - 1)) - 1

    def write(value: Any) -> str:
        if type(value) is int and low <= value <= high:
            return repr(value)
        return write_other(value, schema, null)

    return write


def float_text(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return _NON_FINITE.get(value, '"NaN"')


def _float(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    narrow = schema.type is Type.FLOAT32

    def write(value: Any) -> str:
        if type(value) is float:
            return float_text(shortest_float32(value) if narrow else value)
        return write_other(value, schema, null)

    return write


def _boolean(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    def write(value: Any) -> str:
        if value is True:
            return "true"
        return "false" if value is False else write_other(value, schema, null)

    return write


def _string(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    quoted = writing.quoted

    def write(value: Any) -> str:
        return quoted(value) if isinstance(value, str) else write_other(value, schema, null)

    return write


def _bytes(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    def write(value: Any) -> str:
        if isinstance(value, _BYTES):
            return f'"{base64.b64encode(value).decode()}"'
        if value is None or value is ABSENT:
            return null()
        raise DataError(f"Invalid type for bytes type: class {class_name(value)}")

    return write


# --- what has values inside


def _array(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    item = writing.writer_of(schema.value_schema) if schema.value_schema else schemaless_text

    def write(value: Any) -> str:
        if isinstance(value, list | tuple):
            return f"[{','.join([item(each) for each in value])}]"
        return write_other(value, schema, null)

    return write


def write_map(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    key = writing.writer_of(schema.key_schema) if schema.key_schema else schemaless_text
    item = writing.writer_of(schema.value_schema) if schema.value_schema else schemaless_text
    is_object = schema.key_schema is not None and schema.key_schema.type is Type.STRING

    def write(value: Any) -> str:
        if not isinstance(value, dict):
            return write_other(value, schema, null)
        if is_object:
            return f"{{{','.join([f'{key(name)}:{item(each)}' for name, each in value.items()])}}}"
        return f"[{','.join([f'[{key(name)},{item(each)}]' for name, each in value.items()])}]"

    return write


def write_struct(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    names = (writing.quoted(each.name).replace("%", "%%") for each in schema.fields)
    template = "{" + ",".join(f"{name}:%s" for name in names) + "}"
    writers = [writing.writer_of(each.schema) for each in schema.fields]

    def write(value: Any) -> str:
        if not isinstance(value, Struct):
            return write_other(value, schema, null)
        if value.schema is not schema and value.schema != schema:
            raise DataError("Mismatching schema.")
        texts = [write_field(each) for write_field, each in zip(writers, value.values, strict=True)]
        return template % tuple(texts)

    return write


# --- logical types


def _decimal(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
    def write(value: Any) -> str:
        if value is None or value is ABSENT:
            return null()
        if not isinstance(value, Decimal):
            raise DataError(
                f"Invalid type for Decimal, expected BigDecimal but was class {class_name(value)}"
            )
        return str(value) if writing.numeric_decimals else f'"{_decimal_base64(value, scale_of(schema))}"'

    return write


def _decimal_base64(value: Decimal, scale: int) -> str:
    return base64.b64encode(decimal_to_bytes(value, scale)).decode()


def _date_like(name: str, kind: type, convert: Callable[[Any], int]) -> WriterMaker:
    def maker(writing: JsonWriting, schema: Schema, null: Null) -> Writer:
        def write(value: Any) -> str:
            if type(value) is kind:
                return repr(convert(value))
            if value is None or value is ABSENT:
                return null()
            raise DataError(f"Invalid type for {name}, expected Date but was class {class_name(value)}")

        return write

    return maker


_LOGICAL: Final = {
    DECIMAL_NAME: _decimal,
    DATE_NAME: _date_like("Date", date, date_to_days),
    TIME_NAME: _date_like("Time", time, time_to_millis),
    TIMESTAMP_NAME: _date_like("Timestamp", datetime, timestamp_to_millis),
}
_PLAIN: Final = {
    **dict.fromkeys(BITS, _integer),
    Type.FLOAT32: _float,
    Type.FLOAT64: _float,
    Type.BOOLEAN: _boolean,
    Type.STRING: _string,
    Type.BYTES: _bytes,
    Type.ARRAY: _array,
    Type.MAP: write_map,
    Type.STRUCT: write_struct,
}

# --- without a schema


def _encodable(value: Any) -> Any:
    """What JSON's encoder does not know."""
    if isinstance(value, _BYTES):
        return base64.b64encode(value).decode()
    if isinstance(value, Struct):
        return dict(zip((each.name for each in value.schema.fields), value.all_values(False), strict=True))
    raise DataError(f"Java class class {class_name(value)} does not have corresponding schema type.")


_ENCODER: Final = JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False, default=_encodable
)


def schemaless_text(value: Any) -> str:
    if _has_odd_keys(value):
        return _slow_text(value)
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _slow_text(value)


def _has_odd_keys(value: Any) -> bool:
    """Whether a map in it has keys that are no text: such a map is written as a list of pairs."""
    if type(value) is dict:
        for name, item in value.items():
            if type(name) is not str or (type(item) in _NESTED and _has_odd_keys(item)):
                return True
    elif type(value) is list:
        for item in value:
            if type(item) in _NESTED and _has_odd_keys(item):
                return True
    return False


_NESTED: Final = frozenset((dict, list))


def _slow_text(value: Any) -> str:
    """Keys that are no text, numbers that JSON has not."""
    if isinstance(value, dict):
        if all(isinstance(name, str) for name in value):
            inner = (f"{encode_basestring(name)}:{_slow_text(item)}" for name, item in value.items())
            return f"{{{','.join(inner)}}}"
        return f"[{','.join(f'[{_slow_text(name)},{_slow_text(item)}]' for name, item in value.items())}]"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_slow_text, value))}]"
    return float_text(value) if isinstance(value, float) else _ENCODER.encode(value)
