"""The records of internal topics as the JSON that Kafka's converters write.

Fields are in the order of the schema and named in camelCase; those that the version lacks are left out, and so are
tagged fields that have their default. Bytes are base64, ids as Kafka shows them.
"""

import base64
import json
from collections.abc import Collection
from typing import Any

from penstock.wire.schema import Field, Message, RecordTypes
from penstock.wire.stored_records import decode_key, decode_value

KEY_VERSION = 0


def record_as_json(
    types: RecordTypes, key: bytes, value: bytes | None, shown: Collection[int] | None
) -> str | None:
    """The JSON of one record; None if its type is unknown, or not among those to be shown."""
    decoded_key = decode_key(types, key)
    if decoded_key is None or (shown is not None and decoded_key.RECORD_TYPE not in shown):
        return None
    content: dict[str, Any] = {
        "key": {"type": decoded_key.RECORD_TYPE, "data": message_as_json(decoded_key, KEY_VERSION)},
        "value": None,
    }
    if value is not None:
        version = int.from_bytes(value[:2], "big", signed=True)
        decoded = decode_value(types, decoded_key.RECORD_TYPE, value)
        content["value"] = {"version": version, "data": message_as_json(decoded, version)}
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def message_as_json(message: Message, version: int) -> dict[str, Any]:
    return {
        camel_case(field.name): _field_as_json(field, getattr(message, field.name), version)
        for field in message.SCHEMA
        if field.exists_in(version) and not _is_left_out(field, getattr(message, field.name))
    }


def _is_left_out(field: Field, value: Any) -> bool:
    if field.tag is None:
        return False
    if field.struct is not None and not field.is_array:
        return bool(value == field.struct())  # Kafka's default is an empty one: null is shown
    return value == field.default or (field.default in (None, ()) and not value)


def _field_as_json(field: Field, value: Any, version: int) -> Any:
    if value is None:
        return None
    if field.is_array:
        return [_element_as_json(field.element_kind, element, version) for element in value]
    return _element_as_json(field.kind, value, version)


def _element_as_json(kind: str, value: Any, version: int) -> Any:
    if kind == "struct":
        return message_as_json(value, version)
    if kind == "uuid":
        return base64.urlsafe_b64encode(bytes(value)).decode().rstrip("=")
    if kind == "bytes":
        return base64.b64encode(bytes(value)).decode()
    return value


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
