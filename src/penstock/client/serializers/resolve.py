"""From what a user gives as a serializer to the function that the clients call.

None stands for bytes that pass through untouched: the clients then call nothing at all.
"""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, TypeAlias

from penstock.client.serializers import plain
from penstock.client.serializers.base import (
    Decode,
    Deserializer,
    Encode,
    Field,
    Header,
    HeadersOf,
    Serializer,
)
from penstock.client.serializers.json import JsonDeserializer, JsonSerializer
from penstock.client.serializers.models import is_msgspec_struct, is_pydantic_model
from penstock.errors import ConfigError
from penstock.wire_client.errors import RetriableError, SerializationError

SerializerSpec: TypeAlias = Serializer | str | Callable[[Any], bytes | None] | None
DeserializerSpec: TypeAlias = Deserializer | str | type[Any] | Callable[[bytes], Any] | None

JAVA_PACKAGE = "org.apache.kafka.common.serialization"

_SERIALIZERS: dict[str, type[Serializer]] = {
    "bytes": plain.BytesSerializer,
    "string": plain.StringSerializer,
    "short": plain.ShortSerializer,
    "integer": plain.IntegerSerializer,
    "long": plain.LongSerializer,
    "float": plain.FloatSerializer,
    "double": plain.DoubleSerializer,
    "uuid": plain.UUIDSerializer,
    "json": JsonSerializer,
}
_DESERIALIZERS: dict[str, type[Deserializer]] = {
    "bytes": plain.BytesDeserializer,
    "string": plain.StringDeserializer,
    "short": plain.ShortDeserializer,
    "integer": plain.IntegerDeserializer,
    "long": plain.LongDeserializer,
    "float": plain.FloatDeserializer,
    "double": plain.DoubleDeserializer,
    "uuid": plain.UUIDDeserializer,
    "json": JsonDeserializer,
}
_OF_THE_REGISTRY = {
    "avro": ("AvroSerializer", "AvroDeserializer"),
    "jsonschema": ("JsonSchemaSerializer", "JsonSchemaDeserializer"),
    "protobuf": ("ProtobufSerializer", "ProtobufDeserializer"),
}
"""In `penstock.client.registry`, which is imported only when it is needed."""
_JAVA_NAMES = {
    "bytearray": "bytes",
    "bytebuffer": "bytes",
    "io.confluent.kafka.serializers.kafkaavro": "avro",
    "io.confluent.kafka.serializers.json.kafkajsonschema": "jsonschema",
    "io.confluent.kafka.serializers.protobuf.kafkaprotobuf": "protobuf",
}


def _short_name(name: str, suffix: str) -> str:
    """ "string" of "String", or of Kafka's class `...StringSerializer`."""
    short = name.strip().removeprefix(f"{JAVA_PACKAGE}.").removesuffix(suffix).lower()
    return _JAVA_NAMES.get(short, short)


def _named(name: str, table: Mapping[str, type[Any]], suffix: str) -> type[Any] | None:
    short = _short_name(name, suffix)
    of_the_registry = _OF_THE_REGISTRY.get(short)
    if of_the_registry is None:
        return table.get(short)
    found: type[Any] = getattr(
        import_module("penstock.client.registry"), of_the_registry[suffix == "Deserializer"]
    )
    return found


def _unknown(setting: str, given: object, table: Mapping[str, Any]) -> ConfigError:
    names = (*table, *_OF_THE_REGISTRY)
    near = get_close_matches(str(given).lower(), names, n=1) if isinstance(given, str) else []
    hint = f"; did you mean {near[0]}?" if near else ""
    return ConfigError(
        f"{setting}: got {given!r}; takes one of {', '.join(names)}, an object or a function{hint}"
    )


# --- to bytes


def resolve_serializer(
    given: SerializerSpec, field: Field, settings: Mapping[str, object] | None = None
) -> Encode | None:
    """A function of topic and value, whose errors say which topic, which field, and what it got."""
    if given is None:
        return None
    serializer = _serializer_object(given, field).for_field(field)
    return _encoder(serializer if settings is None else serializer.configured(settings), field)


def _serializer_object(given: object, field: Field) -> Serializer:
    if isinstance(given, Serializer):
        return given
    if isinstance(given, type) and issubclass(given, Serializer):
        return given()
    if isinstance(given, str) and (found := _named(given, _SERIALIZERS, "Serializer")):
        made: Serializer = found()
        return made
    if callable(given):
        return FunctionSerializer(given)
    raise _unknown(f"{field}.serializer", given, _SERIALIZERS)


