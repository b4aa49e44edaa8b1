"""The JSON Schema of a class: pydantic and msgspec have their own ways, dataclasses theirs here."""

import dataclasses
import datetime
import decimal
import enum
import types
import typing
import uuid
from typing import Any

from penstock.client.serializers.models import is_msgspec_struct, is_pydantic_model

DRAFT = "http://json-schema.org/draft-07/schema#"
_PLAIN: dict[Any, dict[str, Any]] = {
    Any: {},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    type(None): {"type": "null"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    decimal.Decimal: {"type": "string"},
}


def json_schema_of(cls: Any) -> dict[str, Any]:
    """Of a dataclass, a pydantic model or a msgspec struct; TypeError of anything else."""
    if is_pydantic_model(cls):
        import pydantic

        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **pydantic.TypeAdapter(cls).json_schema(),
        }
    if is_msgspec_struct(cls):
        import msgspec

        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(cls)}
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise TypeError(f"{cls!r} is no dataclass, pydantic model or msgspec struct")
    classes = _Classes()
    schema = {"$schema": DRAFT, **classes.object(cls)}
    return {**schema, "definitions": classes.definitions} if classes.definitions else schema


class _Classes:
    """One schema in the making; the classes of fields are its definitions."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}

    def object(self, cls: Any) -> dict[str, Any]:
        kinds = typing.get_type_hints(cls, include_extras=True)
        fields = [field for field in dataclasses.fields(cls) if field.init]
        return {
            "title": cls.__name__,
            "type": "object",
            "properties": {field.name: self._of_field(cls, field.name, kinds) for field in fields},
            "required": [field.name for field in fields if _is_required(field)],
            "additionalProperties": False,
        }

    def _of_field(self, cls: Any, name: str, kinds: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.of(kinds[name])
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.{name}: {error}") from None

    def of(self, kind: Any) -> dict[str, Any]:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return self.of(arguments[0])
        if kind in _PLAIN:
            return _PLAIN[kind]
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.of(each) for each in arguments]}
        if origin in (list, set, frozenset, tuple) and len(set(arguments) - {Ellipsis}) == 1:
            return {"type": "array", "items": self.of(arguments[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        return self._class(kind)

    def _class(self, kind: Any) -> dict[str, Any]:
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return {"enum": [member.value for member in kind]}
        if not dataclasses.is_dataclass(kind):
            raise TypeError(f"JSON Schema has no {getattr(kind, '__name__', kind)}")
        name = kind.__name__  # type: ignore[union-attr]
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self.object(kind)
        return {"$ref": f"#/definitions/{name}"}


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
