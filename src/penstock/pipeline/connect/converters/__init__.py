"""The converters of Kafka and of Confluent, by the names that configurations have for them."""

from __future__ import annotations

from typing import Final

_NUMBERS: Final = ("Double", "Float", "Integer", "Long", "Short")

JAVA_NAMES: Final[dict[str, str]] = {
    "org.apache.kafka.connect.storage.StringConverter": f"{__name__}.plain:StringConverter",
    "org.apache.kafka.connect.storage.SimpleHeaderConverter": f"{__name__}.simple_header:SimpleHeaderConverter",
    "org.apache.kafka.connect.json.JsonConverter": f"{__name__}.json_converter:JsonConverter",
    "org.apache.kafka.connect.converters.ByteArrayConverter": f"{__name__}.plain:ByteArrayConverter",
    "org.apache.kafka.connect.converters.BooleanConverter": f"{__name__}.plain:BooleanConverter",
    "io.confluent.connect.avro.AvroConverter": f"{__name__}.avro_converter:AvroConverter",
    "io.confluent.connect.protobuf.ProtobufConverter": f"{__name__}.protobuf_converter:ProtobufConverter",
    "io.confluent.connect.json.JsonSchemaConverter": f"{__name__}.json_schema_converter:JsonSchemaConverter",
    **{
        f"org.apache.kafka.connect.converters.{name}Converter": f"{__name__}.plain:{name}Converter"
        for name in _NUMBERS
    },
}