class FunctionSerializer(Serializer):
    """A function of one argument as a serializer.

    >>> from penstock.client import FunctionSerializer
    >>> FunctionSerializer(str.encode).serialize("orders", "2 cups")
    b'2 cups'
    """

    def __init__(self, function: Callable[[Any], bytes | None]) -> None:
        self.function = function
        self.takes = f"what {getattr(function, '__qualname__', function)} takes"

    def serialize(self, topic: str, value: Any) -> bytes | None:
        return self.function(value)


def _encoder(serializer: Serializer, field: Field) -> Encode:
    serialize, uses_headers = serializer.serialize, serializer.uses_headers

    def encode(topic: str, value: Any, added: list[Header] | None = None) -> bytes | None:
        if value is None:
            return None
        try:
            if uses_headers and added is not None:
                data = serializer.serialize_with_headers(topic, value, added)
            else:
                data = serialize(topic, value)
        except Exception as error:
            raise _cannot_serialize(serializer, topic, field, value, error) from error
        if data is None or isinstance(data, bytes):
            return data
        raise _made_no_bytes(serializer, topic, field, data)

    return encode


def _name_of(one: object) -> str:
    function = getattr(one, "function", None)
    return type(one).__name__ if function is None else getattr(function, "__qualname__", repr(function))


def _cannot_serialize(
    serializer: Serializer, topic: str, field: Field, value: object, error: Exception
) -> SerializationError | RetriableError:
    if isinstance(error, SerializationError | RetriableError):
        return error
    return SerializationError(
        f"topic {topic}: the {field} is a {type(value).__name__}, which {_name_of(serializer)} cannot serialize: "
        f"{error}. It takes {serializer.takes}; {field}_serializer sets another"
    )


def _made_no_bytes(serializer: Serializer, topic: str, field: Field, data: object) -> SerializationError:
    return SerializationError(
        f"topic {topic}: {_name_of(serializer)} made a {type(data).__name__} of the {field}; takes bytes or None"
    )


# --- from bytes


def resolve_deserializer(
    given: DeserializerSpec, field: Field, settings: Mapping[str, object] | None = None
) -> Decode | None:
    """A function of topic and bytes, whose errors say which topic and which field."""
    if given is None or _is_plain_bytes(given):
        return None
    deserializer = _deserializer_object(given, field).for_field(field)
    return _decoder(deserializer if settings is None else deserializer.configured(settings), field)


def _is_plain_bytes(given: object) -> bool:
    by_name = isinstance(given, str) and _short_name(given, "Deserializer") == "bytes"
    return by_name or given is bytes or type(given) is plain.BytesDeserializer


def _deserializer_object(given: object, field: Field) -> Deserializer:
    if isinstance(given, Deserializer):
        return given
    if isinstance(given, type):
        return given() if issubclass(given, Deserializer) else _deserializer_of_class(given)
    if isinstance(given, str) and (found := _named(given, _DESERIALIZERS, "Deserializer")):
        made: Deserializer = found()
        return made
    if callable(given):
        return FunctionDeserializer(given)
    raise _unknown(f"{field}.deserializer", given, _DESERIALIZERS)


def _deserializer_of_class(cls: type[Any]) -> Deserializer:
    """A model's class stands for its JSON; any other class is called like a function."""
    is_model = is_pydantic_model(cls) or is_msgspec_struct(cls) or hasattr(cls, "__dataclass_fields__")
    return JsonDeserializer(cls) if is_model else FunctionDeserializer(cls)


class FunctionDeserializer(Deserializer):
    """A function of one argument as a deserializer.

    >>> from penstock.client import FunctionDeserializer
    >>> FunctionDeserializer(bytes.decode).deserialize("orders", b"2 cups")
    '2 cups'
    """

    def __init__(self, function: Callable[[bytes], Any]) -> None:
        self.function = function
        self.takes = f"what {getattr(function, '__qualname__', function)} takes"

    def deserialize(self, topic: str, data: bytes) -> Any:
        return self.function(data)


def _decoder(deserializer: Deserializer, field: Field) -> Decode:
    deserialize, uses_headers = deserializer.deserialize, deserializer.uses_headers

    def decode(topic: str, data: bytes | None, headers: HeadersOf | None = None) -> Any:
        if data is None:
            return None
        try:
            if uses_headers and headers is not None:
                return deserializer.deserialize_with_headers(topic, data, headers() or ())
            return deserialize(topic, data)
        except Exception as error:
            raise _cannot_deserialize(deserializer, topic, field, data, error) from error

    return decode


def _cannot_deserialize(
    deserializer: Deserializer, topic: str, field: Field, data: bytes, error: Exception
) -> SerializationError | RetriableError:
    if isinstance(error, SerializationError | RetriableError):
        return error
    return SerializationError(
        f"topic {topic}: {_name_of(deserializer)} cannot read the {field}, which has {len(data)} bytes and begins "
        f"with {data[:20]!r}: {error}. It takes {deserializer.takes}"
    )
