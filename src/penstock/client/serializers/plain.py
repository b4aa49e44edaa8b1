"""The formats of Kafka's own serializers: text, bytes, numbers of fixed size, UUIDs."""

import struct
import uuid
from typing import Any

from penstock.client.serializers.base import Deserializer, Serializer


class BytesSerializer(Serializer):
    """Bytes as they are.

    >>> from penstock.client import BytesSerializer
    >>> BytesSerializer().serialize("blobs", bytearray(b"as they are"))
    b'as they are'
    """

    takes = "bytes"

    def serialize(self, topic: str, value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, bytearray | memoryview):
            return bytes(value)
        raise TypeError("not bytes")


class BytesDeserializer(Deserializer):
    """Bytes as they are.

    >>> from penstock.client import BytesDeserializer
    >>> BytesDeserializer().deserialize("blobs", b"as they are")
    b'as they are'
    """

    def deserialize(self, topic: str, data: bytes) -> bytes:
        return data


class StringSerializer(Serializer):
    """Text, in UTF-8 unless another encoding is named.

    >>> from penstock.client import StringSerializer
    >>> StringSerializer("latin-1").serialize("orders", "café")
    b'caf\\xe9'
    """

    takes = "str"

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    def serialize(self, topic: str, value: Any) -> bytes:
        return str.encode(value, self.encoding)


class StringDeserializer(Deserializer):
    """Text, in UTF-8 unless another encoding is named.

    >>> from penstock.client import StringDeserializer
    >>> StringDeserializer().deserialize("orders", "café".encode())
    'café'
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding
        self.takes = f"text in {encoding}"

    def deserialize(self, topic: str, data: bytes) -> str:
        return data.decode(self.encoding)


class _NumberSerializer(Serializer):
    packing: struct.Struct

    def serialize(self, topic: str, value: Any) -> bytes:
        if isinstance(value, bool):
            raise TypeError("a bool is no number")
        return self.packing.pack(value)


class _NumberDeserializer(Deserializer):
    packing: struct.Struct

    def deserialize(self, topic: str, data: bytes) -> Any:
        return self.packing.unpack(data)[0]


class ShortSerializer(_NumberSerializer):
    """An int in 2 bytes, big end first.

    >>> from penstock.client import ShortSerializer
    >>> ShortSerializer().serialize("ports", 9092)
    b'#\\x84'
    """

    takes, packing = "int from -32768 to 32767", struct.Struct(">h")


class ShortDeserializer(_NumberDeserializer):
    """An int of 2 bytes, big end first.

    >>> from penstock.client import ShortDeserializer
    >>> ShortDeserializer().deserialize("ports", b"#\\x84")
    9092
    """

    takes, packing = "2 bytes", struct.Struct(">h")


class IntegerSerializer(_NumberSerializer):
    """An int in 4 bytes, big end first.

    >>> from penstock.client import IntegerSerializer
    >>> IntegerSerializer().serialize("counts", 42)
    b'\\x00\\x00\\x00*'
    """

    takes, packing = "int from -2147483648 to 2147483647", struct.Struct(">i")


class IntegerDeserializer(_NumberDeserializer):
    """An int of 4 bytes, big end first.

    >>> from penstock.client import IntegerDeserializer
    >>> IntegerDeserializer().deserialize("counts", b"\\x00\\x00\\x00*")
    42
    """

    takes, packing = "4 bytes", struct.Struct(">i")


class LongSerializer(_NumberSerializer):
    """An int in 8 bytes, big end first.

    >>> from penstock.client import LongSerializer
    >>> LongSerializer().serialize("counts", 42)
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00*'
    """

    takes, packing = "int from -9223372036854775808 to 9223372036854775807", struct.Struct(">q")


class LongDeserializer(_NumberDeserializer):
    """An int of 8 bytes, big end first.

    >>> from penstock.client import LongDeserializer
    >>> LongDeserializer().deserialize("counts", bytes(7) + b"*")
    42
    """

    takes, packing = "8 bytes", struct.Struct(">q")


class FloatSerializer(_NumberSerializer):
    """A float in 4 bytes, big end first.

    >>> from penstock.client import FloatSerializer
    >>> FloatSerializer().serialize("readings", 0.5)
    b'?\\x00\\x00\\x00'
    """

    takes, packing = "float or int", struct.Struct(">f")


class FloatDeserializer(_NumberDeserializer):
    """A float of 4 bytes, big end first.

    >>> from penstock.client import FloatDeserializer
    >>> FloatDeserializer().deserialize("readings", b"?\\x00\\x00\\x00")
    0.5
    """

    takes, packing = "4 bytes", struct.Struct(">f")


class DoubleSerializer(_NumberSerializer):
    """A float in 8 bytes, big end first.

    >>> from penstock.client import DoubleSerializer
    >>> DoubleSerializer().serialize("readings", 0.5).hex()
    '3fe0000000000000'
    """

    takes, packing = "float or int", struct.Struct(">d")


class DoubleDeserializer(_NumberDeserializer):
    """A float of 8 bytes, big end first.

    >>> from penstock.client import DoubleDeserializer
    >>> DoubleDeserializer().deserialize("readings", bytes.fromhex("3fe0000000000000"))
    0.5
    """

    takes, packing = "8 bytes", struct.Struct(">d")


class UUIDSerializer(Serializer):
    """A `uuid.UUID` as its text, as Kafka has it.

    >>> import uuid
    >>> from penstock.client import UUIDSerializer
    >>> UUIDSerializer().serialize("orders", uuid.UUID(int=7))
    b'00000000-0000-0000-0000-000000000007'
    """

    takes = "uuid.UUID"

    def serialize(self, topic: str, value: Any) -> bytes:
        if not isinstance(value, uuid.UUID):
            raise TypeError("not a uuid.UUID")
        return str(value).encode()


class UUIDDeserializer(Deserializer):
    """A `uuid.UUID` of its text.

    >>> from penstock.client import UUIDDeserializer
    >>> UUIDDeserializer().deserialize("orders", b"00000000-0000-0000-0000-000000000007")
    UUID('00000000-0000-0000-0000-000000000007')
    """

    takes = "the text of a UUID"

    def deserialize(self, topic: str, data: bytes) -> uuid.UUID:
        return uuid.UUID(data.decode())
