"""The client's side of the Schema Registry: its API, and records that say which schema they were written with.

Names are imported when they are used first: the libraries of three formats take their time.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from penstock.client.registry.avro import AvroDeserializer, AvroSerializer
    from penstock.client.registry.avro_classes import avro_schema_of
    from penstock.client.registry.client import SchemaRegistryClient
    from penstock.client.registry.errors import SchemaRegistryError, SchemaRegistryUnreachableError
    from penstock.client.registry.json_schema import JsonSchemaDeserializer, JsonSchemaSerializer
    from penstock.client.registry.protobuf import ProtobufDeserializer, ProtobufSerializer
    from penstock.client.registry.schemas import (
        CompatibilityCheck,
        RegisteredSchema,
        Schema,
        SchemaReference,
    )
    from penstock.client.registry.subjects import (
        record_name_strategy,
        topic_name_strategy,
        topic_record_name_strategy,
    )

__all__ = [
    "AvroDeserializer",
    "AvroSerializer",
    "CompatibilityCheck",
    "JsonSchemaDeserializer",
    "JsonSchemaSerializer",
    "ProtobufDeserializer",
    "ProtobufSerializer",
    "RegisteredSchema",
    "Schema",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryError",
    "SchemaRegistryUnreachableError",
    "avro_schema_of",
    "record_name_strategy",
    "topic_name_strategy",
    "topic_record_name_strategy",
]

_NAMES = {
    "avro": ("AvroDeserializer", "AvroSerializer"),
    "avro_classes": ("avro_schema_of",),
    "client": ("SchemaRegistryClient",),
    "errors": ("SchemaRegistryError", "SchemaRegistryUnreachableError"),
    "json_schema": ("JsonSchemaDeserializer", "JsonSchemaSerializer"),
    "protobuf": ("ProtobufDeserializer", "ProtobufSerializer"),
    "schemas": ("CompatibilityCheck", "RegisteredSchema", "Schema", "SchemaReference"),
    "subjects": ("record_name_strategy", "topic_name_strategy", "topic_record_name_strategy"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
