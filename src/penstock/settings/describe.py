"""What DescribeConfigs answers: each setting with its value, where the value comes from, and its synonyms.

The value comes from the first of: the topic itself, the broker's own dynamic config, the dynamic default of all
brokers, server.properties, the default. The synonyms list all of these that exist, in that order, under the
broker's names. Kafka shows them only from the setting's first synonym on: a topic's `retention.ms` whose
broker sets `log.retention.hours` shows none, and counts as a default. That is kept, since tools rely on it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

from penstock.settings import kinds
from penstock.settings.broker import ALL_BROKER_SETTINGS
from penstock.settings.group_config import GROUP_TABLE, GroupConfig
from penstock.settings.kinds import Kind
from penstock.settings.table import Scope, Setting
from penstock.settings.topic import TOPIC_TABLE, TopicSettings


class ConfigSource(IntEnum):
    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    name: str
    value: str | None
    source: ConfigSource
    read_only: bool
    is_sensitive: bool
    synonyms: tuple[ConfigSynonym, ...]
    kind: Kind | None
    documentation: str


@dataclass(frozen=True, slots=True)
class BrokerConfigs:
    """A broker's configured texts by name, one mapping per source; the first that has a name wins."""

    dynamic: Mapping[str, str] = field(default_factory=dict)
    dynamic_default: Mapping[str, str] = field(default_factory=dict)
    static: Mapping[str, str] = field(default_factory=dict)

    def by_source(self) -> tuple[tuple[ConfigSource, Mapping[str, str]], ...]:
        return (
            (ConfigSource.DYNAMIC_BROKER_CONFIG, self.dynamic),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, self.dynamic_default),
            (ConfigSource.STATIC_BROKER_CONFIG, self.static),
        )

    def effective(self) -> dict[str, str]:
        """The texts that count."""
        return {**self.static, **self.dynamic_default, **self.dynamic}


# The broker's names of one thing, in order of precedence: all the synonyms of a topic's setting. The interval
# of the flush scheduler is a default of log.flush.interval.ms, yet a thing of its own.
_SAME_THING = {
    synonym.name: tuple(each.name for each in one.broker_synonyms)
    for one in TOPIC_TABLE.values()
    for synonym in one.broker_synonyms
    if synonym.name != "log.flush.scheduler.interval.ms"
}


def describe_topic(
    overrides: Mapping[str, str], broker: BrokerConfigs, settings: TopicSettings
) -> list[ConfigEntry]:
    """Every setting of a topic; `settings` are the values that `overrides` and the broker give."""
    return [
        _topic_entry(one, overrides, broker, settings)
        for one in TOPIC_TABLE.values()
        if _is_shown(one, overrides)
    ]


def describe_broker(broker: BrokerConfigs) -> list[ConfigEntry]:
    """Every setting of a broker, and the unknown names of its server.properties."""
    known = [
        _broker_entry(one, broker)
        for one in ALL_BROKER_SETTINGS.values()
        if _is_shown(one, broker.effective())
    ]
    unknown = [name for name in broker.effective() if name not in ALL_BROKER_SETTINGS]
    return known + [_unknown_entry(name, broker) for name in unknown]


def describe_broker_defaults(broker: BrokerConfigs) -> list[ConfigEntry]:
    """What is set for all brokers: the resource of type BROKER without a name."""
    source = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    entries = []
    for name, text in broker.dynamic_default.items():
        one = ALL_BROKER_SETTINGS[name]
        value = None if one.is_sensitive else text
        entries.append(_entry(one, value, [ConfigSynonym(name, value, source)], _is_read_only(one)))
    return entries


def describe_group(
    overrides: Mapping[str, str], broker: BrokerConfigs, config: GroupConfig
) -> list[ConfigEntry]:
    """Every setting of a group; `config` are the values that `overrides` and the broker give."""
    return [_group_entry(one, overrides, broker, config) for one in GROUP_TABLE.values()]


