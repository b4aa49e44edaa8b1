"""What the registry is set up with, and the schemas it has parsed lately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from penstock.registry.formats.schema_format import ParsedSchema, SchemaFormat
from penstock.registry.requests import MAX_INT

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Remembers what was made last for a key."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._made: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Each step is one that threads may take at the same time."""
        made = self._made.get(key)
        if made is None:
            made = make()
            self._made[key] = made
            if len(self._made) > self._limit:
                self._made.popitem(last=False)
        else:
            with suppress(KeyError):  # another thread has just dropped it
                self._made.move_to_end(key)
        return made


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How many a list has if nothing is said, and at most."""

    default: int = MAX_INT
    maximum: int = MAX_INT

    def of(self, asked: int) -> int:
        return asked if 0 < asked <= self.maximum else self.default


@dataclass(frozen=True)
class RegistryRules:
    formats: Mapping[str, SchemaFormat]
    """By schema type: AVRO, JSON, PROTOBUF."""
    compatibility_level: str = "BACKWARD"
    mode_mutability: bool = True
    validate_fields: bool = False
    validate_new_schemas: bool = True
    reject_empty_subject: bool = False
    schema_limits: SearchLimits = SearchLimits(1000, 1000)
    subject_limits: SearchLimits = SearchLimits()
    subject_version_limits: SearchLimits = SearchLimits()
    context_limits: SearchLimits = SearchLimits()
    schema_cache_size: int = 1000
    parsed: Recent[tuple[object, ...], ParsedSchema] = field(init=False, compare=False)
    canonical_md5s: dict[bytes, bytes] = field(init=False, compare=False, default_factory=dict)
    """Of stored schemas, by their md5: what it is when their text is brought into canonical form."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parsed", Recent(self.schema_cache_size))
