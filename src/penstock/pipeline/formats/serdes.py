"""From what a user gives as a serde to both of its functions.

Names, classes and objects are those that the clients take as serializers and deserializers; a model's class stands for
its JSON both ways, and a pair gives each side on its own. Text and numbers are what stores encode at each step, so for
them the common case comes first, and only what it does not take goes to the client's function, which has the message.
"""

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from penstock.client.serializers import (
    Deserializer,
    Serializer,
    resolve_deserializer,
    resolve_serializer,
)
from penstock.client.serializers.base import Field
from penstock.pipeline.plan.serdes import Decode, Encode, Serde

SerdeSpec: TypeAlias = Serde | str | type[Any] | tuple[Any, Any] | Serializer | Deserializer | None


def serde_of(given: SerdeSpec, field: Field) -> Serde | None:
    """None stays None: the default of the program."""
    if given is None or isinstance(given, Serde):
        return given
    into, outof = given if isinstance(given, tuple) else _both_sides(given)
    encode = resolve_serializer(into, field) or _as_it_is
    decode = resolve_deserializer(outof, field) or _as_it_is
    quick = _QUICK.get(given) if isinstance(given, str) else None
    return Serde(_name_of(given), *(quick(encode, decode) if quick else (encode, decode)))


def _both_sides(given: Any) -> tuple[Any, Any]:
    is_model = isinstance(given, type) and not issubclass(given, Serializer | Deserializer)
    return ("json", given) if is_model else (given, given)


def _as_it_is(topic: str, value: Any) -> Any:
    return value


def _name_of(given: object) -> str:
    return given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)


def _text(slow_encode: Encode, slow_decode: Decode) -> tuple[Encode, Decode]:
    def encode(topic: str, value: Any) -> bytes | None:
        if type(value) is str:
            try:
                return value.encode()
            except UnicodeError:
                pass
        return slow_encode(topic, value)

    def decode(topic: str, data: bytes | None) -> Any:
        if data is not None:
            try:
                return data.decode()
            except UnicodeError:
                pass
        return slow_decode(topic, data)

    return encode, decode


def _number(packing: str) -> "Quick":
    pack, unpack, size = struct.Struct(packing).pack, struct.Struct(packing).unpack, struct.calcsize(packing)

    def quick(slow_encode: Encode, slow_decode: Decode) -> tuple[Encode, Decode]:
        def encode(topic: str, value: Any) -> bytes | None:
            if type(value) is int:
                try:
                    return pack(value)
                except struct.error:
                    pass
            return slow_encode(topic, value)

        def decode(topic: str, data: bytes | None) -> Any:
            if data is not None and len(data) == size:
                return unpack(data)[0]
            return slow_decode(topic, data)

        return encode, decode

    return quick


Quick: TypeAlias = Callable[[Encode, Decode], tuple[Encode, Decode]]
_QUICK: dict[str, Quick] = {"string": _text, "long": _number(">q"), "integer": _number(">i")}


def long_serde() -> Serde:
    found = serde_of("long", "value")
    assert found is not None
    return found
