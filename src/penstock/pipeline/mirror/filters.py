"""Which topics and groups are mirrored, and which settings of topics."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, invalid, one_of
from penstock.pipeline.connect.data.java_regex import PatternError, compile_java

FROM_SOURCE, FROM_TARGET = "source", "target"
UNSYNCED_PROPERTIES: Final = (
    *("follower.replication.throttled.replicas", "leader.replication.throttled.replicas"),
    *("message.timestamp.difference.max.ms", "log.message.timestamp.before.max.ms"),
    *("log.message.timestamp.after.max.ms", "message.timestamp.type"),
    *("unclean.leader.election.enable", "min.insync.replicas"),
)


def _any_of(patterns: Sequence[str]) -> re.Pattern[str] | None:
    """A comma in a regex has divided it; as in MirrorMaker 2, it is put together again as an alternative."""
    return compile_java("|".join(patterns)) if patterns else None


def check_patterns(name: str, value: Sequence[str]) -> None:
    try:
        _any_of(value)
    except PatternError as error:
        raise invalid(name, list(value), f"Invalid regex: {str(error).splitlines()[0]}") from None


def _patterns(name: str, default: str, doc: str) -> ConfigDef:
    return ConfigDef().define(
        name, ConfigType.LIST, default, importance=Importance.HIGH, validator=check_patterns, doc=doc
    )


TOPIC_KEYS: Final = _patterns("topics", ".*", "Topics to mirror: names and regexes.").including(
    _patterns(
        "topics.exclude",
        r"mm2.*\.internal, .*\.replica, __.*",
        "Topics not to mirror: names and regexes. They win over those to mirror.",
    )
)
GROUP_KEYS: Final = _patterns("groups", ".*", "Consumer groups whose offsets are translated.").including(
    _patterns(
        "groups.exclude",
        "console-consumer-.*, connect-.*, __.*",
        "Consumer groups whose offsets are not. They win over the others.",
    )
)
PROPERTY_KEYS: Final = _patterns(
    "config.properties.exclude",
    ", ".join(UNSYNCED_PROPERTIES),
    "Settings of topics that copies do not take over: names and regexes.",
).define(
    "use.defaults.from",
    ConfigType.STRING,
    FROM_TARGET,
    validator=one_of(FROM_SOURCE, FROM_TARGET),
    doc="Whose defaults hold for a topic's settings that the source has not set: the source's or the target's.",
)


class NameFilter:
    """Names that one of `include` matches as a whole, and none of `exclude` does."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include, self._exclude = _any_of(include), _any_of(exclude)

    def takes(self, name: str) -> bool:
        return _matches(self._include, name) and not _matches(self._exclude, name)


def _matches(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is not None and pattern.fullmatch(name) is not None


def topic_filter(configs: Mapping[str, Any]) -> NameFilter:
    parsed = TOPIC_KEYS.parse(configs)
    return NameFilter(parsed["topics"], parsed["topics.exclude"])


def group_filter(configs: Mapping[str, Any]) -> NameFilter:
    parsed = GROUP_KEYS.parse(configs)
    return NameFilter(parsed["groups"], parsed["groups.exclude"])


class PropertyFilter:
    def __init__(self, configs: Mapping[str, Any]) -> None:
        parsed = PROPERTY_KEYS.parse(configs)
        self._excluded = NameFilter(parsed["config.properties.exclude"], ())
        self.takes_source_defaults = parsed["use.defaults.from"] == FROM_SOURCE

    def takes(self, name: str) -> bool:
        return not self._excluded.takes(name)
