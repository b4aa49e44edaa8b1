"""What a value looks like. Schemas are values themselves: immutable, hashable, compared by what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

from penstock.pipeline.connect.errors import DataError


class Type(Enum):
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"


NO_PARAMETERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, eq=True)
class Field:
    name: str
    index: int
    schema: Schema

    def __hash__(self) -> int:
        return hash((self.name, self.index))


@dataclass(frozen=True, eq=True)
class Schema:
    """`default` counts only where `has_default` says so: None is a default too, of an optional field."""

    type: Type
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: Mapping[str, str] = field(default_factory=lambda: NO_PARAMETERS)
    default: Any = None
    has_default: bool = False
    key_schema: Schema | None = None
    value_schema: Schema | None = None
    fields: tuple[Field, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        inner = (self.key_schema, self.value_schema, self.fields)
        return hash((self.type, self.optional, self.name, self.version, inner))

    @cached_property
    def field_of(self) -> Mapping[str, Field]:
        return MappingProxyType({each.name: each for each in self.fields})

    def field(self, name: str) -> Field | None:
        return self.field_of.get(name)

    def as_optional(self) -> Schema:
        return self if self.optional else replace(self, optional=True)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is cached, and with plain dicts: schemas travel to Spark's executors."""
        state = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**state, "parameters": dict(self.parameters)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"parameters": MappingProxyType(state["parameters"])})


INT8 = Schema(Type.INT8)
INT16 = Schema(Type.INT16)
INT32 = Schema(Type.INT32)
INT64 = Schema(Type.INT64)
FLOAT32 = Schema(Type.FLOAT32)
FLOAT64 = Schema(Type.FLOAT64)
BOOLEAN = Schema(Type.BOOLEAN)
STRING = Schema(Type.STRING)
BYTES = Schema(Type.BYTES)
OPTIONAL_INT8 = INT8.as_optional()
OPTIONAL_INT16 = INT16.as_optional()
OPTIONAL_INT32 = INT32.as_optional()
OPTIONAL_INT64 = INT64.as_optional()
OPTIONAL_FLOAT32 = FLOAT32.as_optional()
OPTIONAL_FLOAT64 = FLOAT64.as_optional()
OPTIONAL_BOOLEAN = BOOLEAN.as_optional()
OPTIONAL_STRING = STRING.as_optional()
OPTIONAL_BYTES = BYTES.as_optional()


class SchemaBuilder:
    """Says a schema piece by piece: `SchemaBuilder(Type.STRUCT).name("order").field("id", INT64).build()`."""

    def __init__(self, type: Type) -> None:
        self._schema = Schema(type)
        self._fields: dict[str, Field] = {}

    @classmethod
    def struct(cls) -> Self:
        return cls(Type.STRUCT)

    @classmethod
    def array(cls, values: Schema) -> Self:
        builder = cls(Type.ARRAY)
        builder._schema = replace(builder._schema, value_schema=values)
        return builder

    @classmethod
    def map(cls, keys: Schema, values: Schema) -> Self:
        builder = cls(Type.MAP)
        builder._schema = replace(builder._schema, key_schema=keys, value_schema=values)
        return builder

    @classmethod
    def like(cls, schema: Schema) -> Self:
        """Begins with all that `schema` says, but for its fields."""
        builder = cls(schema.type)
        builder._schema = replace(schema, fields=())
        return builder

    def name(self, name: str | None) -> Self:
        return self._with(name=name)

    def version(self, version: int | None) -> Self:
        return self._with(version=version)

    def doc(self, doc: str | None) -> Self:
        return self._with(doc=doc)

    def optional(self) -> Self:
        return self._with(optional=True)

    def required(self) -> Self:
        return self._with(optional=False)

    def default(self, value: Any) -> Self:
        return self._with(default=value, has_default=True)

    def parameter(self, name: str, value: str) -> Self:
        return self.parameters({name: value})

    def parameters(self, parameters: Mapping[str, str]) -> Self:
        return self._with(parameters=MappingProxyType({**self._schema.parameters, **parameters}))

    def field(self, name: str, schema: Schema) -> Self:
        if self._schema.type is not Type.STRUCT:
            raise DataError(f"field {name!r}: a schema of type {self._schema.type.value} has no fields")
        if not name:
            raise DataError("a field needs a name")
        if name in self._fields:
            raise DataError(f"field {name!r} is there twice")
        self._fields[name] = Field(name, len(self._fields), schema)
        return self

    def build(self) -> Schema:
        return replace(self._schema, fields=tuple(self._fields.values()))

    def _with(self, **changes: Any) -> Self:
        self._schema = replace(self._schema, **changes)
        return self
