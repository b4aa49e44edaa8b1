"""A line of JSON as a record with schemas: Confluent's readers, which are Kafka's with a registry behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.cli.schemas.encoding import SchemaEncoder
from penstock.cli.schemas.registry_client import registry_client
from penstock.cli.tools.console.line_reader import Line, LineReader
from penstock.rest.schemas.codec import PayloadFormat
from penstock.wire_client.errors import SerializationError

KEY_SERIALIZER = "key.serializer"
STRING_SERIALIZER = "org.apache.kafka.common.serialization.StringSerializer"


@dataclass(frozen=True)
class SchemaLineReader:
    lines: LineReader
    key: SchemaEncoder | None
    """None: keys are the text that they are."""
    value: SchemaEncoder
    takes_lines_as_values: bool = False

    def parse(self, line: bytes) -> Line:
        parsed = self.lines.parse(line)
        try:
            key = parsed.key if self.key is None or parsed.key is None else self.key.encode(parsed.key)
            value = None if parsed.value is None else self.value.encode(parsed.value)
        except SerializationError as error:
            raise SerializationError(f"line {self.lines.line_number}: {error.message}") from None
        return Line(key, value, parsed.headers)


def schema_reader(
    payload_format: PayloadFormat, topic: str, properties: Mapping[str, str]
) -> SchemaLineReader:
    lines = LineReader(properties)
    registry = registry_client(properties)
    key = None
    if lines.parse_key and properties.get(KEY_SERIALIZER) != STRING_SERIALIZER:
        key = SchemaEncoder(registry, payload_format, topic, "key", properties)
    return SchemaLineReader(lines, key, SchemaEncoder(registry, payload_format, topic, "value", properties))
