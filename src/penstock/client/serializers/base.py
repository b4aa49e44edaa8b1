"""What a serializer and a deserializer are.

A user gives one as an object, as a name, or as a function of one argument; `resolve` turns each into what the clients
call: a function of topic and value. None is never serialized: a record without a value is a tombstone.

A format that needs to know more (a schema registry's subject is made of topic and field) subclasses `Serializer` and
`Deserializer`; `for_field` is called once, when the client is made, with "key" or "value".
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, Self, TypeAlias

Field: TypeAlias = Literal["key", "value"]
Encode: TypeAlias = Callable[[str, Any], bytes | None]
Decode: TypeAlias = Callable[[str, bytes | None], Any]


class Serializer(ABC):
    """Makes bytes of keys or values. Subclass it for a format of your own; a plain function will often do.

    >>> from penstock.client import Serializer
    >>> class Celsius(Serializer):
    ...     takes = "a number of degrees"
    ...     def serialize(self, topic, value):
    ...         return f"{value:.1f} C".encode()
    >>> Celsius().serialize("readings", 21.47)
    b'21.5 C'
    """

    takes: str = "a value that it understands"
    """What the message of an error says about the values that it takes."""

    @abstractmethod
    def serialize(self, topic: str, value: Any) -> bytes | None:
        """The bytes of a value that is not None.

        >>> from penstock.client import StringSerializer
        >>> StringSerializer().serialize("orders", "2 cups")
        b'2 cups'
        """

    def for_field(self, field: Field) -> Self:
        """The serializer to use for keys, or for values: itself, unless the format differs.

        >>> from penstock.client import StringSerializer
        >>> StringSerializer().for_field("key").serialize("orders", "customer-7")
        b'customer-7'
        """
        return self


class Deserializer(ABC):
    """Makes keys or values of bytes; the counterpart of `Serializer`.

    >>> from penstock.client import Deserializer
    >>> class Celsius(Deserializer):
    ...     def deserialize(self, topic, data):
    ...         return float(data.removesuffix(b" C"))
    >>> Celsius().deserialize("readings", b"21.5 C")
    21.5
    """

    takes: str = "bytes that it understands"

    @abstractmethod
    def deserialize(self, topic: str, data: bytes) -> Any:
        """What the bytes stand for.

        >>> from penstock.client import LongDeserializer
        >>> LongDeserializer().deserialize("counts", bytes(7) + b"*")
        42
        """

    def for_field(self, field: Field) -> Self:
        """The deserializer to use for keys, or for values: itself, unless the format differs.

        >>> from penstock.client import LongDeserializer
        >>> LongDeserializer().for_field("value").deserialize("counts", bytes(8))
        0
        """
        return self
