"""Keys and values of records in JSON, as the bytes of a record and back."""

from __future__ import annotations

import json
from binascii import Error as NotBase64
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any

from penstock.rest.errors import bad_field
from penstock.web.errors import HttpError

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
WITH_SCHEMA = ("AVRO", "JSONSCHEMA", "PROTOBUF")
_TYPES = ", ".join((*ENCODERS, *WITH_SCHEMA))


def encode_payload(field: str, given: Any) -> tuple[str | None, bytes | None]:
    """The type and the bytes of a key or a value: `{"type": "JSON", "data": ...}`."""
    if given is None:
        return None, None
    if not isinstance(given, dict):
        raise bad_field(field, given, "an object with type and data")
    kind = given.get("type")
    encode = ENCODERS.get(kind) if isinstance(kind, str) else None
    if encode is None:
        raise _other_type(field, kind)
    data = given.get("data")
    return kind, None if data is None else encode(f"{field}.data", data)


def _other_type(field: str, kind: Any) -> HttpError:
    if kind is None or kind in WITH_SCHEMA:
        what = "without a type" if kind is None else f"of type {kind}"
        return HttpError(
            400, 400, f"{field}.type: a {field} {what} needs a schema, which is not available here yet"
        )
    return bad_field(f"{field}.type", kind, f"one of {_TYPES}")
