"""Values as Java writes them, and the names of Java's classes for them: Connect's texts and errors have both.

A Python int stands for four of Java's classes. The schema says which; without one it is a Long, as JSON's are.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from penstock.pipeline.connect.data.logical import date_to_days, time_to_millis, timestamp_to_millis
from penstock.pipeline.connect.data.schema import Schema, Type
from penstock.pipeline.connect.data.struct import Struct

MILLIS_PER_DAY = 86_400_000

_CLASS_OF_TYPE = {
    Type.INT8: "java.lang.Byte",
    Type.INT16: "java.lang.Short",
    Type.INT32: "java.lang.Integer",
    Type.FLOAT32: "java.lang.Float",
}
_CLASS_OF_VALUE: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "java.lang.Boolean"),
    (int, "java.lang.Long"),
    (float, "java.lang.Double"),
    (str, "java.lang.String"),
    ((bytes, bytearray, memoryview), "[B"),
    ((list, tuple), "java.util.ArrayList"),
    (dict, "java.util.HashMap"),
    (Struct, "org.apache.kafka.connect.data.Struct"),
    (Decimal, "java.math.BigDecimal"),
    ((date, time), "java.util.Date"),
)


def class_name(value: Any, schema: Schema | None = None) -> str:
    """What `getClass().getName()` says of it; of a class of ours, its own name."""
    if schema is not None and type(value) in (int, float):
        name = _CLASS_OF_TYPE.get(schema.type)
        if name is not None:
            return name
    for kind, name in _CLASS_OF_VALUE:
        if isinstance(value, kind):
            return name
    return "null" if value is None else f"{type(value).__module__}.{type(value).__qualname__}"


def to_float32(value: float) -> float:
    """The nearest number that a float of 32 bits has."""
    try:
        nearest: float = struct.unpack(">f", struct.pack(">f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return nearest


def shortest_float32(value: float) -> float:
    """The number with the fewest digits that is the same float of 32 bits: 0.1 for 0.100000001..."""
    if not math.isfinite(value):
        return value
    wanted = struct.pack(">f", value)
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if struct.pack(">f", short) == wanted:
            return short
    return float(f"{value:.9g}")


def double_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    minus = "-" if sign else ""
    return minus + _number_text("".join(map(str, digits)).strip("0") or "0", abs(value))


def _number_text(digits: str, size: float) -> str:
    if size == 0:
        return "0.0"
    power = Decimal(repr(size)).adjusted()
    if not -3 <= power < 7:
        return f"{digits[0]}.{digits[1:] or '0'}E{power}"
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    padded = digits.ljust(power + 1, "0")
    return f"{padded[: power + 1]}.{padded[power + 1 :] or '0'}"


def float_text(value: float) -> str:
    return double_text(shortest_float32(value))


def millis_of(value: date | time) -> int:
    """What java.util.Date has for it: all three of Connect's types of date and time are one class there."""
    if isinstance(value, datetime):
        return timestamp_to_millis(value)
    return time_to_millis(value) if isinstance(value, time) else date_to_days(value) * MILLIS_PER_DAY


def _date_text(value: date | time) -> str:
    millis = millis_of(value)
    moment = datetime.fromtimestamp(millis // 1000, UTC)
    return moment.strftime("%a %b %d %H:%M:%S UTC %Y")


def _struct_text(value: Struct) -> str:
    parts = []
    for field in value.schema.fields:
        inner = value.get_without_default(field.name)
        if inner is not None:
            parts.append(f"{field.name}={java_text(inner, field.schema)}")
    return f"Struct{{{','.join(parts)}}}"


def _list_text(value: list[Any], schema: Schema | None) -> str:
    of = None if schema is None else schema.value_schema
    return f"[{', '.join(java_text(item, of) for item in value)}]"


def _map_text(value: dict[Any, Any], schema: Schema | None) -> str:
    keys, values = (None, None) if schema is None else (schema.key_schema, schema.value_schema)
    inner = (f"{java_text(key, keys)}={java_text(item, values)}" for key, item in value.items())
    return f"{{{', '.join(inner)}}}"


_TEXT_OF: tuple[tuple[type | tuple[type, ...], Callable[[Any, Schema | None], str]], ...] = (
    (str, lambda value, schema: value),
    (bool, lambda value, schema: "true" if value else "false"),
    (int, lambda value, schema: str(value)),
    (
        float,
        lambda value, schema: (
            float_text(value) if schema is not None and schema.type is Type.FLOAT32 else double_text(value)
        ),
    ),
    (Struct, lambda value, schema: _struct_text(value)),
    ((list, tuple), _list_text),
    (dict, _map_text),
    ((date, time), lambda value, schema: _date_text(value)),
)


def java_text(value: Any, schema: Schema | None = None) -> str:
    """What `toString()` says."""
    if value is None:
        return "null"
    for kind, text in _TEXT_OF:
        if isinstance(value, kind):
            return text(value, schema)
    return str(value)


def described(schema: Schema | None) -> str:
    if schema is None:
        return "null"
    return f"Schema{{{schema.name}:{schema.type.name}}}" if schema.name else f"Schema{{{schema.type.name}}}"
