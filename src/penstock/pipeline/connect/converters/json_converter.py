"""JsonConverter: JSON, with its schema beside it ({"schema":...,"payload":...}) or without.

A schema is longer than most payloads, and the same in every record of a topic. So what stands before the payload is
remembered for each topic, and a record that begins with the same bytes has only its payload parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigType, Importance, Width, one_of
from penstock.pipeline.connect.api.converter import NOTHING, KafkaHeaders, SchemaAndValue
from penstock.pipeline.connect.converters.base import KafkaConverter, are_in_utf_8, converter_config_def
from penstock.pipeline.connect.converters.json_reading import JsonReading, Reader, has_decimals
from penstock.pipeline.connect.converters.json_schemas import schema_of, schema_text
from penstock.pipeline.connect.converters.json_tables import (
    InferredTables,
    lines_of,
    payloads_of,
    table_with_schema,
)
from penstock.pipeline.connect.converters.json_writing import JsonWriting, schemaless_text
from penstock.pipeline.connect.data import Schema, Type
from penstock.pipeline.connect.errors import DataError

if TYPE_CHECKING:
    from pyarrow import Table

_NO_ENVELOPE = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional '
    "fields. If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter "
    "configuration."
)
_ENVELOPE: Final = '{"schema":'
_PAYLOAD: Final = ',"payload":'
_BEFORE_SCHEMA: Final = re.compile(r'\{\s*"schema"\s*:\s*')
_BEFORE_PAYLOAD: Final = re.compile(r'\s*,\s*"payload"\s*:\s*')
_BLANK: Final = " \t\r\n"
_LEADING_ZEROS = re.compile(r'("(?:[^"\\]|\\.)*")|(?<![\w.+])(-?)0+(?=\d)')


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"Unrecognized token '{name}'")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)
_EXACT_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_float=Decimal)


def parsed_json(data: bytes, exact: bool = False) -> Any:
    """As Kafka's reader takes it: numbers may begin with zeros, what follows the value is not looked at.

    `exact`: numbers with a point are Decimals, with all of their digits.
    """
    decoder = _EXACT_DECODER if exact else _DECODER
    try:
        text = data.decode(json.detect_encoding(data))
        try:
            return decoder.decode(text)
        except ValueError:
            return _leniently(text, decoder)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"Converting byte[] to Kafka Connect data failed due to serialization error: {error}"
        ) from error


def _leniently(text: str, decoder: json.JSONDecoder) -> Any:
    text = text.lstrip(_BLANK)
    if not text:
        return None
    text = _LEADING_ZEROS.sub(lambda found: found[1] or found[2] or "", text)
    return decoder.raw_decode(text)[0]


class _Known(NamedTuple):
    """What the records of a topic begin with, and what it means."""

    prefix: bytes
    schema: Schema | None
    read: Reader
    decoder: json.JSONDecoder


def _as_it_is(value: Any) -> Any:
    return value


class JsonConverter(KafkaConverter):
    overview = "JSON, with its schema or without."
    config_def = (
        converter_config_def()
        .define(
            "schemas.enable",
            ConfigType.BOOLEAN,
            True,
            importance=Importance.HIGH,
            doc="Whether each key and value has its schema beside it.",
            group="Schemas",
            order_in_group=0,
            width=Width.MEDIUM,
            display_name="Enable Schemas",
        )
        .define(
            "schemas.cache.size",
            ConfigType.INT,
            1000,
            importance=Importance.HIGH,
            doc="How many schemas are remembered.",
            group="Schemas",
            order_in_group=1,
            width=Width.MEDIUM,
            display_name="Schema Cache Size",
        )
        .define(
            "schema.content",
            ConfigType.STRING,
            None,
            importance=Importance.HIGH,
            doc="One schema for all that is read, in the place of those in the records; for sinks, with "
            "schemas.enable.",
            group="Schemas",
            order_in_group=2,
            width=Width.MEDIUM,
            display_name="Schema Content",
        )
        .define(
            "decimal.format",
            ConfigType.STRING,
            "BASE64",
            validator=one_of("BASE64", "NUMERIC", ignore_case=True),
            importance=Importance.LOW,
            doc="How Decimals are written: BASE64 or NUMERIC.",
            group="Serialization",
            order_in_group=0,
            width=Width.MEDIUM,
            display_name="Decimal Format",
        )
        .define(
            "replace.null.with.default",
            ConfigType.BOOLEAN,
            True,
            importance=Importance.LOW,
            doc="Whether a field that is null is taken as its default value, where its schema has one.",
            group="Serialization",
            order_in_group=1,
            width=Width.MEDIUM,
            display_name="Replace null with default",
        )
    )

    def on_configured(self) -> None:
        remembered = self.settings["schemas.cache.size"]
        defaults = self.settings["replace.null.with.default"]
        numeric = self.settings["decimal.format"].upper() == "NUMERIC"
        self._with_schemas: bool = self.settings["schemas.enable"]
        self._reading = JsonReading(defaults, remembered)
        self._writing = JsonWriting(defaults, numeric, remembered)
        self._remembered = remembered
        self._schema_texts: dict[Schema | None, str] = {}
        self._schemas: dict[str, Schema | None] = {}
        self._known: dict[str, _Known] = {}
        self._tables = InferredTables()
        self._only = self._given_schema(self.settings["schema.content"])

    def _given_schema(self, text: str | None) -> Schema | None:
        try:
            return schema_of(parsed_json(text.encode()), self._reading) if text else None
        except DataError as error:
            raise ConfigError(f"schema.content: {error}") from error

    # --- to bytes

    def from_connect(
        self, topic: str, schema: Schema | None, value: Any, headers: KafkaHeaders | None = None
    ) -> bytes | None:
        if schema is None and value is None:
            return None
        payload = schemaless_text(value) if schema is None else self._writing.writer_of(schema)(value)
        if self._with_schemas:
            payload = f"{_ENVELOPE}{self._schema_text(schema)}{_PAYLOAD}{payload}}}"
        return payload.encode("utf-8", "surrogatepass")

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[Any]
    ) -> Sequence[bytes | str | None] | None:
        is_text = schema is None or (schema.type is Type.STRING and schema.name is None)
        if not is_text or not are_in_utf_8(values):
            return None
        quoted = self._writing.quoted
        if not self._with_schemas:
            return list(map(quoted, values))
        before = f"{_ENVELOPE}{self._schema_text(schema)}{_PAYLOAD}"
        return [f"{before}{quoted(value)}}}" for value in values]

    def _schema_text(self, schema: Schema | None) -> str:
        text = self._schema_texts.get(schema)
        if text is None:
            text = schema_text(schema, self._writing)
            _remember(self._schema_texts, schema, text, self._remembered)
        return text

    # --- from bytes

    def to_connect(
        self, topic: str, data: bytes | None, headers: KafkaHeaders | None = None
    ) -> SchemaAndValue:
        if data is None:
            return NOTHING
        if not self._with_schemas:
            return SchemaAndValue(None, parsed_json(data))
        if self._only is not None:
            payload = parsed_json(data, has_decimals(self._only))
            return SchemaAndValue(self._only, self._reading.reader_of(self._only)(payload))
        known = self._known.get(topic)
        if known is not None and data.startswith(known.prefix):
            try:
                payload = known.decoder.decode(data[len(known.prefix) : -1].decode())
            except ValueError:
                return self._enveloped(topic, data)
            if data.endswith(b"}"):
                return SchemaAndValue(known.schema, known.read(payload))
        return self._enveloped(topic, data)

    def to_table(self, topic: str, data: Sequence[bytes | None]) -> tuple[Schema | None, Table] | None:
        rows, lines = len(data), lines_of(data)
        if lines is None:
            return None
        if not self._with_schemas:
            inferred = self._tables.table(topic, lines, rows)
            return None if inferred is None else (None, inferred)
        if self._only is not None:
            return table_with_schema(self._only, lines, rows)
        known = self._known_or_learned(topic, data[0])
        if known is None or known.schema is None:
            return None
        payloads = payloads_of(lines, rows, known.prefix)
        return None if payloads is None else table_with_schema(known.schema, payloads, rows)

    def _known_or_learned(self, topic: str, data: bytes | None) -> _Known | None:
        known = self._known.get(topic)
        if known is None or data is None or not data.startswith(known.prefix):
            try:
                self.to_connect(topic, data)
            except DataError:
                return None
        return self._known.get(topic)

    def _enveloped(self, topic: str, data: bytes) -> SchemaAndValue:
        envelope = parsed_json(data)
        if not isinstance(envelope, dict) or envelope.keys() != {"schema", "payload"}:
            raise DataError(_NO_ENVELOPE)
        schema = self._schema(envelope["schema"])
        read = _as_it_is if schema is None else self._reading.reader_of(schema)
        payload = envelope["payload"]
        decoder = _DECODER
        if has_decimals(schema):
            decoder = _EXACT_DECODER
            payload = parsed_json(data, exact=True)["payload"]
        self._learn(topic, data, schema, read, decoder)
        return SchemaAndValue(schema, read(payload))

    def _schema(self, given: Any) -> Schema | None:
        text = json.dumps(given)
        if text not in self._schemas:
            _remember(self._schemas, text, schema_of(given, self._reading), self._remembered)
        return self._schemas[text]

    def _learn(
        self, topic: str, data: bytes, schema: Schema | None, read: Reader, decoder: json.JSONDecoder
    ) -> None:
        """Remembers what stands before the payload, if it stands there in the order in which Kafka writes it."""
        try:
            text = data.decode()
            if head := _BEFORE_SCHEMA.match(text):
                end = _DECODER.raw_decode(text, head.end())[1]
                if middle := _BEFORE_PAYLOAD.match(text, end):
                    prefix = text[: middle.end()].encode()
                    _remember(self._known, topic, _Known(prefix, schema, read, decoder), self._remembered)
        except ValueError:
            pass


def _remember(memory: dict[Any, Any], key: Any, value: Any, limit: int) -> None:
    if len(memory) >= max(limit, 1):
        del memory[next(iter(memory))]
    memory[key] = value
