"""Classes that a configuration names: whether they are there, of the right kind, in a version that fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigValue, invalid
from penstock.pipeline.connect.connector_config.aliases import ClassKey
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import BASES, PluginKind, Plugins, UnknownPlugin, UnknownVersion
from penstock.pipeline.connect.plugins.versions import parse_range

CONVERTER_KINDS = (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)


def check_classes(keys: Iterable[ClassKey], values: Mapping[str, ConfigValue], plugins: Plugins) -> None:
    """Adds what is wrong, what could be said instead, and gives each class its full name."""
    for key in keys:
        value, version = values[key.name], values[key.version_name]
        value.recommended_values = [info.name for info in plugins.list([key.kind])]
        if value.value is not None:
            _check_class(key, value, plugins)
        if key.kind in CONVERTER_KINDS:
            version.visible = value.value is not None
        if _is_range(version) and value.value is not None and not value.errors:
            version.recommended_values = list(plugins.versions(key.kind, value.value))
            _check_version(key, value, version, plugins)


def _check_class(key: ClassKey, value: ConfigValue, plugins: Plugins) -> None:
    name = str(value.value)
    try:
        value.value = plugins.find(key.kind, name).name
    except UnknownPlugin as error:
        _explain(key, value, error, plugins)
    except ConnectError as error:
        value.errors.append(str(invalid(key.name, name, str(error))))


def _explain(key: ClassKey, value: ConfigValue, error: UnknownPlugin, plugins: Plugins) -> None:
    """A class of another kind, or none of that name."""
    name = str(value.value)
    try:
        other = plugins.find_any(name).name
    except ConnectError:
        halves = [f"{name}${half}" for half in ("Key", "Value") if plugins.has(f"{name}${half}")]
        if halves and "." in name:
            value.errors.append(
                f"This class is abstract and cannot be created. Did you mean {', '.join(halves)}?"
            )
            return
        near = str(error).partition("nearest are: ")[2]
        hint = f" Nearest are: {near}" if near else ""
        value.errors.append(str(invalid(key.name, name, f"Class {name} could not be found.{hint}")))
        value.value = None
    else:
        base = BASES[key.kind].__name__
        value.value = other
        value.errors.append(f"Class class {other} does not implement the {base} interface")


def _is_range(version: ConfigValue) -> bool:
    try:
        parse_range(version.value)
    except ConfigError as error:
        version.errors.append(str(error))
        return False
    return True


def _check_version(key: ClassKey, value: ConfigValue, version: ConfigValue, plugins: Plugins) -> None:
    try:
        plugins.find(key.kind, str(value.value), version.value)
    except UnknownVersion as error:
        value.errors.append(str(error))
        version.errors.append(str(error))
