"""Values out of JSON that a user wrote, with Kafka's words for those that are not what they should be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from penstock.cli.tools.common.java_order import in_hash_order
from penstock.errors import PenstockError
from penstock.types import TopicPartition

LIMITS = {"Integer": 2**31, "Long": 2**63}


K = TypeVar("K", TopicPartition, str, int)


class JsonMismatch(PenstockError):
    """A value is of another kind than it should be, or missing."""


class UnreadableFile(PenstockError):
    """The file cannot be read, in Kafka's words; the reason is what the system says."""

    def __init__(self, path: str, reason: str | None) -> None:
        super().__init__(f"Unable to read file {path}")
        self.reason = reason


def read_text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", errors="replace")
    except OSError as error:
        raise UnreadableFile(path, error.strerror) from error


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
    return _whole_number(value, "Integer")


def long_of(value: Any) -> int:
    return _whole_number(value, "Long")


def _whole_number(value: Any, kind: str) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number or not -LIMITS[kind] <= value < LIMITS[kind]:
        raise JsonMismatch(f"Expected `{kind}` value, received {written(value)}")
    return int(value)


def list_of(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise JsonMismatch(f"Expected `JSON array` value, received {written(value)}")
    return value


def duplicates(values: Sequence[K]) -> list[K]:
    """What is there more than once, in the order in which Kafka's tools tell of it."""
    return in_hash_order(value for value in values if values.count(value) > 1)
