"""What is shown of keys and values: plain ones, and the records of the coordinators as Kafka's JSON."""

import codecs
import importlib
from collections.abc import Callable
from struct import Struct

from penstock.cli.tools.dump_log.errors import DumpError
from penstock.cli.tools.dump_log.records import Decoder
from penstock.records.reader import Record

API = "org.apache.kafka.tools.api."
STRING_DECODER = f"{API}StringDecoder"


def _replace_like_java(error: UnicodeError) -> tuple[str, int]:
    """Java takes the bytes of half a surrogate pair as one malformed character, Python each as one."""
    assert isinstance(error, UnicodeDecodeError)
    first, *rest = error.object[error.start : error.start + 3]
    if first == 0xED and rest and 0xA0 <= rest[0] <= 0xBF:
        return "\ufffd", error.start + 2 + (len(rest) == 2 and rest[1] & 0xC0 == 0x80)
    return "\ufffd", error.end


codecs.register_error("java", _replace_like_java)


def _number(layout: Struct) -> Callable[[bytes], object]:
    def decode(data: bytes) -> object:
        if len(data) != layout.size:
            raise DumpError(f"a number of {layout.size} bytes can't be read from {len(data)} bytes")
        return layout.unpack(data)[0]

    return decode


BUILT_IN: dict[str, Callable[[bytes], object]] = {
    STRING_DECODER: lambda data: data.decode(errors="java"),
    f"{API}IntegerDecoder": _number(Struct(">i")),
    f"{API}LongDecoder": _number(Struct(">q")),
    f"{API}DefaultDecoder": bytes.hex,
}


def plain_decoder(key_decoder: str, value_decoder: str) -> Decoder:
    decode_value, decode_key = (
        _load("value-decoder-class", value_decoder),
        _load("key-decoder-class", key_decoder),
    )

    def decode(record: Record) -> tuple[object | None, object | None]:
        return (
            None if record.key is None else decode_key(record.key),
            None if record.value is None else decode_value(record.value),
        )

    return decode


def _load(option: str, name: str) -> Callable[[bytes], object]:
    """One of Kafka's decoders by its class, or `module:function` in Python that takes bytes."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    module, colon, function = name.partition(":")
    if colon:
        try:
            loaded: Callable[[bytes], object] = getattr(importlib.import_module(module), function)
            return loaded
        except (ImportError, AttributeError) as error:
            raise DumpError(f"--{option}: got {name!r}: {error}") from None
    known = ", ".join(BUILT_IN)
    raise DumpError(
        f"--{option}: got {name!r}; takes a function in Python as module:function, or one of {known}"
    )
