"""From Avro's bytes to Avro's JSON. Each part of a schema becomes a function from a place in the bytes to a value and
the place behind it; IndexError if the bytes end before."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from struct import Struct
from typing import Any

from penstock.client.registry.avro_schemas import AvroJson
from penstock.rest.schemas.avro_compiler import AvroCompiler
from penstock.rest.schemas.avro_writing import branch_name

Read = Callable[[bytes, int], tuple[Any, int]]
_FLOAT, _DOUBLE = Struct("<f"), Struct("<d")
LONGEST_VARINT = 10
MOST_EMPTY_ITEMS = 1_000
"""Items that take no bytes (null, say); others are at most as many as there are bytes."""


def reader_of(parsed: AvroJson) -> Read:
    """Of a schema as fastavro has parsed it."""
    return _Readers().of(parsed)


def read_long(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at + 1
    value, shift, start = byte & 0x7F, 7, at
    while byte >= 0x80:
        at += 1
        if at - start >= LONGEST_VARINT:
            raise ValueError("a number has more bytes than any")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift += 7
    return (value >> 1) ^ -(value & 1), at + 1


def _null(data: bytes, at: int) -> tuple[Any, int]:
    return None, at


def _boolean(data: bytes, at: int) -> tuple[Any, int]:
    return data[at] != 0, at + 1


def _floating(layout: Struct) -> Read:
    size = layout.size

    def read(data: bytes, at: int) -> tuple[Any, int]:
        if at + size > len(data):
            raise IndexError
        [number] = layout.unpack_from(data, at)
        return number if isfinite(number) else _not_a_number(number), at + size

    return read


def _not_a_number(number: float) -> str:
    """JSON has no number for these; Avro's JSON has words."""
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def _raw(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = read_long(data, at)
    if size < 0:
        raise ValueError(f"a length is {size}")
    if at + size > len(data):
        raise IndexError
    return data[at : at + size], at + size


def _bytes(data: bytes, at: int) -> tuple[Any, int]:
    found, at = _raw(data, at)
    return found.decode("latin-1"), at


def _string(data: bytes, at: int) -> tuple[Any, int]:
    found, at = _raw(data, at)
    return found.decode(), at


_PRIMITIVES: dict[str, Read] = {
    "null": _null,
    "boolean": _boolean,
    "int": read_long,
    "long": read_long,
    "float": _floating(_FLOAT),
    "double": _floating(_DOUBLE),
    "bytes": _bytes,
    "string": _string,
}


class _Readers(AvroCompiler[Read]):
    primitives = _PRIMITIVES

    def _later(self, name: str) -> Read:
        return self._named.get(name) or (lambda data, at: self._named[name](data, at))

    def _record(self, schema: dict[str, Any]) -> Read:
        fields = [(field["name"], self.of(field["type"])) for field in schema["fields"]]

        def read(data: bytes, at: int) -> tuple[Any, int]:
            found: dict[str, Any] = {}
            for name, read_field in fields:
                found[name], at = read_field(data, at)
            return found, at

        self._named[schema["name"]] = read
        return read

    def _enum(self, schema: dict[str, Any]) -> Read:
        symbols, name = schema["symbols"], schema["name"]

        def read(data: bytes, at: int) -> tuple[Any, int]:
            place, at = read_long(data, at)
            if not 0 <= place < len(symbols):
                raise ValueError(f"{name} has no symbol {place}")
            return symbols[place], at

        self._named[name] = read
        return read

    def _fixed(self, schema: dict[str, Any]) -> Read:
        size = schema["size"]

        def read(data: bytes, at: int) -> tuple[Any, int]:
            if at + size > len(data):
                raise IndexError
            return data[at : at + size].decode("latin-1"), at + size

        self._named[schema["name"]] = read
        return read

    def _array(self, schema: dict[str, Any]) -> Read:
        read_item = self.of(schema["items"])

        def read(data: bytes, at: int) -> tuple[Any, int]:
            found: list[Any] = []
            count, at = _block(data, at)
            while count:
                for _ in range(count):
                    item, at = read_item(data, at)
                    found.append(item)
                count, at = _block(data, at)
            return found, at

        return read

    def _map(self, schema: dict[str, Any]) -> Read:
        read_value = self.of(schema["values"])

        def read(data: bytes, at: int) -> tuple[Any, int]:
            found: dict[str, Any] = {}
            count, at = _block(data, at)
            while count:
                for _ in range(count):
                    key, at = _string(data, at)
                    found[key], at = read_value(data, at)
                count, at = _block(data, at)
            return found, at

        return read

    def _union(self, branches: list[AvroJson]) -> Read:
        readers = [(branch_name(each), self.of(each)) for each in branches]

        def read(data: bytes, at: int) -> tuple[Any, int]:
            place, at = read_long(data, at)
            if not 0 <= place < len(readers):
                raise ValueError(f"a union has no branch {place}")
            name, read_branch = readers[place]
            if name == "null":
                return None, at
            value, at = read_branch(data, at)
            return {name: value}, at

        return read


def _block(data: bytes, at: int) -> tuple[int, int]:
    """How many items follow; a negative count is followed by their size, for those who skip them."""
    count, at = read_long(data, at)
    if count < 0:
        count = -count
        _, at = read_long(data, at)
    if count > max(len(data) - at, MOST_EMPTY_ITEMS):
        raise ValueError(f"a block says that it has {count} items, which is more than there are bytes")
    return count, at
