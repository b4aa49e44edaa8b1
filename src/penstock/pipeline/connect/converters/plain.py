"""Converters of one plain type: text, bytes, true and false, numbers of a fixed size."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigType, Importance
from penstock.pipeline.connect.api.converter import KafkaHeaders, SchemaAndValue
from penstock.pipeline.connect.converters.base import KafkaConverter, are_in_utf_8, converter_config_def
from penstock.pipeline.connect.data import Schema, Type
from penstock.pipeline.connect.data.arrow_types import arrow_field
from penstock.pipeline.connect.data.java_text import class_name, java_text
from penstock.pipeline.connect.data.schema import (
    OPTIONAL_BOOLEAN,
    OPTIONAL_BYTES,
    OPTIONAL_FLOAT32,
    OPTIONAL_FLOAT64,
    OPTIONAL_INT16,
    OPTIONAL_INT32,
    OPTIONAL_INT64,
    OPTIONAL_STRING,
)
from penstock.pipeline.connect.errors import DataError

if TYPE_CHECKING:
    from pyarrow import Table

_BYTES = (bytes, bytearray, memoryview)
_BYTES_OR_NONE: Final = frozenset((bytes, type(None)))


def _encode_utf_16(text: str, errors: str = "strict") -> tuple[bytes, int]:
    data = text.encode("utf-16-be", errors)
    return codecs.BOM_UTF16_BE + data if data else data, len(text)


def _decode_utf_16(data: Any, errors: str = "strict") -> tuple[str, int]:
    given = bytes(data)
    has_mark = given.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE))
    return given.decode("utf-16" if has_mark else "utf-16-be", errors), len(given)


_UTF_16 = ("UTF-16", "UTF_16", "UTF16", "UNICODE")
_JAVA_UTF_16 = codecs.CodecInfo(_encode_utf_16, _decode_utf_16)
"""The higher byte first, where nothing says otherwise."""


class StringConverter(KafkaConverter):
    """Anything is written as Java prints it."""

    takes_any_bytes = True
    overview = "Text; other values are written as Java prints them."
    config_def = converter_config_def().define(
        "converter.encoding",
        ConfigType.STRING,
        "UTF-8",
        importance=Importance.HIGH,
        doc="The character set of the bytes.",
    )

    def on_configured(self) -> None:
        name = self.settings["converter.encoding"]
        try:
            codec = _JAVA_UTF_16 if name.upper() in _UTF_16 else codecs.lookup(name)
        except LookupError:
            raise ConfigError(
                f"converter.encoding: got {name!r}; takes the name of a character set"
            ) from None
        self._encode, self._decode = codec.encode, codec.decode
        self._is_utf_8 = codec.name == "utf-8"

    def from_connect(
        self, topic: str, schema: Schema | None, value: Any, headers: KafkaHeaders | None = None
    ) -> bytes | None:
        if value is None:
            return None
        text = value if type(value) is str else java_text(value, schema)
        return self._encode(text, "replace")[0]

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[Any]
    ) -> Sequence[bytes | str | None] | None:
        return values if self._is_utf_8 and are_in_utf_8(values) else None

    def to_connect(
        self, topic: str, data: bytes | None, headers: KafkaHeaders | None = None
    ) -> SchemaAndValue:
        return SchemaAndValue(OPTIONAL_STRING, None if data is None else self._decode(data, "replace")[0])

    def to_table(self, topic: str, data: Sequence[bytes | None]) -> tuple[Schema | None, Table] | None:
        return _one_column(OPTIONAL_STRING, data) if self._is_utf_8 else None


class ByteArrayConverter(KafkaConverter):
    takes_any_bytes = True
    overview = "Bytes as they are."

    def from_connect(
        self, topic: str, schema: Schema | None, value: Any, headers: KafkaHeaders | None = None
    ) -> bytes | None:
        if schema is not None and schema.type is not Type.BYTES:
            raise DataError(f"Invalid schema type for ByteArrayConverter: {schema.type.name}")
        if value is None or type(value) is bytes:
            return value
        if not isinstance(value, _BYTES):
            kind = class_name(value, schema)
            raise DataError(f"ByteArrayConverter is not compatible with objects of type class {kind}")
        return bytes(value)

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[Any]
    ) -> Sequence[bytes | str | None] | None:
        fits = (schema is None or schema.type is Type.BYTES) and _BYTES_OR_NONE.issuperset(map(type, values))
        return values if fits else None

    def to_connect(
        self, topic: str, data: bytes | None, headers: KafkaHeaders | None = None
    ) -> SchemaAndValue:
        return SchemaAndValue(OPTIONAL_BYTES, data)

    def to_table(self, topic: str, data: Sequence[bytes | None]) -> tuple[Schema | None, Table] | None:
        return _one_column(OPTIONAL_BYTES, data)


def _one_column(schema: Schema, data: Sequence[bytes | None]) -> tuple[Schema, Table] | None:
    import pyarrow as pa

    if None in data:
        return None
    field = arrow_field("value", schema)
    try:
        column = pa.array(data, pa.binary()).cast(field.type)
    except pa.ArrowInvalid:  # not in UTF-8: then signs that stand for what is wrong are read
        return None
    return schema, pa.table([column], pa.schema([field]))


class BooleanConverter(KafkaConverter):
    overview = "One byte: 1 for true, 0 for false."

    def from_connect(
        self, topic: str, schema: Schema | None, value: Any, headers: KafkaHeaders | None = None
    ) -> bytes | None:
        if schema is not None and schema.type is not Type.BOOLEAN:
            raise DataError(f"Invalid schema type for BooleanConverter: {schema.type.name}")
        if value is None:
            return None
        if not isinstance(value, bool):
            kind = class_name(value, schema)
            raise DataError(f"BooleanConverter is not compatible with objects of type class {kind}")
        return b"\1" if value else b"\0"

    def to_connect(
        self, topic: str, data: bytes | None, headers: KafkaHeaders | None = None
    ) -> SchemaAndValue:
        if data is not None and data not in (b"\0", b"\1"):
            raise DataError(
                f"Failed to deserialize boolean: got {data[:8].hex(' ') or 'nothing'}; takes one byte, 0 or 1"
            )
        return SchemaAndValue(OPTIONAL_BOOLEAN, None if data is None else data == b"\1")


class _NumberConverter(KafkaConverter):
    kind: ClassVar[str]
    layout: ClassVar[struct.Struct]
    schema: ClassVar[Schema]
    takes: ClassVar[type] = int

    def from_connect(
        self, topic: str, schema: Schema | None, value: Any, headers: KafkaHeaders | None = None
    ) -> bytes | None:
        if value is None:
            return None
        try:
            if type(value) is self.takes and (schema is None or schema.type is self.schema.type):
                return self.layout.pack(value)
        except (struct.error, OverflowError):
            pass
        raise DataError(f"Failed to serialize to {self.kind} (was class {class_name(value, schema)}): ")

    def to_connect(
        self, topic: str, data: bytes | None, headers: KafkaHeaders | None = None
    ) -> SchemaAndValue:
        if data is None:
            return SchemaAndValue(self.schema, None)
        if len(data) != self.layout.size:
            raise DataError(
                f"Failed to deserialize {self.kind}: Size of data received is not {self.layout.size}"
            )
        return SchemaAndValue(self.schema, self.layout.unpack(data)[0])


class ShortConverter(_NumberConverter):
    overview = "A whole number in two bytes."
    kind, layout, schema = "short", struct.Struct(">h"), OPTIONAL_INT16


class IntegerConverter(_NumberConverter):
    overview = "A whole number in four bytes."
    kind, layout, schema = "integer", struct.Struct(">i"), OPTIONAL_INT32


class LongConverter(_NumberConverter):
    overview = "A whole number in eight bytes."
    kind, layout, schema = "long", struct.Struct(">q"), OPTIONAL_INT64


class FloatConverter(_NumberConverter):
    overview = "A number in four bytes."
    kind, layout, schema, takes = "float", struct.Struct(">f"), OPTIONAL_FLOAT32, float


class DoubleConverter(_NumberConverter):
    overview = "A number in eight bytes."
    kind, layout, schema, takes = "double", struct.Struct(">d"), OPTIONAL_FLOAT64, float
