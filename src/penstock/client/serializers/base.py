"""What a serializer and a deserializer are.

A user gives one as an object, as a name, or as a function of one argument; `resolve` turns each into what the clients
call: a function of topic and value. None is never serialized: a record without a value is a tombstone.

A format that needs to know more (a schema registry's subject is made of topic and field) subclasses `Serializer` and
`Deserializer`; `for_field` is called once, when the client is made, with "key" or "value", and then `configured` with
the client's settings. One that says `uses_headers` gets the record's headers too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Literal, Protocol, Self, TypeAlias

Field: TypeAlias = Literal["key", "value"]
Header: TypeAlias = tuple[str, bytes | None]
HeadersOf: TypeAlias = Callable[[], Any]
"""Headers of a record, which are asked for only where they are needed."""


class Encode(Protocol):
    """What producers call; headers that the serializer adds are appended to `added`."""

    def __call__(self, topic: str, value: Any, added: list[Header] | None = None) -> bytes | None: ...


class Decode(Protocol):
    """What consumers call."""

    def __call__(self, topic: str, data: bytes | None, headers: HeadersOf | None = None) -> Any: ...


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
    uses_headers: ClassVar[bool] = False
    """Whether `serialize_with_headers` is to be called."""

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

    def serialize_with_headers(self, topic: str, value: Any, added: list[Header]) -> bytes | None:
        """The same for a serializer that `uses_headers`; it appends those that the record is to have besides its own.

        >>> from penstock.client import StringSerializer
        >>> StringSerializer().serialize_with_headers("orders", "2 cups", [])
        b'2 cups'
        """
        return self.serialize(topic, value)

    def configured(self, settings: Mapping[str, object]) -> Self:
        """The serializer to use with these settings of a producer: itself, unless it has any among them.

        >>> from penstock.client import StringSerializer
        >>> StringSerializer().configured({"linger.ms": 5}).serialize("orders", "2 cups")
        b'2 cups'
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
    uses_headers: ClassVar[bool] = False
    """Whether `deserialize_with_headers` is to be called."""

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

    def deserialize_with_headers(self, topic: str, data: bytes, headers: Iterable[Header]) -> Any:
        """The same for a deserializer that `uses_headers`.

        >>> from penstock.client import LongDeserializer
        >>> LongDeserializer().deserialize_with_headers("counts", bytes(8), [("source", b"web")])
        0
        """
        return self.deserialize(topic, data)

    def configured(self, settings: Mapping[str, object]) -> Self:
        """The deserializer to use with these settings of a consumer: itself, unless it has any among them.

        >>> from penstock.client import LongDeserializer
        >>> LongDeserializer().configured({"group.id": "billing"}).deserialize("counts", bytes(8))
        0
        """
        return self
