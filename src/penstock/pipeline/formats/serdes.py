"""From what a user gives as a serde to both of its functions.

Names, classes and objects are those that the clients take as serializers and deserializers; a model's class stands for
its JSON both ways, and a pair gives each side on its own. Text, counts and JSON are what records and stores encode at
each step, so for them the common case comes first, and only what it does not take goes to the client's function, which
has the message.
"""

import struct
from functools import partial
from typing import Any, TypeAlias

import msgspec

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
    if isinstance(given, str) and given in _QUICK:
        quick = _QUICK[given]
        return Serde(given, partial(quick[0], encode), partial(quick[1], decode))
    return Serde(_name_of(given), encode, decode)


def _both_sides(given: Any) -> tuple[Any, Any]:
    is_model = isinstance(given, type) and not issubclass(given, Serializer | Deserializer)
    return ("json", given) if is_model else (given, given)


def _as_it_is(topic: str, value: Any) -> Any:
    return value


def _name_of(given: object) -> str:
    return given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)


# --- the common case first; functions of modules, not of functions, so that a plan can be pickled


def _encode_text(slow: Encode, topic: str, value: Any) -> bytes | None:
    if type(value) is str:
        try:
            return value.encode()
        except UnicodeError:
            pass
    return slow(topic, value)


def _decode_text(slow: Decode, topic: str, data: bytes | None) -> Any:
    if data is not None:
        try:
            return data.decode()
        except UnicodeError:
            pass
    return slow(topic, data)


_LONG = struct.Struct(">q")


def _encode_long(slow: Encode, topic: str, value: Any) -> bytes | None:
    if type(value) is int:
        try:
            return _LONG.pack(value)
        except struct.error:
            pass
    return slow(topic, value)


def _decode_long(slow: Decode, topic: str, data: bytes | None) -> Any:
    if data is not None and len(data) == _LONG.size:
        return _LONG.unpack(data)[0]
    return slow(topic, data)


_encode_json = msgspec.json.Encoder().encode
_decode_json = msgspec.json.Decoder().decode
_SAME_TEXT = frozenset((str, int, bool, type(None)))
"""What msgspec writes as the client does; what is too large for it, it refuses."""


def _encode_quick_json(slow: Encode, topic: str, value: Any) -> bytes | None:
    try:
        if value is not None and _is_written_alike(value):
            return _encode_json(value)
    except (msgspec.MsgspecError, OverflowError, RecursionError, UnicodeError):
        pass
    return slow(topic, value)


def _is_written_alike(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        for name, each in value.items():
            if type(name) is not str or not (type(each) in _SAME_TEXT or _is_written_alike(each)):
                return False
        return True
    if kind is float:  # else with an exponent, of which each has its own way
        return bool(1e-4 <= value < 1e16 or -1e16 < value <= -1e-4 or value == 0)
    if kind is list:
        return all(map(_is_written_alike, value))
    return kind in _SAME_TEXT


def _decode_quick_json(slow: Decode, topic: str, data: bytes | None) -> Any:
    if data is not None:
        try:
            return _decode_json(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            pass
    return slow(topic, data)


_QUICK = {
    "string": (_encode_text, _decode_text),
    "long": (_encode_long, _decode_long),
    "json": (_encode_quick_json, _decode_quick_json),
}


def long_serde() -> Serde:
    found = serde_of("long", "value")
    assert found is not None
    return found
