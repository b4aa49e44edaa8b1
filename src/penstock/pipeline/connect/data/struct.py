"""A value of a struct's schema: one value for each field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from penstock.pipeline.connect.data.schema import Schema, Type
from penstock.pipeline.connect.data.validation import validate_value
from penstock.pipeline.connect.errors import DataError

ABSENT = object()
"""In `values`, where nothing was put."""


class Struct:
    """`values` lie in the order of the schema's fields; one that was never put is absent, and reads as its default."""

    __slots__ = ("schema", "values")

    def __init__(self, schema: Schema, **values: Any) -> None:
        if schema.type is not Type.STRUCT:
            raise DataError(f"a Struct needs a schema of type struct, got {schema.type.value}")
        self.schema = schema
        self.values: list[Any] = [ABSENT] * len(schema.fields)
        for name, value in values.items():
            self.put(name, value)

    @classmethod
    def of(cls, schema: Schema, values: Iterable[Any]) -> Self:
        """Without a look at the values: for those who made them of the schema. All fields, in their order."""
        struct = cls.__new__(cls)
        struct.schema = schema
        struct.values = list(values)
        return struct

    def put(self, name: str, value: Any) -> Self:
        found = self.schema.field_of.get(name)
        if found is None:
            raise DataError(f"{name!r} is not a field of {_named(self.schema)}; {_fields(self.schema)}")
        validate_value(found.schema, value, name)
        self.values[found.index] = value
        return self

    def get(self, name: str) -> Any:
        found = self.schema.field_of.get(name)
        if found is None:
            raise DataError(f"{name!r} is not a field of {_named(self.schema)}; {_fields(self.schema)}")
        value = self.values[found.index]
        if value is ABSENT or (value is None and found.schema.has_default):
            return found.schema.default
        return value

    __getitem__ = get

    def get_without_default(self, name: str) -> Any:
        found = self.schema.field_of.get(name)
        value = ABSENT if found is None else self.values[found.index]
        return None if value is ABSENT else value

    def all_values(self, with_defaults: bool = True) -> list[Any]:
        """What `get` or `get_without_default` says of each field, in their order."""
        return [
            (field.schema.default if with_defaults else None) if value is None or value is ABSENT else value
            for field, value in zip(self.schema.fields, self.values, strict=True)
        ]

    def validate(self) -> None:
        """Refuses values that do not fit, and a required field without one."""
        for field in self.schema.fields:
            validate_value(field.schema, self.get_without_default(field.name), field.name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return self.schema == other.schema and self.all_values() == other.all_values()

    def __repr__(self) -> str:
        inner = ",".join(
            f"{each.name}={self.get_without_default(each.name)!r}" for each in self.schema.fields
        )
        return f"Struct{{{inner}}}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.schema, [None if value is ABSENT else value for value in self.values])


def _restored(schema: Schema, values: list[Any]) -> Struct:
    return Struct.of(schema, values)


def _named(schema: Schema) -> str:
    return f"struct {schema.name}" if schema.name else "this struct"


def _fields(schema: Schema) -> str:
    names = ", ".join(each.name for each in schema.fields)
    return f"it has {names}" if names else "it has none"
