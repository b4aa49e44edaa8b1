"""Straight-line readers and writers, compiled from a message's schema for one version, on first use.

A generic codec that walks the schema for every field of every message costs tens of microseconds a request; a
function written out for just this version costs two or three. So the source of that function is generated
here: runs of fixed-size fields become one `struct` call, lengths of one byte are read inline, records stay a
memoryview into the frame.

A reader has the form `read(buffer, position, limit) -> (message, position)` and never looks beyond `limit`.
A writer has the form `write(out, cuts, message)`: it appends to the bytearray `out`, and where record bytes
belong it notes (position in out, records) in `cuts`, so that they are sent without being copied.
"""

import struct
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeAlias, TypeVar

from penstock.errors import ProtocolError
from penstock.wire.primitives import (
    MAX_STRING_BYTES,
    MAX_TAGGED_FIELDS,
    beyond_frame,
    decode_unsigned_varint,
    encode_unsigned_varint,
    null_refused,
    too_long_string,
    too_many_tagged_fields,
)
from penstock.wire.records_field import Part, Records, size_of
from penstock.wire.schema import ApiMessage, Field, Message, VersionedMessage

MessageT = TypeVar("MessageT", bound=VersionedMessage)
Reader: TypeAlias = Callable[[memoryview, int, int], tuple[Any, int]]
Cuts: TypeAlias = list[tuple[int, Records]]
Writer: TypeAlias = Callable[[bytearray, Cuts, Any], None]

FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint16": "H",
    "uint32": "I",
    "float64": "d",
    "uuid": "16s",
}
MALFORMED = (IndexError, struct.error, UnicodeDecodeError, ValueError)

MAX_ELEMENTS = 30_000
"""In all arrays of one request together. A byte can be an element, and each costs the broker some microseconds in which
nobody else is served: what is longer has to be read at leisure."""


class TooManyElements(ProtocolError):
    """A request of more than were allowed; nothing else is known to be wrong with it."""


def decode_message(
    cls: type[MessageT], version: int, frame: memoryview, position: int, max_elements: int = MAX_ELEMENTS
) -> MessageT:
    """Reads one message; bytes that follow it in the frame are ignored, as Kafka ignores them."""
    _count.set([max_elements, max_elements])
    try:
        message, _ = reader(cls, version)(frame, position, len(frame))
    except MALFORMED as error:
        raise ProtocolError(f"malformed {cls.__name__} v{version}: {error}") from error
    return message  # type: ignore[no-any-return]


def encode_message(message: VersionedMessage, version: int, out: bytearray) -> list[Part]:
    """Appends the message to `out` and returns the parts to send: slices of `out`, and records in between."""
    cuts: Cuts = []
    writer(type(message), version)(out, cuts, message)
    if not cuts:
        return [out]
    parts: list[Part] = []
    whole = memoryview(out)
    start = 0
    for end, records in cuts:
        parts.append(whole[start:end])
        if size_of(records):
            parts.append(records)
        start = end
    if start < len(out):
        parts.append(whole[start:])
    return parts


def is_flexible(cls: type[VersionedMessage], version: int) -> bool:
    return version >= cls.FIRST_FLEXIBLE


_count: ContextVar[list[int]] = ContextVar("count", default=[MAX_ELEMENTS, MAX_ELEMENTS])  # noqa: B039
"""What the request that is being read may have, and how much of that is left; a thread has its own. Responses are not
counted: they come from whom the client chose."""


def _is_request(cls: type[VersionedMessage]) -> bool:
    return issubclass(cls, ApiMessage) and cls.__name__.endswith("Request")


def _count_elements(name: str, size: int) -> None:
    count = _count.get()
    count[1] -= size
    if count[1] < 0:
        raise TooManyElements(f"{name}: {size} elements; a request may have {count[0]} in all")


_READERS: dict[tuple[type[VersionedMessage], int], Reader] = {}
_WRITERS: dict[tuple[type[VersionedMessage], int], Writer] = {}


def reader(cls: type[VersionedMessage], version: int) -> Reader:
    found = _READERS.get((cls, version))
    if found is None:
        compiler = _Compiler(version, is_flexible(cls, version), is_bounded=_is_request(cls))
        found = _READERS[cls, version] = compiler.reader(cls)
    return found


def writer(cls: type[VersionedMessage], version: int) -> Writer:
    found = _WRITERS.get((cls, version))
    if found is None:
        found = _WRITERS[cls, version] = _Compiler(version, is_flexible(cls, version)).writer(cls)
    return found


