"""Keys that other keys bring: `transforms=a` brings `transforms.a.type` and what that class takes; likewise predicates
and groups of topics that a source makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    Importance,
    Validator,
    Width,
    invalid,
)
from penstock.pipeline.connect.connector_config.common import (
    PLUGIN_VERSION,
    PREDICATES,
    PREDICATES_GROUP,
    TOPIC_CREATION,
    TOPIC_CREATION_GROUP,
    TOPIC_CREATION_GROUPS,
    TRANSFORMS,
    TRANSFORMS_GROUP,
)
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import PluginKind, Plugins

Configs = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Aliased:
    """A list of aliases, each with a class of this kind."""

    key: str
    group: str
    kind: PluginKind
    implicit: ConfigDef


TRANSFORMATIONS: Final = Aliased(
    TRANSFORMS,
    TRANSFORMS_GROUP,
    PluginKind.TRANSFORMATION,
    ConfigDef()
    .define("predicate", ConfigType.STRING, None, doc="The alias of a predicate: only records it holds for.")
    .define("negate", ConfigType.BOOLEAN, False, doc="Only records that the predicate does not hold for."),
)
PREDICATE_CLASSES: Final = Aliased(PREDICATES, PREDICATES_GROUP, PluginKind.PREDICATE, ConfigDef())


@dataclass(frozen=True, slots=True)
class ClassKey:
    """A key that names a class, and the one for its version."""

    name: str
    version_name: str
    kind: PluginKind


def aliases_in(configs: Configs, key: str) -> list[str]:
    words = [word.strip() for word in (configs.get(key) or "").split(",")]
    return [word for word in dict.fromkeys(words) if word]


def class_keys(aliased: Aliased, configs: Configs) -> Iterator[ClassKey]:
    for alias in aliases_in(configs, aliased.key):
        prefix = f"{aliased.key}.{alias}."
        yield ClassKey(f"{prefix}type", prefix + PLUGIN_VERSION, aliased.kind)


def alias_keys(aliased: Aliased, configs: Configs, plugins: Plugins) -> ConfigDef:
    keys = ConfigDef()
    for alias in aliases_in(configs, aliased.key):
        prefix, group = f"{aliased.key}.{alias}.", f"{aliased.group}: {alias}"
        what = aliased.kind.value
        found = _config_of(aliased.kind, configs, prefix, plugins)
        form: dict[str, Any] = {"importance": Importance.HIGH, "group": group, "width": Width.LONG}
        keys.define(
            f"{prefix}type",
            ConfigType.CLASS,
            validator=_negate_needs_a_predicate(prefix, configs),
            order_in_group=0,
            display_name=f"{what.capitalize()} type for {alias}",
            doc=f"The class of the {what} '{alias}'.",
            **form,
        )
        keys.define(
            prefix + PLUGIN_VERSION,
            ConfigType.STRING,
            found[0] if found else None,
            order_in_group=1,
            display_name=f"{what.capitalize()} version for {alias}",
            doc=f"The version of the {what} '{alias}'.",
            **form,
        )
        if found:
            own = found[1].including(aliased.implicit)
            keys = keys.including(embedded(own, prefix, group, first=2))
    return keys


def _config_of(
    kind: PluginKind, configs: Configs, prefix: str, plugins: Plugins
) -> tuple[str, ConfigDef] | None:
    """Version and keys of the class; None where there is no such class, which is told elsewhere."""
    try:
        info = plugins.find(kind, configs.get(f"{prefix}type") or "", configs.get(prefix + PLUGIN_VERSION))
    except (ConnectError, ConfigError):
        return None
    return info.version, info.cls.config_def


def _negate_needs_a_predicate(prefix: str, configs: Configs) -> Validator:
    def check(name: str, value: Any) -> None:
        if f"{prefix}negate" in configs and f"{prefix}predicate" not in configs:
            raise ConfigError(
                f"Config '{prefix}negate' was provided but there is no config '{prefix}predicate' "
                "defining a predicate to be negated."
            )

    return check


def unknown_predicates(configs: Configs) -> Iterator[tuple[str, str]]:
    """Keys that name a predicate which is not there, and why not."""
    known = aliases_in(configs, PREDICATES)
    for alias in aliases_in(configs, TRANSFORMS):
        key = f"{TRANSFORMS}.{alias}.predicate"
        named = configs.get(key)
        if named is not None and named.strip() not in known:
            yield (
                key,
                str(invalid(key, named, f"No such alias in {PREDICATES} ({', '.join(known) or 'empty'})")),
            )


# --- topics that a source makes


def creation_keys(configs: Configs) -> ConfigDef:
    """None unless the connector has settings of the default group, or groups."""
    keys = ConfigDef()
    if not any(name.startswith(TOPIC_CREATION) for name in configs):
        return keys
    groups = [each for each in aliases_in(configs, TOPIC_CREATION_GROUPS) if each != "default"]
    for group in ("default", *groups):
        own = _creation_group(group)
        keys = keys.including(embedded(own, f"{TOPIC_CREATION}{group}.", f"{TOPIC_CREATION_GROUP}: {group}"))
    return keys


def _creation_group(group: str) -> ConfigDef:
    is_default = group == "default"
    needed: dict[str, Any] = {} if is_default else {"default": None}
    form: dict[str, Any] = {"importance": Importance.LOW, "width": Width.LONG}
    return (
        ConfigDef()
        .define(
            "include",
            ConfigType.LIST,
            [".*"] if is_default else [],
            validator=_regular_expressions,
            order_in_group=1,
            display_name=f"Inclusion Topic Pattern for {group}",
            doc="Regular expressions for names of topics that this group is for.",
            **form,
        )
        .define(
            "exclude",
            ConfigType.LIST,
            [],
            validator=_regular_expressions,
            order_in_group=2,
            display_name=f"Exclusion Topic Pattern for {group}",
            doc="Regular expressions for names of topics that it is not for, even if they are included.",
            **form,
        )
        .define(
            "replication.factor",
            ConfigType.SHORT,
            **needed,
            validator=_positive_or_default(
                "Replication factor must be positive and not larger than the number of brokers in the Kafka "
                "cluster, or -1 to use the broker's default"
            ),
            order_in_group=3,
            display_name=f"Replication Factor for Topics in {group}",
            doc="Replicas of such topics; -1 for the brokers' default. The default group needs it.",
            **form,
        )
        .define(
            "partitions",
            ConfigType.INT,
            **needed,
            validator=_positive_or_default(
                "Number of partitions must be positive, or -1 to use the broker's default"
            ),
            order_in_group=4,
            display_name=f"Partition Count for Topics in {group}",
            doc="Partitions of such topics; -1 for the brokers' default. The default group needs it.",
            **form,
        )
    )


def _positive_or_default(words: str) -> Validator:
    def check(name: str, value: Any) -> None:
        if value is not None and value != -1 and value < 1:
            raise invalid(name, value, words)

    return check


def _regular_expressions(name: str, value: Any) -> None:
    for each in value or ():
        try:
            re.compile(each)
        except re.error as error:
            raise invalid(name, value, f"Syntax error in regular expression: {error}") from None


# --- keys of one definition within another


def embedded(keys: ConfigDef, prefix: str, group: str, first: int = 0) -> ConfigDef:
    """The same keys with `prefix`, in the order in which Connect shows them."""
    ordered = sorted(keys, key=_place(keys))
    return ConfigDef(
        {
            prefix + key.name: replace(
                key,
                name=prefix + key.name,
                validator=_without_prefix(prefix, key.validator),
                group=group if key.group is None else f"{group}: {key.group}",
                order_in_group=first + number,
                dependents=tuple(prefix + each for each in key.dependents),
            )
            for number, key in enumerate(ordered)
        }
    )


def _place(keys: ConfigDef) -> Any:
    groups = list(dict.fromkeys(key.group for key in keys if key.group is not None))
    importances = list(Importance)

    def place(key: ConfigKey) -> tuple[int, int, bool, int, str]:
        group = -1 if key.group is None else groups.index(key.group)
        return (
            group,
            key.order_in_group,
            not key.is_required,
            importances.index(key.importance),
            key.name,
        )

    return place


def _without_prefix(prefix: str, validator: Validator | None) -> Validator | None:
    if validator is None:
        return None
    return lambda name, value: validator(name.removeprefix(prefix), value)
