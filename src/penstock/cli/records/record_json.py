"""Records as JSON, and back, byte for byte.

Bytes that are UTF-8 stand there as text, others in base64 under a name of their own: `value` or `value_base64`. A
header is an object of its own, since names may repeat and their order counts. Null stays null.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, NamedTuple

BASE64 = "_base64"


class TopicRecord(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class BadRecord(Exception):
    """A line that is not a record: what is wrong with it."""


def record_as_json(record: TopicRecord) -> str:
    fields: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp_ms,
    }
    _put(fields, "key", record.key)
    _put(fields, "value", record.value)
    fields["headers"] = [_header(*header) for header in record.headers]
    return json.dumps(fields, ensure_ascii=False)


def _header(name: str, value: bytes | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": name}
    _put(fields, "value", value)
    return fields


def _put(fields: dict[str, Any], name: str, data: bytes | None) -> None:
    try:
        fields[name] = None if data is None else data.decode()
    except UnicodeDecodeError:
        assert data is not None
        fields[name + BASE64] = base64.b64encode(data).decode()


def record_from_json(line: str) -> TopicRecord:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise BadRecord(f"is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise BadRecord("is not a JSON object")
    return TopicRecord(
        str(fields.get("topic", "")),
        _number(fields, "partition", -1),
        _number(fields, "offset", -1),
        _number(fields, "timestamp", None),
        _get(fields, "key"),
        _get(fields, "value"),
        tuple(_header_from(each) for each in _list(fields, "headers")),
    )


def _number(fields: dict[str, Any], name: str, default: Any) -> Any:
    value = fields.get(name, default)
    if value is not default and (not isinstance(value, int) or isinstance(value, bool)):
        raise BadRecord(f"{name}: got {value!r}; takes a number")
    return value


def _list(fields: dict[str, Any], name: str) -> list[Any]:
    value = fields.get(name) or []
    if not isinstance(value, list):
        raise BadRecord(f"{name}: got {value!r}; takes a list")
    return value


def _header_from(fields: Any) -> tuple[str, bytes | None]:
    if not isinstance(fields, dict) or not isinstance(fields.get("name"), str):
        raise BadRecord(f'headers: got {fields!r}; takes {{"name": ..., "value": ...}}')
    return fields["name"], _get(fields, "value")


def _get(fields: dict[str, Any], name: str) -> bytes | None:
    encoded = fields.get(name + BASE64)
    if encoded is not None:
        try:
            return base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError, TypeError):
            raise BadRecord(f"{name}{BASE64}: got {encoded!r}; takes base64") from None
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).encode()
    return value.encode()
