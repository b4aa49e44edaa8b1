"""Kafka's deserializers by the names of their Java classes: bytes to the text that Java's `toString` gives.

A deserializer never sees a null: the formatters hand it the null literal instead, as Kafka's do.
"""

import codecs
import struct
from collections.abc import Callable, Mapping

from penstock.cli.tools.clients.java_text import bytes_text, double_text, float_text
from penstock.wire_client.errors import SerializationError

Deserialize = Callable[[bytes], str]
PACKAGE = "org.apache.kafka.common.serialization"


class UnknownDeserializerError(Exception):
    """There is no such class, or it cannot be configured like that."""


def _fixed_size(owner: str, layout: str, text_of: Callable[[float], str]) -> Deserialize:
    unpack = struct.Struct(layout)

    def deserialize(data: bytes) -> str:
        if len(data) != unpack.size:
            raise SerializationError(f"Size of data received by {owner} is not {unpack.size}")
        return text_of(unpack.unpack(data)[0])

    return deserialize


def _boolean(data: bytes) -> str:
    if len(data) != 1:
        raise SerializationError("Size of data received by BooleanDeserializer is not 1")
    if data[0] > 1:
        signed = data[0] - 256 if data[0] > 127 else data[0]
        raise SerializationError(f"Unexpected byte received by BooleanDeserializer: {signed}")
    return "true" if data[0] else "false"


def _byte_buffer(data: bytes) -> str:
    return f"java.nio.HeapByteBuffer[pos=0 lim={len(data)} cap={len(data)}]"


def _byte_array(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _void(data: bytes) -> str:
    raise SerializationError("Data should be null for a VoidDeserializer.")


def _string(encoding: str) -> Deserialize:
    return lambda data: data.decode(encoding, "replace")


def _uuid(encoding: str) -> Deserialize:
    import uuid

    def deserialize(data: bytes) -> str:
        text = data.decode(encoding, "replace")
        try:
            if text.count("-") != 4:
                raise ValueError(text)
            return str(uuid.UUID(text))
        except ValueError:
            raise SerializationError("Error parsing data into UUID") from None

    return deserialize


PLAIN: dict[str, Deserialize] = {
    "BooleanDeserializer": _boolean,
    "ByteArrayDeserializer": _byte_array,
    "ByteBufferDeserializer": _byte_buffer,
    "BytesDeserializer": bytes_text,
    "DoubleDeserializer": _fixed_size("Deserializer", ">d", double_text),
    "FloatDeserializer": _fixed_size("Deserializer", ">f", float_text),
    "IntegerDeserializer": _fixed_size("IntegerDeserializer", ">i", str),
    "LongDeserializer": _fixed_size("LongDeserializer", ">q", str),
    "ShortDeserializer": _fixed_size("ShortDeserializer", ">h", str),
    "VoidDeserializer": _void,
}
ENCODED: dict[str, Callable[[str], Deserialize]] = {"StringDeserializer": _string, "UUIDDeserializer": _uuid}


def deserializer_of(class_name: str, configs: Mapping[str, str], is_key: bool) -> Deserialize:
    package, _, name = class_name.strip().rpartition(".")
    if package == PACKAGE and name in PLAIN:
        return PLAIN[name]
    if package == PACKAGE and name in ENCODED:
        return ENCODED[name](_encoding(configs, is_key))
    raise UnknownDeserializerError(f"java.lang.ClassNotFoundException: {class_name}")


def _encoding(configs: Mapping[str, str], is_key: bool) -> str:
    own = "key.deserializer.encoding" if is_key else "value.deserializer.encoding"
    name = configs.get(own) or configs.get("deserializer.encoding") or "utf-8"
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise UnknownDeserializerError(
            f"org.apache.kafka.common.errors.SerializationException: Unsupported encoding {name}"
        ) from None
