"""confluent-kafka's own serializers, whose import of another library warns."""

import warnings

with warnings.catch_warnings(record=True):
    from confluent_kafka.schema_registry import Schema as TheirSchema
    from confluent_kafka.schema_registry import SchemaReference as TheirReference
    from confluent_kafka.schema_registry import SchemaRegistryClient as TheirClient
    from confluent_kafka.schema_registry import header_schema_id_serializer, prefix_schema_id_serializer
    from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirAvroDeserializer
    from confluent_kafka.schema_registry.avro import AvroSerializer as TheirAvroSerializer
    from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirJsonDeserializer
    from confluent_kafka.schema_registry.json_schema import JSONSerializer as TheirJsonSerializer
    from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer as TheirProtobufDeserializer
    from confluent_kafka.schema_registry.protobuf import ProtobufSerializer as TheirProtobufSerializer
    from confluent_kafka.schema_registry.serde import SchemaId as TheirSchemaId
    from confluent_kafka.serialization import MessageField, SerializationContext

__all__ = [
    "ID_SERIALIZERS",
    "MessageField",
    "SerializationContext",
    "TheirAvroDeserializer",
    "TheirAvroSerializer",
    "TheirClient",
    "TheirJsonDeserializer",
    "TheirJsonSerializer",
    "TheirProtobufDeserializer",
    "TheirProtobufSerializer",
    "TheirReference",
    "TheirSchema",
    "TheirSchemaId",
    "context",
]

ID_SERIALIZERS = {"prefix": prefix_schema_id_serializer, "header": header_schema_id_serializer}


def context(topic: str, field: str, headers: list | None = None) -> SerializationContext:
    return SerializationContext(topic, field, [] if headers is None else headers)
