"""Defaults of fields: whether they fit the type, and how a descriptor writes them."""

from __future__ import annotations

import struct

from penstock.registry.formats.protobuf.elements import Value, Word

_SIGNED_32 = range(-(2**31), 2**31)
_SIGNED_64 = range(-(2**63), 2**63)
INTEGER_TYPES = {
    "int32": _SIGNED_32,
    "sint32": _SIGNED_32,
    "sfixed32": _SIGNED_32,
    "int64": _SIGNED_64,
    "sint64": _SIGNED_64,
    "sfixed64": _SIGNED_64,
    "uint32": range(2**32),
    "fixed32": range(2**32),
    "uint64": range(2**64),
    "fixed64": range(2**64),
}
_FLOATS = ("float", "double")


def integer_of(text: str) -> int:
    digits = text.removeprefix("-")
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    return (-1 if text.startswith("-") else 1) * int(digits, 8 if octal else 0)


def wrong_default(field_type: str, value: Value) -> str | None:
    """What a scalar type takes, if it does not take this."""
    if field_type in ("string", "bytes"):
        return None if isinstance(value, str) else "a string in quotes"
    text = value.text if isinstance(value, Word) else ""
    if field_type == "bool":
        return None if text in ("true", "false") else "true or false"
    try:
        if field_type in INTEGER_TYPES:
            allowed = INTEGER_TYPES[field_type]
            return None if integer_of(text) in allowed else f"{allowed[0]} to {allowed[-1]}"
        _float_of(text)
    except ValueError:
        return "an integer" if field_type in INTEGER_TYPES else "a number"
    return None


def default_text(field_type: str, value: Value) -> str:
    if isinstance(value, str):
        return _bytes_text(value) if field_type == "bytes" else value
    text = value.text if isinstance(value, Word) else str(value)
    if field_type in INTEGER_TYPES:
        return str(integer_of(text))
    return _float_text(field_type, _float_of(text)) if field_type in _FLOATS else text


def _float_of(text: str) -> float:
    if text.removeprefix("-").startswith(("0x", "0X")) or (text.isdigit() and text != "0" and text[0] == "0"):
        return float(integer_of(text))
    return float(text[:-1] if text[-1:] in "fF" and not text.endswith("inf") else text)


def _float_text(field_type: str, value: float) -> str:
    """The fewest digits that read back the same."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    for digits in (6, 7, 8, 9) if field_type == "float" else (15, 16, 17):
        text = f"{value:.{digits}g}"
        if _stored(field_type, float(text)) == _stored(field_type, value):
            return text
    return text


def _stored(field_type: str, value: float) -> bytes:
    try:
        return struct.pack("<f" if field_type == "float" else "<d", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


_C_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _bytes_text(value: str) -> str:
    """As C writes it: what is not printable ASCII is octal."""
    raw = value.encode("utf-8", "surrogateescape")
    return "".join(_C_ESCAPES.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in raw)
