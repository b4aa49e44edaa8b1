"""From an Avro schema to the code that reads or writes its values: made once for each schema, then called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from penstock.client.registry.avro_schemas import AvroJson

Code = TypeVar("Code")


class AvroCompiler(ABC, Generic[Code]):
    """Types with names are kept in `_named`: a schema may name them again, and within themselves."""

    primitives: ClassVar[Mapping[str, Any]]

    def __init__(self) -> None:
        self._named: dict[str, Code] = {}
        self._compound = {
            "record": self._record,
            "error": self._record,
            "enum": self._enum,
            "fixed": self._fixed,
            "array": self._array,
            "map": self._map,
        }

    def of(self, schema: AvroJson) -> Code:
        if isinstance(schema, list):
            return self._union(schema)
        if isinstance(schema, str):
            return self.primitives.get(schema) or self._later(schema)
        kind = schema["type"]
        if isinstance(kind, dict | list):
            return self.of(kind)
        if kind in self.primitives:
            return self.primitives[kind]  # type: ignore[no-any-return]
        if kind in self._compound:
            return self._compound[kind](schema)
        return self._later(kind)

    @abstractmethod
    def _later(self, name: str) -> Code:
        """Of a name that is defined already, or is just being defined."""

    @abstractmethod
    def _union(self, branches: list[AvroJson]) -> Code: ...
    @abstractmethod
    def _record(self, schema: dict[str, Any]) -> Code: ...
    @abstractmethod
    def _enum(self, schema: dict[str, Any]) -> Code: ...
    @abstractmethod
    def _fixed(self, schema: dict[str, Any]) -> Code: ...
    @abstractmethod
    def _array(self, schema: dict[str, Any]) -> Code: ...
    @abstractmethod
    def _map(self, schema: dict[str, Any]) -> Code: ...
