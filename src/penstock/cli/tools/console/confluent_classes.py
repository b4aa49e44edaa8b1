"""Confluent's readers of lines and formatters of records by the names of their Java classes."""

from __future__ import annotations

PACKAGE = "io.confluent.kafka.formatter"
FORMAT_OF_READER = {
    f"{PACKAGE}.AvroMessageReader": "avro",
    f"{PACKAGE}.json.JsonSchemaMessageReader": "jsonschema",
    f"{PACKAGE}.protobuf.ProtobufMessageReader": "protobuf",
}
FORMAT_OF_FORMATTER = {
    f"{PACKAGE}.AvroMessageFormatter": "avro",
    f"{PACKAGE}.json.JsonSchemaMessageFormatter": "jsonschema",
    f"{PACKAGE}.protobuf.ProtobufMessageFormatter": "protobuf",
}
SCHEMA_REGISTRY_PROPERTIES = (
    "\n schema.registry.url=http://localhost:8081"
    "\n basic.auth.credentials.source=   USER_INFO, with basic.auth.user.info=<user>:<password>; "
    "URL, where the address has them"
)
READER_PROPERTIES = (
    "\nProperties for the schemas:"
    f"{SCHEMA_REGISTRY_PROPERTIES}"
    "\n value.schema=<schema>, or value.schema.file=<file>, or value.schema.id=<id>; one is required"
    "\n key.schema=<schema>, or key.schema.file, or key.schema.id, with parse.key=true"
    '\n value.refs=[{"name": ..., "subject": ..., "version": ...}], key.refs likewise'
    "\n key.serializer=org.apache.kafka.common.serialization.StringSerializer   for keys that are text"
    "\n auto.register.schemas=true"
    "\n normalize.schemas=false"
    "\n value.subject.name.strategy=TopicNameStrategy, key.subject.name.strategy likewise"
)
FORMATTER_PROPERTIES = (
    "\nProperties for the schemas:"
    f"{SCHEMA_REGISTRY_PROPERTIES}"
    "\n print.schema.ids=false"
    "\n schema.id.separator=\\t"
    "\n key.deserializer=org.apache.kafka.common.serialization.StringDeserializer   for keys that are text"
)
READER_OF = {name: reader for reader, name in FORMAT_OF_READER.items()}
FORMATTER_OF = {name: formatter for formatter, name in FORMAT_OF_FORMATTER.items()}
