"""Settings of topics, brokers and groups that are kept in the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.client.admin import configs
from penstock.client.admin.calls.outcome import raise_failed, unless_failed
from penstock.client.admin.configs import (
    AlterConfig,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ResourceType,
)
from penstock.wire_client import Cluster

_TYPES = {each.name.lower(): each for each in ResourceType}


async def describe_configs(cluster: Cluster, kind: str, name: str) -> dict[str, ConfigEntry]:
    """All settings of a `topic`, `broker`, `group` ... by name, those with default values as well.

    >>> created = admin.create_topic("orders", configs={"retention.ms": "60000"})
    >>> admin.describe_configs("topic", "orders")["retention.ms"].value
    '60000'
    """
    resource = config_resource(kind, name)
    found = unless_failed(await configs.describe_configs(cluster, [resource]))[resource]
    return dict(found)


async def alter_configs(
    cluster: Cluster,
    kind: str,
    name: str,
    changes: Mapping[str, object] | None = None,
    *,
    delete: Iterable[str] = (),
    validate_only: bool = False,
) -> None:
    """Sets some settings of a `topic`, `broker` (by id; "" for all), `group` ..., and deletes others.

    >>> created = admin.create_topic("orders")
    >>> admin.alter_configs("topic", "orders", {"retention.ms": 3_600_000})
    >>> admin.alter_configs("topic", "orders", delete=["retention.ms"])
    """
    alterations = [
        AlterConfig(key, ConfigOperation.SET, _text(value)) for key, value in (changes or {}).items()
    ]
    alterations += [AlterConfig(key, ConfigOperation.DELETE) for key in delete]
    resource = config_resource(kind, name)
    raise_failed(await configs.alter_configs(cluster, {resource: alterations}, validate_only=validate_only))


def config_resource(kind: str, name: str) -> ConfigResource:
    if kind not in _TYPES:
        raise ValueError(f"kind of resource: got {kind!r}, takes {', '.join(_TYPES)}")
    return ConfigResource(_TYPES[kind], name)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
