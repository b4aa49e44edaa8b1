"""Values in text, as Connect's headers have them: `1`, `true`, `2020-01-31`, `[1,2]`, `{"a":1}`, `any other text`.

Reading finds the narrowest type: 5 is an int8, 1.5 a float32. A list or map has the type that all of its elements have
or can be widened to; one that is not well-formed is text. What is read agrees with Kafka's `Values` in all of its
oddities (a list with a null in it is text; escapes in quoted text stay), since headers written there are read here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, time
from decimal import Decimal
from typing import Any, Final, TypeAlias

from penstock.pipeline.connect.data.java_text import (
    MILLIS_PER_DAY,
    class_name,
    described,
    double_text,
    float_text,
    java_text,
    millis_of,
    to_float32,
)
from penstock.pipeline.connect.data.logical import (
    DATE,
    DATE_NAME,
    TIME,
    TIME_NAME,
    TIMESTAMP,
    TIMESTAMP_NAME,
    date_from_days,
    decimal_schema,
    time_from_millis,
    timestamp_from_millis,
)
from penstock.pipeline.connect.data.numbers import BITS, parse_decimal, scale, whole, wrapped
from penstock.pipeline.connect.data.schema import BOOLEAN, FLOAT32, FLOAT64, STRING, Schema, Type
from penstock.pipeline.connect.data.simple_date_format import ParseError, SimpleDateFormat
from penstock.pipeline.connect.data.struct import Struct
from penstock.pipeline.connect.errors import DataError

Parsed: TypeAlias = tuple[Schema | None, Any]

_DATE_FORMAT = SimpleDateFormat("yyyy-MM-dd")
_TIME_FORMAT = SimpleDateFormat("HH:mm:ss.SSS'Z'")
_TIMESTAMP_FORMAT = SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
_FROM_MILLIS: Final[dict[str, Callable[[int], Any]]] = {
    DATE_NAME: lambda millis: date_from_days(millis // MILLIS_PER_DAY),
    TIME_NAME: time_from_millis,
    TIMESTAMP_NAME: timestamp_from_millis,
}
_FORMAT_OF_LENGTH: Final = {
    10: (_DATE_FORMAT, DATE),
    13: (_TIME_FORMAT, TIME),
    24: (_TIMESTAMP_FORMAT, TIMESTAMP),
}
_LADDER: Final = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)
_INTEGERS: Final = {bits: Schema(type) for type, bits in BITS.items()}
_LARGER_THAN_LONG: Final = Decimal("1e19")
_DELIMITERS: Final = frozenset(':,{}[]"')


# --- to text


def date_text(value: date | time) -> str:
    """A time before the second day, a date at midnight, else both: java.util.Date does not say what it is."""
    millis = millis_of(value)
    if millis < MILLIS_PER_DAY:
        return _TIME_FORMAT.format(millis)
    return (_TIMESTAMP_FORMAT if millis % MILLIS_PER_DAY else _DATE_FORMAT).format(millis)


def to_text(value: Any, schema: Schema | None = None) -> str | None:
    return None if value is None else _text(value, schema, embedded=False)


def _text(value: Any, schema: Schema | None, embedded: bool = True) -> str:
    if value is None:
        return "null"
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value, schema, embedded)
    raise DataError(f"Failed to serialize unexpected value type {class_name(value)}: {value}")


def _quoted(text: str, embedded: bool) -> str:
    return f'"{text}"' if embedded else text


def _string_text(value: str, schema: Schema | None, embedded: bool) -> str:
    return f'"{_escaped(value)}"' if embedded else value


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _float_text(value: float, schema: Schema | None, embedded: bool) -> str:
    return float_text(value) if schema is not None and schema.type is Type.FLOAT32 else double_text(value)


def _bytes_text(value: bytes, schema: Schema | None, embedded: bool) -> str:
    return _quoted(base64.b64encode(bytes(value)).decode(), embedded)


def _list_text(value: list[Any], schema: Schema | None, embedded: bool) -> str:
    of = None if schema is None else schema.value_schema
    return f"[{','.join(_text(item, of) for item in value)}]"


def _map_text(value: dict[Any, Any], schema: Schema | None, embedded: bool) -> str:
    keys, values = (None, None) if schema is None else (schema.key_schema, schema.value_schema)
    return f"{{{','.join(f'{_text(key, keys)}:{_text(item, values)}' for key, item in value.items())}}}"


def _struct_text(value: Struct, schema: Schema | None, embedded: bool) -> str:
    fields = value.schema.fields
    inner = (f'"{_escaped(each.name)}":{_text(value.get(each.name), each.schema)}' for each in fields)
    return f"{{{','.join(inner)}}}"


_WRITERS: Final[tuple[tuple[type | tuple[type, ...], Callable[[Any, Schema | None, bool], str]], ...]] = (
    (str, _string_text),
    ((bool, int, Decimal), lambda value, schema, embedded: java_text(value)),
    (float, _float_text),
    ((bytes, bytearray, memoryview), _bytes_text),
    ((list, tuple), _list_text),
    (dict, _map_text),
    (Struct, _struct_text),
    ((date, time), lambda value, schema, embedded: date_text(value)),
)


# --- to numbers


def as_long(value: Any) -> int:
    try:
        if isinstance(value, str):
            value = parse_decimal(value)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return whole(value, 64) if isinstance(value, float | Decimal) else wrapped(value, 64)
    except ValueError:
        pass
    raise _not_a_number(value)


def as_double(value: Any) -> float:
    try:
        if isinstance(value, str):
            value = parse_decimal(value)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise _not_a_number(value)


def _not_a_number(value: Any) -> DataError:
    return DataError(f"Unable to convert {java_text(value)} (class {class_name(value)}) to a number")


# --- from text


def parse(text: str | None) -> Parsed:
    if text is None:
        return None, None
    if not text:
        return STRING, text
    found = _Parser(text).parse(embedded=False)
    return (None, None) if found is None else found


class _MalformedError(DataError):
    """Not a list or map after all."""


@dataclass
class _Merged:
    """The schema that fits all that were seen; None if none was, or none does."""

    schema: Schema | None = None
    fits: bool = True

    def merge(self, found: Parsed | None) -> None:
        if found is None or found[0] is None or not self.fits:
            return
        self.schema = found[0] if self.schema is None else _common(self.schema, found[0])
        self.fits = self.schema is not None


def _common(one: Schema, other: Schema) -> Schema | None:
    if one.type is other.type:
        return other
    if one.type in _LADDER and other.type in _LADDER:
        return max(one, other, key=lambda schema: _LADDER.index(schema.type))
    return None


class _Parser:
    """Tokens are single delimiters and what stands between them; a backslash takes a delimiter its meaning."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._peeked: str | None = None
        self._previous: str | None = None

    # --- tokens

    def _has_next(self) -> bool:
        return self._peeked is not None or self._at < len(self._text)

    def _mark(self) -> int:
        return self._at - len(self._peeked or "")

    def _rewind(self, position: int) -> None:
        self._at = position
        self._peeked = self._previous = None

    def _next(self) -> str:
        token = self._peeked if self._peeked is not None else self._consume()
        self._peeked = None
        self._previous = token
        return token

    def _next_joined(self, count: int) -> str | None:
        start = self._mark()
        for _ in range(count):
            if not self._has_next():
                self._rewind(start)
                return None
            self._next()
        return self._text[start : self._at]

    def _consume(self) -> str:
        start, escaped = self._at, False
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in _DELIMITERS and not escaped:
                self._at = max(self._at, start + 1)
                break
            escaped = character == "\\" and not escaped
            self._at += 1
        return self._text[start : self._at]

    def _takes(self, expected: str) -> bool:
        """Goes past the next token if it is that; blanks before it are dropped."""
        if self._peeked is None:
            if not self._has_next():
                return False
            self._peeked = self._consume()
        while not self._peeked.strip() and self._at < len(self._text):
            self._peeked = self._consume()
        if self._peeked.strip() != expected:
            return False
        self._peeked = None
        return True

    # --- values; None is null

    def parse(self, embedded: bool) -> Parsed | None:
        if not self._has_next():
            return None
        if embedded and self._takes('"'):
            return self._quoted()
        for literal, found in _LITERALS.items():
            if self._takes_literal(literal, embedded):
                return found
        start = self._mark()
        try:
            if self._takes("["):
                return self._list()
            if self._takes("{"):
                return self._map()
        except DataError:
            self._rewind(start)
        token = self._next()
        return self._plain(token.strip(), embedded) if token.strip() else (STRING, token)

    def _takes_literal(self, literal: str, embedded: bool) -> bool:
        start = self._mark()
        if self._takes(literal) and (embedded or not self._has_next()):
            return True
        self._rewind(start)
        return False

    def _plain(self, token: str, embedded: bool) -> Parsed:
        found = self._temporal(token) if token[0].isdecimal() else None
        if found is None and (token[0].isdecimal() or token[0] in "+-"):
            found = _number(token)
        if found is not None:
            return found
        if embedded:
            raise _MalformedError("Failed to parse embedded value")
        return STRING, self._text

    def _temporal(self, token: str) -> Parsed | None:
        """A time has colons, so it may be five tokens."""
        start = self._mark()
        rest = self._next_joined(4)
        found = None if rest is None else _temporal(token + rest)
        if found is None:
            self._rewind(start)
            found = _temporal(token)
        return found

    def _quoted(self) -> Parsed:
        parts: list[str] = []
        while self._has_next() and not self._takes('"'):
            parts.append(self._next())
        text = "".join(parts)
        return _temporal(text) or (STRING, text)

    def _list(self) -> Parsed:
        items: list[Any] = []
        merged = _Merged()
        while self._has_next():
            if self._takes("]"):
                schema = Schema(Type.ARRAY, value_schema=merged.schema)
                return schema, [_aligned(merged.schema, item) for item in items]
            if self._takes(","):
                raise _MalformedError(f"Unable to parse an empty array element: {self._text}")
            item = self.parse(embedded=True)
            merged.merge(item)
            items.append(None if item is None else item[1])
            after = self._mark()
            if self._takes("]"):
                self._rewind(after)
            elif not self._takes(","):
                raise _MalformedError("Array elements missing ',' delimiter")
        raise _MalformedError(f"Array is missing terminating ']': {self._text}")

    def _map(self) -> Parsed:
        entries: dict[Any, Any] = {}
        keys, values = _Merged(), _Merged()
        while self._has_next():
            if self._takes("}"):
                return _map_of(entries, keys.schema, values.schema)
            if self._takes(","):
                raise _MalformedError(f"Unable to parse a map entry with no key or value: {self._text}")
            key = self.parse(embedded=True)
            if key is None or key[1] is None:
                raise _MalformedError(f"Map entry may not have a null key: {self._text}")
            if not self._takes(":"):
                raise _MalformedError(f"Map entry is missing ':' at {self._at} in {self._text}")
            value = self.parse(embedded=True)
            entries[_hashable(key[1])] = None if value is None else value[1]
            self._takes(",")
            keys.merge(key)
            values.merge(value)
        raise _MalformedError(f"Map is missing terminating '}}': {self._text}")


