"""Keys and values in the shape of Connect's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.pipeline.connect.api.config_def import ConfigKey, ConfigType, ConfigValue

ConfigInfo = dict[str, Any]


def as_text(value: Any, type: ConfigType | None = None) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return "[hidden]" if type is ConfigType.PASSWORD else str(value)


def key_info(key: ConfigKey, prefix: str = "") -> dict[str, Any]:
    return {
        "name": prefix + key.name,
        "type": key.type.value,
        "required": key.is_required,
        "default_value": None if key.is_required else as_text(key.default, key.type),
        "importance": key.importance.value,
        "documentation": key.doc,
        "group": key.group,
        "order_in_group": key.order_in_group,
        "width": key.width.value,
        "display_name": key.display_name,
        "dependents": list(key.dependents),
    }


def value_info(value: ConfigValue, key: ConfigKey | None, prefix: str = "") -> dict[str, Any]:
    kind = key.type if key is not None else None
    return {
        "name": prefix + value.name,
        "value": as_text(value.value, kind),
        "recommended_values": [as_text(each, kind) for each in value.recommended_values],
        "errors": value.errors,
        "visible": value.visible,
    }


def config_info(value: ConfigValue, key: ConfigKey | None, prefix: str = "") -> ConfigInfo:
    definition = None if key is None else key_info(key, prefix)
    return {"definition": definition, "value": value_info(value, key, prefix)}


def all_errors(infos: Mapping[str, Any]) -> list[str]:
    """Every error of an answer, in its order."""
    return [error for info in infos["configs"] for error in info["value"]["errors"]]