class _Source:
    """Lines of a function under construction, with the objects that they refer to."""

    def __init__(self, head: str) -> None:
        self.lines = [head]
        self.depth = 1
        self.names: dict[str, Any] = {
            "uvarint": decode_unsigned_varint,
            "to_uvarint": encode_unsigned_varint,
            "beyond": beyond_frame,
            "refused": null_refused,
            "too_long": too_long_string,
            "too_many": too_many_tagged_fields,
            "size_of": size_of,
            "new": object.__new__,
        }

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def refer(self, value: Any, prefix: str) -> str:
        name = f"{prefix}_{len(self.names)}"
        self.names[name] = value
        return name

    def compile(self) -> Any:
        namespace = self.names
        exec("\n".join(self.lines), namespace)
        return namespace["run"]


class _Compiler:
    """Compiles one version of a message; structures inside become functions of their own."""

    def __init__(self, version: int, flexible: bool, *, is_bounded: bool = False) -> None:
        self.version = version
        self.flexible = flexible
        self.is_bounded = is_bounded
        self.readers: dict[type[Message], Reader] = {}
        self.writers: dict[type[Message], Writer] = {}

    def plain_fields(self, cls: type[Message]) -> list[Field]:
        return [f for f in cls.SCHEMA if f.exists_in(self.version) and f.tag is None]

    def tagged_fields(self, cls: type[Message]) -> list[Field]:
        found = [f for f in cls.SCHEMA if f.exists_in(self.version) and f.tag is not None]
        return sorted(found, key=lambda f: f.tag or 0)

    # reading

    def reader(self, cls: type[Message]) -> Reader:
        if cls not in self.readers:
            self.readers[cls] = self.compile_reader(cls)
        return self.readers[cls]

    def compile_reader(self, cls: type[Message]) -> Reader:
        source = _Source("def run(buffer, position, limit):")
        fields = self.plain_fields(cls)
        for run in _runs_of_fixed(fields):
            if len(run) > 1 or run[0].kind in FIXED:
                self.read_fixed(source, run)
            else:
                self.read_field(source, run[0])
        tagged = self.tagged_fields(cls)
        for field in tagged:
            source.add(f"{_local(field)} = {source.refer(field.default, 'default')}")
        if self.flexible:
            self.read_tagged(source, tagged)
        self.build(source, cls, {f.name: _local(f) for f in fields + tagged})
        return source.compile()  # type: ignore[no-any-return]

    def read_fixed(self, source: _Source, run: list[Field]) -> None:
        form = struct.Struct(">" + "".join(FIXED[f.kind] for f in run))
        unpack = source.refer(form.unpack_from, "unpack")
        source.add(
            f"if limit - position < {form.size}: raise beyond('{run[0].name}', {form.size}, limit - position)"
        )
        source.add(f"{', '.join(map(_local, run))}, = {unpack}(buffer, position)")
        source.add(f"position += {form.size}")

    def build(self, source: _Source, cls: type[Message], present: dict[str, str]) -> None:
        """Fills a new object field by field, which takes half the time of a call with keyword arguments."""
        source.add(f"message = new({source.refer(cls, 'cls')})")
        for field in cls.SCHEMA:
            value = present.get(field.name) or source.refer(field.default, "default")
            source.add(f"message.{field.name} = {value}")
        source.add("return message, position")

    def check_left(self, source: _Source, name: str, size: str) -> None:
        source.add(f"if limit - position < {size}: raise beyond('{name}', {size}, limit - position)")

    def read_length(self, source: _Source, into: str, *, array: bool, wide: bool) -> None:
        """Reads a length; -1 stands for null."""
        if self.flexible:
            source.add(f"{into} = buffer[position]")
            source.add(f"if {into} < 128: position += 1")
            source.add(f"else: {into}, position = uvarint(buffer, position)")
            source.add(f"{into} -= 1")
            return
        form = struct.Struct(">i" if array or wide else ">h")
        unpack = source.refer(form.unpack_from, "unpack")
        source.add(f"{into}, = {unpack}(buffer, position)")
        source.add(f"position += {form.size}")

    def read_field(self, source: _Source, field: Field) -> None:
        name = _local(field)
        if field.kind == "struct":
            self.read_struct(source, field)
            return
        self.read_length(source, "size", array=field.is_array, wide=field.kind in ("bytes", "records"))
        source.add("if size < 0:")
        source.depth += 1
        source.add(f"{name} = None" if field.nullable_in(self.version) else f"raise refused('{name}')")
        source.depth -= 1
        source.add(f"elif size > limit - position: raise beyond('{name}', size, limit - position)")
        if self.is_bounded and field.kind == "string":
            source.add(f"elif size > {MAX_STRING_BYTES}: raise too_long('{name}', size)")
        source.add("else:")
        source.depth += 1
        if field.is_array:
            self.read_array(source, field)
        else:
            self.read_bytes(source, name, field.kind)
        source.depth -= 1

    def read_bytes(self, source: _Source, name: str, kind: str) -> None:
        view = "buffer[position:position + size]"
        form = {"string": f"str({view}, 'utf-8', 'replace')", "bytes": f"bytes({view})", "records": view}[
            kind
        ]
        source.add(f"{name} = {form}")
        source.add("position += size")

    def read_array(self, source: _Source, field: Field) -> None:
        name, kind = _local(field), field.element_kind
        if self.is_bounded:
            source.add(f"if size > 1: {source.refer(_count_elements, 'count')}('{name}', size)")
        if kind in FIXED:
            width = struct.calcsize(">" + FIXED[kind])
            form = f"struct.unpack_from(f'>{{size}}{FIXED[kind]}', buffer, position)"
            if kind == "uuid":
                form = "[bytes(buffer[position + 16 * i:position + 16 * i + 16]) for i in range(size)]"
            source.names["struct"] = struct
            source.add(
                f"if size * {width} > limit - position: raise beyond('{name}', size, limit - position)"
            )
            source.add(f"{name} = list({form})")
            source.add(f"position += size * {width}")
            return
        source.add(f"{name} = []")
        source.add("for _ in range(size):")
        source.depth += 1
        if kind == "struct":
            assert field.struct is not None
            read = source.refer(self.reader(field.struct), "read")
            source.add(f"f_element, position = {read}(buffer, position, limit)")
        else:
            element = Field("element", kind, None, field.versions, None, None, None)
            self.read_field(source, element)
        source.add(f"{name}.append(f_element)")
        source.depth -= 1

    def read_struct(self, source: _Source, field: Field) -> None:
        assert field.struct is not None
        read = source.refer(self.reader(field.struct), "read")
        if field.nullable_in(self.version):
            source.add("present = buffer[position]; position += 1")
            is_null = "present >= 128" if field.tag is None else "present == 0"
            source.add(f"if {is_null}: {_local(field)} = None")
            source.add(f"else: {_local(field)}, position = {read}(buffer, position, limit)")
        else:
            source.add(f"{_local(field)}, position = {read}(buffer, position, limit)")

    def read_tagged(self, source: _Source, tagged: list[Field]) -> None:
        source.add("count = buffer[position]")
        source.add("if count == 0: position += 1")
        source.add("else:")
        source.depth += 1
        source.add("count, position = uvarint(buffer, position)")
        source.add("if count > limit - position: raise beyond('tagged fields', count, limit - position)")
        source.add(f"if count > {MAX_TAGGED_FIELDS}: raise too_many(count)")
        source.add("for _ in range(count):")
        source.depth += 1
        source.add("tag, position = uvarint(buffer, position)")
        source.add("tag_size, position = uvarint(buffer, position)")
        source.add("if tag_size > limit - position: raise beyond('tagged field', tag_size, limit - position)")
        source.add("end = position + tag_size")
        for field in tagged:
            source.add(f"if tag == {field.tag}:")
            source.depth += 1
            if field.kind in FIXED:
                self.read_fixed(source, [field])
            else:
                self.read_field(source, field)
            source.depth -= 1
        source.add("position = end")
        source.depth -= 2

    # writing

    def writer(self, cls: type[Message]) -> Writer:
        if cls not in self.writers:
            self.writers[cls] = self.compile_writer(cls)
        return self.writers[cls]

    def compile_writer(self, cls: type[Message]) -> Writer:
        source = _Source("def run(out, cuts, message):")
        for run in _runs_of_fixed(self.plain_fields(cls)):
            if len(run) > 1 or run[0].kind in FIXED:
                self.write_fixed(source, run)
            else:
                source.add(f"value = message.{run[0].name}")
                self.write_field(source, run[0], "out")
        if self.flexible:
            self.write_tagged(source, self.tagged_fields(cls))
        source.add("return None")
        return source.compile()  # type: ignore[no-any-return]

    def write_fixed(self, source: _Source, run: list[Field]) -> None:
        pack = source.refer(struct.Struct(">" + "".join(FIXED[f.kind] for f in run)).pack, "pack")
        source.add(f"out += {pack}({', '.join(f'message.{f.name}' for f in run)})")

    def write_length(self, source: _Source, out: str, size: str, *, wide: bool) -> None:
        if self.flexible:
            source.add(f"if {size} < 127: {out}.append({size} + 1)")
            source.add(f"else: {out} += to_uvarint({size} + 1)")
        else:
            pack = source.refer(struct.Struct(">i" if wide else ">h").pack, "pack")
            source.add(f"{out} += {pack}({size})")

    def write_null(self, source: _Source, field: Field, out: str) -> None:
        if not field.nullable_in(self.version):
            fallback = "()" if field.is_array else "b''" if field.kind in ("bytes", "records") else "''"
            source.add(f"if value is None: value = {fallback}")
            return
        wide = field.is_array or field.kind in ("bytes", "records")
        null = b"\x00" if self.flexible else b"\xff\xff\xff\xff" if wide else b"\xff\xff"
        source.add(f"if value is None: {out} += {null!r}")
        source.add("else:")
        source.depth += 1

    def write_field(self, source: _Source, field: Field, out: str) -> None:
        if field.kind == "struct":
            self.write_struct(source, field, out)
            return
        depth = source.depth
        self.write_null(source, field, out)
        if field.is_array:
            self.write_length(source, out, "len(value)", wide=True)
            self.write_elements(source, field, out)
        elif field.kind == "records":
            self.write_length(source, out, "size_of(value)", wide=True)
            source.add(f"cuts.append((len({out}), value))")
        else:
            if field.kind == "string":
                source.add("value = value.encode()")
            self.write_length(source, out, "len(value)", wide=field.kind == "bytes")
            source.add(f"{out} += value")
        source.depth = depth

    def write_elements(self, source: _Source, field: Field, out: str) -> None:
        kind = field.element_kind
        if kind in FIXED:
            pack = source.refer(struct.Struct(">" + FIXED[kind]).pack, "pack")
            source.add(f"for element in value: {out} += {pack}(element)")
        elif kind == "struct":
            assert field.struct is not None
            write = source.refer(self.writer(field.struct), "write")
            source.add(f"for element in value: {write}({out}, cuts, element)")
        else:
            source.add("for value in value:")
            source.depth += 1
            self.write_field(source, Field("value", kind, None, field.versions, None, None, None), out)
            source.depth -= 1

    def write_struct(self, source: _Source, field: Field, out: str) -> None:
        assert field.struct is not None
        write = source.refer(self.writer(field.struct), "write")
        if field.nullable_in(self.version):
            source.add(f"if value is None: {out}.append({255 if field.tag is None else 0})")
            source.add(f"else: {out}.append(1); {write}({out}, cuts, value)")
        else:
            cls = source.refer(field.struct, "cls")
            source.add(f"{write}({out}, cuts, {cls}() if value is None else value)")

    def write_tagged(self, source: _Source, tagged: list[Field]) -> None:
        """Only what differs from its default is written; mostly that is nothing."""
        if not tagged:
            source.add("out.append(0)")
            return
        source.add(f"if {' or '.join(self.differs(source, field) for field in tagged)}:")
        source.depth += 1
        source.add("tags = []")
        for field in tagged:
            source.add(f"if {self.differs(source, field)}:")
            source.depth += 1
            self.write_tag(source, field)
            source.depth -= 1
        source.add("out += to_uvarint(len(tags))")
        source.add("for tag, section in tags:")
        source.add("    out += to_uvarint(tag); out += to_uvarint(len(section)); out += section")
        source.depth -= 1
        source.add("else: out.append(0)")

    def differs(self, source: _Source, field: Field) -> str:
        value = f"message.{field.name}"
        if field.kind == "struct" and field.nullable_in(self.version):
            return "True"  # Kafka's default is an empty structure, which never occurs, and not null
        if field.default is None:
            return f"{value} is not None"
        if field.is_array:
            return f"({value} is None or len({value}))"
        return f"{value} != {source.refer(field.default, 'default')}"

    def write_tag(self, source: _Source, field: Field) -> None:
        source.add(f"value = message.{field.name}")
        source.add("section = bytearray()")
        if field.kind in FIXED:
            pack = source.refer(struct.Struct(">" + FIXED[field.kind]).pack, "pack")
            source.add(f"section += {pack}(value)")
        else:
            self.write_field(source, field, "section")
        source.add(f"tags.append(({field.tag}, section))")


def _local(field: Field) -> str:
    return f"f_{field.name}"


def _runs_of_fixed(fields: list[Field]) -> list[list[Field]]:
    """Groups neighbours of fixed size, which are read and written with one call."""
    runs: list[list[Field]] = []
    for field in fields:
        if runs and field.kind in FIXED and runs[-1][-1].kind in FIXED:
            runs[-1].append(field)
        else:
            runs.append([field])
    return runs