_LITERALS: Final[dict[str, Parsed | None]] = {
    "null": None,
    "true": (BOOLEAN, True),
    "false": (BOOLEAN, False),
}


def _hashable(key: Any) -> Any:
    if isinstance(key, list | dict):
        raise _MalformedError("a list or a map cannot be a map's key")
    return key


def _map_of(entries: dict[Any, Any], keys: Schema | None, values: Schema | None) -> Parsed:
    if keys is None:
        return Schema(Type.MAP), entries
    if values is None:
        found = {_aligned(keys, key): item for key, item in entries.items()}
        return Schema(Type.MAP, key_schema=keys), found
    aligned = {_aligned(keys, key): _aligned(values, item) for key, item in entries.items()}
    return replace(Schema(Type.MAP), key_schema=keys, value_schema=values), aligned


def _temporal(token: str) -> Parsed | None:
    token = token.replace("\\:", ":")
    known = _FORMAT_OF_LENGTH.get(len(token))
    if known is None:
        return None
    format, schema = known
    try:
        return schema, _FROM_MILLIS[schema.name or ""](format.parse(token))
    except (ParseError, OverflowError, ValueError):
        return None


def _number(token: str) -> Parsed | None:
    try:
        decimal = parse_decimal(token)
    except ValueError:
        return None
    exact = _exact(decimal)
    if exact is not None:
        return exact
    if scale(decimal) == 0:
        return decimal_schema(0), decimal
    for schema, value in ((FLOAT32, to_float32(_float(decimal))), (FLOAT64, _float(decimal))):
        if abs(value) != float("inf"):
            return schema, value
    return decimal_schema(scale(decimal)), decimal


