"""What records are made of: an Avro schema, with `arg.properties` that say which values a field has.

    iteration   {"start": 1, "step": 1, "restart": 100}     counts with the record's number
    options     [...]                                       one of these
    range       {"min": 0, "max": 10}                       between them, max excluded
    regex       "Item_[1-9][0-9]{0,2}"                      text that matches
    length      5 or {"min": 1, "max": 9}                   of strings, bytes, arrays and maps

A schema is read once, into a Connect schema and a function of (random, number): nothing is remembered between
records, so record number n is the same whenever it is made.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final, NamedTuple

from penstock.pipeline.connect.connectors.datagen.regex_text import text_of
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct, Type
from penstock.pipeline.connect.data.logical import DATE, TIME, TIMESTAMP, date_from_days, time_from_millis
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    STRING,
)
from penstock.pipeline.connect.errors import ConnectError

Make = Callable[[Random, int], Any]
Properties = Mapping[str, Any]
ARGUMENTS: Final = "arg.properties"
KNOWN_ARGUMENTS: Final = ("iteration", "options", "range", "regex", "length")
NULL_IN: Final = 4
"""One of so many values that may be null is."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PRIMITIVES: Final = {
    "boolean": BOOLEAN,
    "int": INT32,
    "long": INT64,
    "float": FLOAT32,
    "double": FLOAT64,
    "string": STRING,
    "bytes": BYTES,
}
_NUMBERS: Final = {
    "int": (-(1 << 31), 1 << 31),
    "long": (-(1 << 63), 1 << 63),
    "float": (0.0, 1.0),
    "double": (0.0, 1.0),
}
_LOGICAL: Final[dict[str, tuple[str, Schema, Callable[[int], Any]]]] = {
    "timestamp-millis": ("long", TIMESTAMP, lambda number: _EPOCH + timedelta(milliseconds=number)),
    "date": ("int", DATE, date_from_days),
    "time-millis": ("int", TIME, time_from_millis),
}


class Shape(NamedTuple):
    schema: Schema
    make: Make


def read_shape(text: str) -> Shape:
    """Of a whole Avro schema, which is a record's."""
    try:
        avro = json.loads(text)
    except ValueError as error:
        raise ConnectError(f"the Avro schema is no JSON: {error}") from None
    try:
        shape = _read(avro, "the schema")
    except (TypeError, ValueError) as error:  # a text where a number belongs, say
        raise ConnectError(f"the Avro schema's {ARGUMENTS}: {error}") from error
    if shape.schema.type is not Type.STRUCT or shape.schema.optional:
        raise ConnectError("the Avro schema is not a record's")
    return shape


def _read(avro: Any, where: str) -> Shape:
    if isinstance(avro, list):
        return _union(avro, where)
    described = {"type": avro} if isinstance(avro, str) else avro
    if not isinstance(described, dict) or "type" not in described:
        raise ConnectError(f"{where}: got {avro!r}; takes an Avro type")
    kind, arguments = described["type"], described.get(ARGUMENTS, {})
    if not isinstance(kind, str):  # {"type": {"type": "string", "arg.properties": ...}}
        return _read(kind, where)
    if not isinstance(arguments, dict) or set(arguments) - set(KNOWN_ARGUMENTS):
        raise ConnectError(f"{where}: {ARGUMENTS}: got {arguments!r}; takes {', '.join(KNOWN_ARGUMENTS)}")
    reader = _READERS.get(kind)
    if reader is None:
        raise ConnectError(f"{where}: got type {kind!r}; takes {', '.join(_READERS)} or a union with null")
    return reader(described, arguments, where)


def _union(choices: list[Any], where: str) -> Shape:
    others = [each for each in choices if each != "null"]
    if len(others) != 1:
        raise ConnectError(f"{where}: got a union of {len(choices)} types; takes one of null and another")
    inner = _read(others[0], where)
    if len(choices) == 1:
        return inner
    return Shape(
        inner.schema.as_optional(),
        lambda random, number: None if random.randrange(NULL_IN) == 0 else inner.make(random, number),
    )


# --- of one kind each


def _record(avro: Properties, arguments: Properties, where: str) -> Shape:
    fields = avro.get("fields")
    if not isinstance(fields, list) or not all(isinstance(each, dict) and "name" in each for each in fields):
        raise ConnectError(f"{where}: got a record with fields {fields!r}; takes a list of named ones")
    shapes = {each["name"]: _read(_field_type(each), f"{where}.{each['name']}") for each in fields}
    builder = SchemaBuilder.struct().name(_full_name(avro))
    for name, shape in shapes.items():
        builder.field(name, shape.schema)
    schema = builder.build()
    makes = [shape.make for shape in shapes.values()]
    if "options" in arguments:
        chosen = [Struct(schema, **option) for option in arguments["options"]]
        return Shape(schema, lambda random, number: random.choice(chosen))
    return Shape(schema, lambda random, number: Struct.of(schema, [make(random, number) for make in makes]))


def _field_type(field: Properties) -> Any:
    """Arguments may stand beside the type's name as well as within the type."""
    if ARGUMENTS in field and isinstance(field.get("type"), str):
        return {"type": field["type"], ARGUMENTS: field[ARGUMENTS]}
    return field.get("type")


