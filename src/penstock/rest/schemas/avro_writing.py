"""From Avro's JSON to Avro's bytes. Each part of a schema becomes a function that appends one value to the bytes.

A field that is missing gets its default. Defaults are JSON of another kind: what stands for a union is not tagged, the
first branch that it fits is meant. So they are written by functions of their own, made of the same schema.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from struct import Struct
from typing import Any

from penstock.client.registry.avro_schemas import NAMED, AvroJson
from penstock.rest.errors import shown
from penstock.rest.schemas.avro_compiler import AvroCompiler
from penstock.rest.schemas.codec import Misfit

Write = Callable[[Any, bytearray], None]
_FLOAT, _DOUBLE = Struct("<f"), Struct("<d")
_NOT_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def writer_of(parsed: AvroJson) -> Write:
    """Of a schema as fastavro has parsed it: full names, each defined where it is met first."""
    return _Writers(tagged=True).of(parsed)


def branch_name(branch: AvroJson) -> str:
    """What tags a value of this branch of a union."""
    if isinstance(branch, dict):
        return str(branch["name"] if branch["type"] in NAMED else branch["type"])
    return str(branch)


def write_long(number: int, out: bytearray) -> None:
    rest = (number << 1) ^ (number >> 63)
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)


def _refusal(value: Any, takes: str) -> Misfit:
    return Misfit(f"got {shown(value)}, takes {takes}")


def _null(value: Any, out: bytearray) -> None:
    if value is not None:
        raise _refusal(value, "null")


def _boolean(value: Any, out: bytearray) -> None:
    if type(value) is not bool:
        raise _refusal(value, "true or false")
    out.append(value)


def _integer(bits: int) -> Write:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    takes = f"an integer of {bits} bits"

    def write(value: Any, out: bytearray) -> None:
        if type(value) is not int or not least <= value <= most:
            raise _refusal(value, takes)
        write_long(value, out)

    return write


def _floating(layout: Struct) -> Write:
    def write(value: Any, out: bytearray) -> None:
        number = _NOT_NUMBERS.get(value) if type(value) is str else value
        if type(number) is not float and type(number) is not int:
            raise _refusal(value, "a number")
        try:
            out += layout.pack(number)
        except (OverflowError, struct.error):
            raise _refusal(value, f"a number that {layout.size} bytes have room for") from None

    return write


def latin_bytes(value: Any) -> bytes:
    """The bytes that a text stands for, a character each."""
    try:
        if type(value) is str:
            return value.encode("latin-1")
    except UnicodeEncodeError:
        pass
    raise _refusal(value, "a string of characters up to U+00FF, one for each byte")


def _bytes(value: Any, out: bytearray) -> None:
    data = latin_bytes(value)
    write_long(len(data), out)
    out += data


def _string(value: Any, out: bytearray) -> None:
    if type(value) is not str:
        raise _refusal(value, "a string")
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise _refusal(value, "characters that UTF-8 has") from None
    write_long(len(data), out)
    out += data


_PRIMITIVES: dict[str, Write] = {
    "null": _null,
    "boolean": _boolean,
    "int": _integer(32),
    "long": _integer(64),
    "float": _floating(_FLOAT),
    "double": _floating(_DOUBLE),
    "bytes": _bytes,
    "string": _string,
}


class _Writers(AvroCompiler[Write]):
    """`tagged`: values of unions say which branch they are of."""

    primitives = _PRIMITIVES

    def __init__(self, tagged: bool) -> None:
        super().__init__()
        self._tagged = tagged
        self._of_defaults = _Writers(tagged=False) if tagged else self

    def _later(self, name: str) -> Write:
        return self._named.get(name) or (lambda value, out: self._named[name](value, out))

    def _union(self, branches: list[AvroJson]) -> Write:
        return self._tagged_union(branches) if self._tagged else self._untagged_union(branches)

    def _record(self, schema: dict[str, Any]) -> Write:
        name = schema["name"]
        fields = [(field["name"], self.of(field["type"]), self._default(field)) for field in schema["fields"]]
        names = frozenset(each for each, _, _ in fields)

        def write(value: Any, out: bytearray) -> None:
            if type(value) is not dict:
                raise _refusal(value, f"an object: {name}")
            field, missing = "", 0
            try:
                for field, write_field, default in fields:
                    if field in value:
                        write_field(value[field], out)
                    else:
                        out += default()
                        missing += 1
            except Misfit as misfit:
                raise misfit.under(f".{field}") from None
            if len(value) + missing != len(fields):
                unknown = next(each for each in value if each not in names)
                raise Misfit(f"{name} has no such field").under(f".{unknown}")

        self._named[name] = write
        return write

    def _default(self, field: dict[str, Any]) -> Callable[[], bytes]:
        """What is written for a field that is not there; made at its first use, since types may be recursive."""
        write = self._of_defaults.of(field["type"])
        made: list[bytes] = []

        def default() -> bytes:
            if not made:
                if "default" not in field:
                    raise Misfit("is missing, and has no default")
                out = bytearray()
                write(field["default"], out)
                made.append(bytes(out))
            return made[0]

        return default

    def _enum(self, schema: dict[str, Any]) -> Write:
        places = {symbol: place for place, symbol in enumerate(schema["symbols"])}
        takes = f"one of {', '.join(places)}"

        def write(value: Any, out: bytearray) -> None:
            place = places.get(value) if type(value) is str else None
            if place is None:
                raise _refusal(value, takes)
            write_long(place, out)

        self._named[schema["name"]] = write
        return write

    def _fixed(self, schema: dict[str, Any]) -> Write:
        size = schema["size"]

        def write(value: Any, out: bytearray) -> None:
            data = latin_bytes(value)
            if len(data) != size:
                raise _refusal(value, f"a string of {size} characters, one for each byte")
            out += data

        self._named[schema["name"]] = write
        return write

    def _array(self, schema: dict[str, Any]) -> Write:
        write_item = self.of(schema["items"])

        def write(value: Any, out: bytearray) -> None:
            if type(value) is not list:
                raise _refusal(value, "an array")
            if value:
                write_long(len(value), out)
            for index, item in enumerate(value):
                try:
                    write_item(item, out)
                except Misfit as misfit:
                    raise misfit.under(f"[{index}]") from None
            out.append(0)

        return write

    def _map(self, schema: dict[str, Any]) -> Write:
        write_value = self.of(schema["values"])

        def write(value: Any, out: bytearray) -> None:
            if type(value) is not dict:
                raise _refusal(value, "an object")
            if value:
                write_long(len(value), out)
            for key, each in value.items():
                try:
                    _string(key, out)
                    write_value(each, out)
                except Misfit as misfit:
                    raise misfit.under(f".{key}") from None
            out.append(0)

        return write

    def _tagged_union(self, branches: list[AvroJson]) -> Write:
        by_name = {branch_name(each): (place, self.of(each)) for place, each in enumerate(branches)}
        takes = " or ".join("null" if name == "null" else f'{{"{name}": ...}}' for name in by_name)
        null = by_name["null"][0] if "null" in by_name else None

        def write(value: Any, out: bytearray) -> None:
            if value is None and null is not None:
                write_long(null, out)
                return
            if type(value) is not dict or len(value) != 1:
                raise _refusal(value, takes)
            [(name, inner)] = value.items()
            if name not in by_name:
                raise Misfit(f"got an object with {shown(name)}, takes {takes}")
            place, write_branch = by_name[name]
            write_long(place, out)
            try:
                write_branch(inner, out)
            except Misfit as misfit:
                raise misfit.under(f".{name}") from None

        return write

    def _untagged_union(self, branches: list[AvroJson]) -> Write:
        writers = [self.of(each) for each in branches]

        def write(value: Any, out: bytearray) -> None:
            for place, write_branch in enumerate(writers):
                start = len(out)
                try:
                    write_long(place, out)
                    write_branch(value, out)
                except Misfit:
                    del out[start:]
                else:
                    return
            raise Misfit("is missing, and its default is none of its types")

        return write