def _float(decimal: Decimal) -> float:
    return float(decimal)


def _exact(decimal: Decimal) -> Parsed | None:
    """As a whole number, if it is one that fits."""
    size = abs(decimal)
    if size > _LARGER_THAN_LONG or 0 < size < 1 or decimal != decimal.to_integral_value():
        return None
    value = int(decimal)
    for bits, schema in _INTEGERS.items():
        if -1 << (bits - 1) <= value < 1 << (bits - 1):
            return schema, value
    return None


def _aligned(schema: Schema | None, value: Any) -> Any:
    """A value of a list as the type that all of them have."""
    if schema is None:
        return value
    if value is None:
        raise _MalformedError("Unable to convert a null value to a schema that requires a value")
    if schema.name in _FROM_MILLIS:
        return _as_date(schema, value)
    return _ALIGNED.get(schema.type, _as_it_is)(value)


def _as_it_is(value: Any) -> Any:
    return value


def _as_date(schema: Schema, value: Any) -> Any:
    millis = millis_of(value) if isinstance(value, date | time) else as_long(value)
    if not isinstance(value, date | time) and schema.name == DATE_NAME:
        millis *= MILLIS_PER_DAY
    try:
        return _FROM_MILLIS[schema.name or ""](millis)
    except OverflowError:
        raise _MalformedError(f"Unable to convert {value} to {described(schema)}") from None


