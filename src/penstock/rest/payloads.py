"""Keys and values of records in JSON, as the bytes of a record: those that take no schema."""

from __future__ import annotations

import json
from binascii import Error as NotBase64
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any

from penstock.rest.errors import bad_field

_dumps = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False
).encode


def encode_binary(name: str, data: Any) -> bytes:
    if not isinstance(data, str):
        raise bad_field(name, data, "a base64 string")
    try:
        return a2b_base64(data, strict_mode=True)
    except (NotBase64, ValueError):
        raise bad_field(name, data, "a base64 string") from None


def encode_json(name: str, data: Any) -> bytes:
    try:
        return _dumps(data).encode()
    except ValueError:  # a lone surrogate, or a number out of range
        raise bad_field(name, data, "JSON whose numbers and characters can be written again") from None


def encode_string(name: str, data: Any) -> bytes:
    if not isinstance(data, str):
        raise bad_field(name, data, "a string")
    try:
        return data.encode()
    except UnicodeEncodeError:
        raise bad_field(name, data, "characters that UTF-8 has") from None


Encode = Callable[[str, Any], bytes]
ENCODERS: dict[str, Encode] = {"BINARY": encode_binary, "JSON": encode_json, "STRING": encode_string}
