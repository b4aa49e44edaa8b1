"""All that is wrong with a connector's configuration, at once: its own keys, those that every connector has, what its
transforms, predicates and converters take, and what the worker allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigValue
from penstock.pipeline.connect.api.connector import Connector
from penstock.pipeline.connect.connector_config import rules
from penstock.pipeline.connect.connector_config.aliases import (
    PREDICATE_CLASSES,
    TRANSFORMATIONS,
    ClassKey,
    alias_keys,
    class_keys,
    creation_keys,
    unknown_predicates,
)
from penstock.pipeline.connect.connector_config.answers import ConfigInfo, all_errors, config_info, key_info
from penstock.pipeline.connect.connector_config.classes import check_classes
from penstock.pipeline.connect.connector_config.common import (
    CONNECTOR_CLASS,
    CONNECTOR_VERSION,
    HEADER_CONVERTER,
    KEY_CONVERTER,
    PLUGIN_VERSION,
    SINK_KEYS,
    SOURCE_KEYS,
    VALUE_CONVERTER,
    common_keys,
)
from penstock.pipeline.connect.connector_config.overrides import check_overrides, policy_of
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import (
    CONNECTORS,
    PluginInfo,
    PluginKind,
    Plugins,
    UnknownPlugin,
    UnknownVersion,
)
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.worker.errors import BadRequestError

Configs = Mapping[str, str | None]
Values = dict[str, ConfigValue]

CONVERTERS: Final = (
    ClassKey(KEY_CONVERTER, f"{KEY_CONVERTER}.{PLUGIN_VERSION}", PluginKind.CONVERTER),
    ClassKey(VALUE_CONVERTER, f"{VALUE_CONVERTER}.{PLUGIN_VERSION}", PluginKind.CONVERTER),
    ClassKey(HEADER_CONVERTER, f"{HEADER_CONVERTER}.{PLUGIN_VERSION}", PluginKind.HEADER_CONVERTER),
)
OWN_KEYS: Final = {PluginKind.SINK: SINK_KEYS, PluginKind.SOURCE: SOURCE_KEYS}
NULL = "Null value can not be supplied as the configuration value."


class ConfigCheck:
    def __init__(self, plugins: Plugins, settings: ConnectSettings) -> None:
        self._plugins = plugins
        self._settings = settings
        self._policy = policy_of(settings.connector_client_config_override_policy, settings.configs)

    def errors(self, configs: Configs) -> list[str]:
        return all_errors(self.validate(configs))

    def validate(self, configs: Configs) -> dict[str, Any]:
        """Connect's answer: name, error_count, groups, configs. `BadRequestError` where there is no such class."""
        name = configs.get(CONNECTOR_CLASS)
        if name is None:
            raise BadRequestError(f"Connector config {_as_java_prints(configs)} contains no connector type")
        try:
            info = self._plugins.find_connector(name, configs.get(CONNECTOR_VERSION))
        except UnknownVersion as error:
            return self._of_unknown_version(name, configs, error)
        except (ConnectError, ConfigError) as error:
            raise BadRequestError(str(error)) from None
        return self._of_connector(name, info, configs)

    def plugin_config(self, name: str, version: str | None) -> list[dict[str, Any]]:
        """The keys of any plugin, its own first."""
        try:
            info = self._plugins.find_any(name, version)
        except UnknownPlugin:
            raise UnknownPlugin(f"Unknown plugin {name}.") from None
        except UnknownVersion as error:
            raise BadRequestError(str(error)) from None
        except ConfigError:
            raise BadRequestError(f"Invalid version specification: {version}") from None
        keys: ConfigDef = info.cls.config_def
        if info.kind in CONNECTORS:
            base = common_keys(info.version).including(OWN_KEYS[info.kind])
            keys = ConfigDef({key.name: key for key in (*keys, *base)}).including(keys)
        return [key_info(key) for key in keys]

    # --- the parts

    def _of_connector(self, name: str, info: PluginInfo, configs: Configs) -> dict[str, Any]:
        connector: Connector = info.cls()
        keys = self._keys(info, configs)
        values = keys.validate(configs)
        aliased = [key for each in (TRANSFORMATIONS, PREDICATE_CLASSES) for key in class_keys(each, configs)]
        check_classes((*CONVERTERS, *aliased), values, self._plugins)
        values[CONNECTOR_VERSION].recommended_values = list(self._plugins.versions(info.kind, info.name))
        self._apply_rules(info, connector, configs, values)
        converters = list(self._converter_infos(configs, values))
        values |= _own_values(connector, info.cls.config_def, configs)
        _add_nulls(configs, values)
        overrides = list(self._override_infos(info.kind, configs, values))
        return _answer(name, keys.including(info.cls.config_def), values, [*overrides, *converters])

    def _keys(self, info: PluginInfo, configs: Configs) -> ConfigDef:
        newest = self._plugins.find(info.kind, info.name).version
        keys = common_keys(newest, self._worker_converters()).including(OWN_KEYS[info.kind])
        for aliased in (TRANSFORMATIONS, PREDICATE_CLASSES):
            keys = keys.including(alias_keys(aliased, configs, self._plugins))
        return keys.including(creation_keys(configs)) if info.kind is PluginKind.SOURCE else keys

    def _worker_converters(self) -> dict[str, tuple[str | None, str | None]]:
        settings = self._settings
        given = (settings.key_converter, settings.value_converter, settings.header_converter)
        return {
            key.name: self._newest(key.kind, name)
            for key, name in zip(CONVERTERS, given, strict=True)
            if name
        }

    def _newest(self, kind: PluginKind, name: str) -> tuple[str, str | None]:
        try:
            info = self._plugins.find(kind, name)
        except ConnectError:
            return name, None
        return info.name, info.version

    def _apply_rules(self, info: PluginInfo, connector: Any, configs: Configs, values: Values) -> None:
        for key, message in unknown_predicates(configs):
            values.setdefault(key, ConfigValue(key, configs.get(key))).errors.append(message)
        if info.kind is PluginKind.SINK:
            rules.check_sink(configs, values, self._settings.group_id)
        else:
            is_exactly_once = self._settings.exactly_once_source_support == "enabled"
            rules.check_source(configs, values, connector, is_exactly_once)

    def _converter_infos(self, configs: Configs, values: Values) -> Iterator[ConfigInfo]:
        """What the connector's own converters take; the worker's are not its business."""
        for key in (CONVERTERS[2], CONVERTERS[0], CONVERTERS[1]):
            given = configs.get(key.name)
            if given is None or values[key.name].errors or values[key.version_name].errors:
                continue
            info = self._plugins.find(key.kind, given, configs.get(key.version_name))
            prefix = f"{key.name}."
            own = {name[len(prefix) :]: text for name, text in configs.items() if name.startswith(prefix)}
            own.setdefault("converter.type", key.name.partition(".")[0])
            keys: ConfigDef = info.cls.config_def
            for value in keys.validate(own).values():
                yield config_info(value, keys[value.name], prefix)

    def _override_infos(self, kind: PluginKind, configs: Configs, values: Values) -> Iterator[ConfigInfo]:
        """One that a rule has found fault with already is told of once."""
        for value in check_overrides(kind, configs, self._policy):
            if value.name in values:
                values[value.name].errors.extend(value.errors)
            else:
                yield config_info(value, None)

    def _of_unknown_version(self, name: str, configs: Configs, error: UnknownVersion) -> dict[str, Any]:
        info = self._plugins.find_connector(name)
        keys = common_keys(info.version)
        values = keys.validate(configs)
        for key in (CONNECTOR_CLASS, CONNECTOR_VERSION):
            values[key].errors.append(str(error))
        values[CONNECTOR_VERSION].recommended_values = list(error.available_versions)
        _add_nulls(configs, values)
        return _answer(name, keys, values, [])