def _wrapping(bits: int) -> Callable[[Any], int]:
    return lambda value: wrapped(as_long(value), bits)


_ALIGNED: Final[dict[Type, Callable[[Any], Any]]] = {
    **{type: _wrapping(bits) for type, bits in BITS.items()},
    Type.FLOAT32: lambda value: to_float32(as_double(value)),
    Type.FLOAT64: as_double,
    Type.STRING: to_text,
}


# --- the schema of a value


def infer_schema(value: Any) -> Schema | None:
    """Of a plain value; None where it has none: an empty list, a date, values of several types."""
    for kind, infer in _INFERRED:
        if isinstance(value, kind):
            return infer(value)
    return None


def _inferred_items(items: list[Any]) -> Schema | None:
    """The type that all have; optional, if one is null."""
    schemas = [infer_schema(item) for item in items if item is not None]
    types = {None if schema is None else schema.type for schema in schemas}
    if len(types) != 1 or None in types:
        return None
    found = schemas[0]
    assert found is not None
    return Schema(found.type, optional=None in items)


def _inferred_list(value: list[Any]) -> Schema | None:
    items = _inferred_items(list(value))
    return None if items is None else Schema(Type.ARRAY, value_schema=items)


def _inferred_map(value: dict[Any, Any]) -> Schema | None:
    keys, values = _inferred_items(list(value)), _inferred_items(list(value.values()))
    if keys is None or values is None:
        return None
    return Schema(Type.MAP, key_schema=keys, value_schema=values)


_INFERRED: Final[tuple[tuple[type | tuple[type, ...], Callable[[Any], Schema | None]], ...]] = (
    (str, lambda value: STRING),
    (bool, lambda value: BOOLEAN),
    (int, lambda value: Schema(Type.INT64)),
    (float, lambda value: FLOAT64),
    ((bytes, bytearray, memoryview), lambda value: Schema(Type.BYTES)),
    ((list, tuple), _inferred_list),
    (dict, _inferred_map),
    (Struct, lambda value: value.schema),
)