def _group_entry(
    setting: Setting, overrides: Mapping[str, str], broker: BrokerConfigs, config: GroupConfig
) -> ConfigEntry:
    value = kinds.to_text(getattr(config, setting.attribute))
    if setting.broker_synonyms:
        synonyms = _synonyms(ALL_BROKER_SETTINGS[setting.broker_synonyms[0].name], broker)
    else:
        default = kinds.to_text(setting.default)
        synonyms = [ConfigSynonym(setting.name, default, ConfigSource.DEFAULT_CONFIG)]
    if setting.name in overrides:
        synonyms.insert(0, ConfigSynonym(setting.name, value, ConfigSource.GROUP_CONFIG))
    return _entry(setting, value, synonyms, read_only=False)


def _is_shown(setting: Setting, configured: Mapping[str, str]) -> bool:
    return not setting.internal or setting.name in configured


def _topic_entry(
    setting: Setting, overrides: Mapping[str, str], broker: BrokerConfigs, settings: TopicSettings
) -> ConfigEntry:
    value = kinds.to_text(getattr(settings, setting.attribute))
    synonyms = list(_synonyms_of_topic_setting(setting, broker))
    if setting.name in overrides:
        synonyms.insert(0, ConfigSynonym(setting.name, value, ConfigSource.DYNAMIC_TOPIC_CONFIG))
    return _entry(setting, value, synonyms, read_only=False)


def _synonyms_of_topic_setting(setting: Setting, broker: BrokerConfigs) -> list[ConfigSynonym]:
    if not setting.broker_synonyms:
        return []
    return _synonyms(ALL_BROKER_SETTINGS[setting.broker_synonyms[0].name], broker)


def _broker_entry(setting: Setting, broker: BrokerConfigs) -> ConfigEntry:
    text = broker.effective().get(setting.name)
    value = kinds.to_text(setting.default if text is None else kinds.parse(setting.kind, text))
    return _entry(
        setting, None if setting.is_sensitive else value, _synonyms(setting, broker), _is_read_only(setting)
    )


def _unknown_entry(name: str, broker: BrokerConfigs) -> ConfigEntry:
    """Kafka can't know whether an unknown setting is a secret, and takes it for one."""
    hidden = [ConfigSynonym(name, None, source) for source, configs in broker.by_source() if name in configs]
    return replace(_entry(_untyped(name), None, hidden, read_only=True), kind=None)


def _untyped(name: str) -> Setting:
    return Setting(name, Kind.PASSWORD, None, "")


def _synonyms(setting: Setting, broker: BrokerConfigs) -> list[ConfigSynonym]:
    names = _SAME_THING.get(setting.name, (setting.name,))
    found = list(_every_synonym(names, broker, setting.is_sensitive))
    for start, synonym in enumerate(found):
        if synonym.name == setting.name:
            return found[start:]
    return []


def _every_synonym(
    names: tuple[str, ...], broker: BrokerConfigs, is_sensitive: bool
) -> Iterator[ConfigSynonym]:
    for source, configs in broker.by_source():
        for name in names:
            if name in configs:
                yield ConfigSynonym(name, None if is_sensitive else configs[name], source)
    for name in names:
        default = kinds.to_text(ALL_BROKER_SETTINGS[name].default)
        if default is not None:
            yield ConfigSynonym(name, None if is_sensitive else default, ConfigSource.DEFAULT_CONFIG)


def _is_read_only(setting: Setting) -> bool:
    return setting.scope is Scope.READ_ONLY


def _entry(
    setting: Setting, value: str | None, synonyms: list[ConfigSynonym], read_only: bool
) -> ConfigEntry:
    return ConfigEntry(
        name=setting.name,
        value=value,
        source=synonyms[0].source if synonyms else ConfigSource.DEFAULT_CONFIG,
        read_only=read_only,
        is_sensitive=setting.is_sensitive,
        synonyms=tuple(synonyms),
        kind=setting.kind,
        documentation=setting.doc,
    )
