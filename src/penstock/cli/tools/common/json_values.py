"""Values out of JSON that a user wrote, with Kafka's words for those that are not what they should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LARGEST_INTEGER = 2**31


class JsonMismatch(Exception):
    """A value is of another kind than it should be, or missing."""


class UnreadableFile(Exception):
    """The file cannot be read."""


def read_text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", errors="replace")
    except OSError as error:
        raise UnreadableFile(f"Unable to read file {path}") from error


def parse(text: str) -> Any:
    """The first value in a text, whatever follows; raises ValueError if there is none."""
    return json.JSONDecoder().raw_decode(text.lstrip())[0]


def written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def object_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise JsonMismatch(f"Expected JSON object, received {written(value)}")
    return value


def array_of(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise JsonMismatch(f"Expected JSON array, received {written(value)}")
    return value


def field(fields: dict[str, Any], name: str) -> Any:
    if name not in fields:
        raise JsonMismatch(f"No such field exists: `{name}`")
    return fields[name]


def string_of(value: Any) -> str:
    if not isinstance(value, str):
        raise JsonMismatch(f"Expected `String` value, received {written(value)}")
    return value


def integer_of(value: Any) -> int:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        raise JsonMismatch(f"Expected `Integer` value, received {written(value)}")
    return int(value)


def list_of(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise JsonMismatch(f"Expected `JSON array` value, received {written(value)}")
    return value
