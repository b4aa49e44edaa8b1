"""A place in a JSON document (RFC 6901): `/data/items`, or nothing for all of it."""

from __future__ import annotations

from typing import Any

from penstock.pipeline.connect.api.config_def import invalid

ABSENT = object()


def is_pointer(name: str, value: Any) -> None:
    if value and not value.startswith("/"):
        raise invalid(name, value, "takes a JSON pointer, such as /data/items")


def at_pointer(document: Any, pointer: str) -> Any:
    """ABSENT if there is no such place."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and name in document:
            document = document[name]
        elif isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        else:
            return ABSENT
    return document