def _full_name(avro: Properties) -> str | None:
    name, namespace = avro.get("name"), avro.get("namespace")
    return f"{namespace}.{name}" if name and namespace and "." not in name else name


def _number(avro: Properties, arguments: Properties, where: str) -> Shape:
    kind, logical = avro["type"], avro.get("logicalType")
    make = _number_maker(kind, arguments, where)
    if logical in _LOGICAL and _LOGICAL[logical][0] == kind:
        _, schema, as_value = _LOGICAL[logical]
        return Shape(schema, lambda random, number: as_value(make(random, number)))
    return Shape(_PRIMITIVES[kind], make)


def _number_maker(kind: str, arguments: Properties, where: str) -> Make:
    as_kind: Callable[[Any], Any] = int if kind in ("int", "long") else float
    if "options" in arguments:
        chosen = [as_kind(each) for each in _options(arguments, where)]
        return lambda random, number: random.choice(chosen)
    if "iteration" in arguments:
        return _iteration(arguments["iteration"], as_kind, where)
    low, high = map(as_kind, _range(arguments.get("range", {}), *_NUMBERS[kind], where))
    if as_kind is int:
        return lambda random, number: random.randrange(low, high)
    return lambda random, number: random.uniform(low, high)


def _iteration(given: Any, as_kind: Callable[[Any], Any], where: str) -> Make:
    if not isinstance(given, dict) or "start" not in given:
        raise ConnectError(f"{where}: iteration: got {given!r}; takes start, and step and restart if wanted")
    start, restart = as_kind(given["start"]), given.get("restart")
    step = as_kind(given.get("step", 1 if restart is None or as_kind(restart) >= start else -1))
    if restart is None:
        return lambda random, number: start + step * number
    if step == 0 or (as_kind(restart) - start) * step <= 0:
        raise ConnectError(
            f"{where}: iteration: got {given!r}; takes a step that leads from start to restart"
        )
    count = -int((start - as_kind(restart)) // step)
    return lambda random, number: start + step * (number % count)


def _range(given: Any, low: Any, high: Any, where: str) -> tuple[Any, Any]:
    if not isinstance(given, dict) or not given.get("min", low) < given.get("max", high):
        raise ConnectError(f"{where}: range: got {given!r}; takes min and max, min being less")
    return given.get("min", low), given.get("max", high)


def _text(avro: Properties, arguments: Properties, where: str) -> Shape:
    if "options" in arguments:
        return _chosen(STRING, _options(arguments, where))
    if "regex" in arguments:
        piece = text_of(str(arguments["regex"]))
        return Shape(STRING, lambda random, number: piece(random))
    if "iteration" in arguments:
        count = _iteration(arguments["iteration"], int, where)
        return Shape(STRING, lambda random, number: str(count(random, number)))
    length = _length(arguments, where)
    return Shape(
        STRING, lambda random, number: "".join(random.choices(string.ascii_lowercase, k=length(random)))
    )


def _options(arguments: Properties, where: str) -> list[Any]:
    options = arguments["options"]
    if not isinstance(options, list) or not options:
        raise ConnectError(f"{where}: options: got {options!r}; takes a list of values")
    return options


def _chosen(schema: Schema, options: list[Any]) -> Shape:
    return Shape(schema, lambda random, number: random.choice(options))


def _length(arguments: Properties, where: str) -> Callable[[Random], int]:
    given = arguments.get("length", {"min": 1, "max": 16})
    if isinstance(given, int) and given >= 0:
        return lambda random: given
    low, high = _range(given, 0, 16, f"{where}: length")
    return lambda random: random.randrange(low, high)


def _bytes(avro: Properties, arguments: Properties, where: str) -> Shape:
    length = _length({"length": avro["size"]} if "size" in avro else arguments, where)
    return Shape(BYTES, lambda random, number: random.randbytes(length(random)))


def _boolean(avro: Properties, arguments: Properties, where: str) -> Shape:
    return _chosen(BOOLEAN, _options(arguments, where) if "options" in arguments else [False, True])


def _enum(avro: Properties, arguments: Properties, where: str) -> Shape:
    return _chosen(STRING, _options(arguments or {"options": avro.get("symbols")}, where))


def _array(avro: Properties, arguments: Properties, where: str) -> Shape:
    item, length = _read(avro.get("items"), f"{where}[]"), _length(arguments, where)
    return Shape(
        SchemaBuilder.array(item.schema).build(),
        lambda random, number: [item.make(random, number) for _ in range(length(random))],
    )


def _map(avro: Properties, arguments: Properties, where: str) -> Shape:
    value, length = _read(avro.get("values"), f"{where}[]"), _length(arguments, where)
    return Shape(
        SchemaBuilder.map(STRING, value.schema).build(),
        lambda random, number: {f"key{index}": value.make(random, number) for index in range(length(random))},
    )


_READERS: Final[dict[str, Callable[[Properties, Properties, str], Shape]]] = {
    "record": _record,
    **dict.fromkeys(_NUMBERS, _number),
    "string": _text,
    "boolean": _boolean,
    "bytes": _bytes,
    "fixed": _bytes,
    "enum": _enum,
    "array": _array,
    "map": _map,
}
