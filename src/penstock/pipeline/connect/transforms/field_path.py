"""Paths to nested fields: `a.b` with dots, and backticks around a name with dots in it."""

from __future__ import annotations

from typing import Any

from penstock.errors import ConfigError
from penstock.pipeline.connect.data import Field, Schema, Struct, Type
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import require_map, require_struct

_PURPOSE = "nested field access"


class FieldPath:
    def __init__(self, text: str, syntax_version: str) -> None:
        self.text = text
        self.steps = [text] if syntax_version.upper() == "V1" else _steps(text)

    def field_in(self, schema: Schema) -> Field | None:
        found: Field | None = None
        for step in self.steps:
            if schema.type is not Type.STRUCT:
                raise DataError("Cannot look up fields on non-struct type")
            found = schema.field(step)
            if found is None:
                return None
            schema = found.schema
        return found

    def value_in_struct(self, value: Struct, with_defaults: bool) -> Any:
        *parents, last = self.steps
        for step in parents:
            inner = value.get(step) if value.schema.field(step) else None
            if inner is None:
                return None
            value = require_struct(inner, _PURPOSE)
        if value.schema.field(last) is None:
            return None
        return value.get(last) if with_defaults else value.get_without_default(last)

    def value_in_map(self, value: dict[str, Any]) -> Any:
        if not self.steps:
            raise DataError("field: got an empty path; takes the names of fields with dots between them")
        *parents, last = self.steps
        for step in parents:
            inner = value.get(step)
            if inner is None:
                return None
            value = require_map(inner, _PURPOSE)
        return value.get(last)


def _steps(path: str) -> list[str]:
    steps: list[str] = []
    at = 0
    while at < len(path):
        if path[at] == "`":
            step, at = _in_backticks(path, at)
        else:
            end = path.find(".", at)
            end = len(path) if end < 0 else end
            step, at = path[at:end], end + 1
        steps.append(step)
    return [*steps, ""] if path.endswith(".") else steps


def _in_backticks(path: str, start: int) -> tuple[str, int]:
    """The name that begins there, and where the next one does.

    A backtick ends the name only before a dot or at the end of the path, and only without a backslash before it.
    """
    name = ""
    begin = at = start + 1
    while True:
        at = path.find("`", at)
        if at < 0:
            raise _incomplete(path, start)
        escaped = path[at - 1] == "\\"
        if at == len(path) - 1:
            if escaped:
                raise _incomplete(path, start)
            return name + path[begin:at], at + 1
        if path[at + 1] != ".":
            at += 1
        elif escaped:
            name += path[begin : at - 1] + "`"
            at += 1
            begin = at
        else:
            return name + path[begin:at], at + 2


def _incomplete(path: str, position: int) -> ConfigError:
    return ConfigError(
        f"Incomplete backtick pair in path: [{path}], consider adding a backslash before backtick at position "
        f"{position} to escape it"
    )
