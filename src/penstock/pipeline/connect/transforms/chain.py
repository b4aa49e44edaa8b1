"""The transforms of a connector, in their order; each sees the records that its predicate chooses.

transforms=mask,route
transforms.mask.type=org.apache.kafka.connect.transforms.MaskField$Value
transforms.mask.fields=card
transforms.route.type=...
transforms.route.predicate=isOrder
transforms.route.negate=true
predicates.isOrder.type=...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.transformation import Predicate, Record, Transformation


class _Found(Protocol):
    @property
    def cls(self) -> Any: ...


class FindsPlugins(Protocol):
    """The registry of plugins: the class of a kind and name."""

    def find(self, kind: str, name: str, version: str | None = None) -> _Found: ...


@dataclass(frozen=True, slots=True)
class Stage(Generic[Record]):
    """One transform; `name` is its alias."""

    name: str
    transformation: Transformation[Record]
    predicate: Predicate[Record] | None = None
    negate: bool = False

    def apply(self, record: Record) -> Record | None:
        if self.predicate is not None and self.predicate.test(record) is self.negate:
            return record
        return self.transformation.apply(record)

    def close(self) -> None:
        self.transformation.close()
        if self.predicate is not None:
            self.predicate.close()


class TransformChain(Generic[Record]):
    def __init__(self, stages: Sequence[Stage[Record]] = ()) -> None:
        self.stages = tuple(stages)

    @classmethod
    def from_configs(cls, configs: Mapping[str, str], plugins: FindsPlugins) -> Self:
        names = [name.strip() for name in (configs.get("transforms") or "").split(",")]
        return cls([_stage(name, configs, plugins) for name in names if name])

    def __bool__(self) -> bool:
        return bool(self.stages)

    def apply(self, record: Record) -> Record | None:
        """What is left of the record; None if a transform dropped it."""
        current: Record | None = record
        for stage in self.stages:
            if current is None:
                return None
            current = stage.apply(current)
        return current

    def close(self) -> None:
        for stage in self.stages:
            stage.close()


def _stage(name: str, configs: Mapping[str, str], plugins: FindsPlugins) -> Stage[Any]:
    own = _with_prefix(configs, f"transforms.{name}.")
    predicate = own.pop("predicate", None)
    negate = str(own.pop("negate", "false")).strip().lower() == "true"
    transformation = _configured("transformation", f"transforms.{name}.", own, plugins)
    if predicate is None:
        return Stage(name, transformation)
    prefix = f"predicates.{predicate}."
    chosen = _configured("predicate", prefix, _with_prefix(configs, prefix), plugins)
    return Stage(name, transformation, chosen, negate)


def _with_prefix(configs: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key[len(prefix) :]: value for key, value in configs.items() if key.startswith(prefix)}


def _configured(kind: str, prefix: str, configs: dict[str, str], plugins: FindsPlugins) -> Any:
    if "type" not in configs:
        raise ConfigError(f'Missing required configuration "{prefix}type" which has no default value.')
    plugin = plugins.find(kind, configs["type"], configs.get("plugin.version")).cls()
    plugin.configure(configs)
    return plugin
