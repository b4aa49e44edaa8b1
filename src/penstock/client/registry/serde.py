"""What serializers and deserializers of the registry have in common: a registry, settings, and a field.

They are made by the user, with some of their settings; `for_field` says whether they are for keys or values, and
`configured` fills in what the producer's or consumer's settings have and the user did not give. Each step returns a
copy, so that one object may serve several clients.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.settings import SERDE_TABLE, client_part
from penstock.client.serializers.base import Field
from penstock.errors import ConfigError

MAX_SCHEMAS_IN_USE = 10_000
"""How many codecs one serializer or deserializer keeps."""
RegistrySpec: TypeAlias = SchemaRegistryClient | str | Sequence[str] | Mapping[str, object] | None


class Serde:
    """Base of both: `_setting` reads what was given here, or to the client, or else the default."""

    def __init__(self, registry: RegistrySpec, settings: Mapping[str, object]) -> None:
        self.field: Field = "value"
        self._given = SERDE_TABLE.read(settings)
        self._of_client: Mapping[str, object] = {}
        self._registry = registry if isinstance(registry, SchemaRegistryClient) else None
        if registry is not None and self._registry is None:
            by_name = registry if isinstance(registry, Mapping) else {"schema.registry.url": registry}
            self._given |= SERDE_TABLE.read(by_name)
        self._reset()

    def _reset(self) -> None:
        """Settings or field have changed: what follows from them is made again."""

    @property
    def registry(self) -> SchemaRegistryClient:
        """The client of the registry, made when it is needed first."""
        if self._registry is None:
            settings = {**client_part(self._of_client), **client_part(self._given)}
            if not settings.get("schema.registry.url"):
                raise ConfigError(
                    "schema.registry.url: missing; give it to the client, or a registry to the serializer"
                )
            self._registry = SchemaRegistryClient(settings)
        return self._registry

    def for_field(self, field: Field) -> Self:
        other = copy.copy(self)
        other.field = field
        other._reset()
        return other

    def configured(self, settings: Mapping[str, object]) -> Self:
        other = copy.copy(self)
        other._of_client = {name: value for name, value in settings.items() if name in SERDE_TABLE}
        other._reset()
        _ = other.registry  # so that a missing address is found when the client is made
        return other

    def _setting(self, name: str) -> Any:
        for source in (self._given, self._of_client):
            if (value := source.get(name)) is not None:
                return value
        return SERDE_TABLE[name].default

    def _setting_of_field(self, name: str) -> Any:
        """Of `key.name` or `value.name`; `name` alone may be given to a serializer, which has one field."""
        own = self._given.get(name)
        return self._setting(f"{self.field}.{name}") if own is None else own