def _own_values(connector: Connector, keys: ConfigDef, configs: Configs) -> Values:
    values = keys.validate(configs)
    if any(value.errors for value in values.values()):
        return values
    found = connector.validate({name: text for name, text in configs.items() if text is not None})
    for name, errors in found.items():
        values.setdefault(name, ConfigValue(name, configs.get(name))).errors.extend(errors)
    return values


def _add_nulls(configs: Configs, values: Values) -> None:
    for name, text in configs.items():
        if text is None:
            values.setdefault(name, ConfigValue(name)).errors.append(NULL)


def _answer(name: str, keys: ConfigDef, values: Values, more: Iterable[ConfigInfo]) -> dict[str, Any]:
    strangers = [value for value in values.values() if value.name not in keys]
    infos = [config_info(value, None) for value in strangers]
    infos += [config_info(values[key.name], key) for key in keys]
    infos += more
    groups = [each["definition"]["group"] for each in infos if each["definition"] is not None]
    answer = {
        "name": name,
        "error_count": 0,
        "groups": [group for group in dict.fromkeys(groups) if group is not None],
        "configs": infos,
    }
    return {**answer, "error_count": len(all_errors(answer))}


def _as_java_prints(configs: Configs) -> str:
    words = (f"{name}={'null' if text is None else text}" for name, text in configs.items())
    return f"{{{', '.join(words)}}}"
