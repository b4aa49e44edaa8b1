"""The settings in force: server.properties, what was changed while running, and what each topic overrides."""

import logging
from collections.abc import Mapping

from penstock.controller.image import ClusterImage
from penstock.controller.znodes import DEFAULT_BROKER
from penstock.errors import ApiError, ConfigError, ErrorCode
from penstock.settings.broker import ALL_BROKER_SETTINGS, BrokerSettings
from penstock.settings.describe import (
    BrokerConfigs,
    ConfigEntry,
    describe_broker,
    describe_broker_defaults,
    describe_group,
    describe_topic,
)
from penstock.settings.dynamic import check_dynamic_broker_configs
from penstock.settings.group_config import GroupConfig, GroupConfigs, check_group_configs
from penstock.settings.topic import TOPIC_TABLE, TopicSettings

log = logging.getLogger("penstock.broker.configs")


class Configs:
    def __init__(self, static: BrokerSettings, image: ClusterImage, broker_id: int) -> None:
        self.static = static
        self.current = static
        self.image = image
        self.broker_id = broker_id
        self.groups = GroupConfigs(image.group_configs, lambda: self.current)
        """The settings of groups that are in force."""
        self._topic_settings: dict[tuple[tuple[str, str], ...], TopicSettings] = {}

    # what is in force

    def broker_configs(self) -> BrokerConfigs:
        dynamic = self.image.broker_configs
        return BrokerConfigs(
            dynamic=dynamic.get(str(self.broker_id), {}),
            dynamic_default=dynamic.get(DEFAULT_BROKER, {}),
            static=self.static.overrides,
        )

    def reload(self) -> None:
        """Puts the broker's settings together anew after a dynamic change.

        The broker that was asked for a change has checked it against its own settings; another one may have some that
        it does not go with.
        """
        try:
            self.current = BrokerSettings.from_configs(self.broker_configs().effective())
        except ConfigError as error:
            log.error(
                "changed settings of brokers do not fit this one, which goes on with those it has: %s", error
            )
        self._topic_settings.clear()

    def topic_settings(self, topic: str) -> TopicSettings:
        return self._settings_of(topic, self.image.topic_configs.get(topic, {}))

    def _settings_of(self, topic: str, overrides: Mapping[str, str]) -> TopicSettings:
        key = tuple(sorted(overrides.items()))
        found = self._topic_settings.get(key)
        if found is None:
            found = self._topic_settings[key] = TopicSettings.from_configs(overrides, self.current, topic)
        return found

    # describing

    def describe_topic(self, topic: str, overrides: Mapping[str, str] | None = None) -> list[ConfigEntry]:
        if overrides is None:
            overrides = self.image.topic_configs.get(topic, {})
        return describe_topic(overrides, self.broker_configs(), self._settings_of(topic, overrides))

    def describe_broker(self, name: str) -> list[ConfigEntry]:
        self.check_broker_name(name)
        return (
            describe_broker(self.broker_configs())
            if name
            else describe_broker_defaults(self.broker_configs())
        )

    def describe_group(self, group_id: str) -> list[ConfigEntry]:
        if not group_id:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
        overrides = self.image.group_configs.get(group_id, {})
        config = GroupConfig.from_configs(overrides, self.current)
        return describe_group(overrides, self.broker_configs(), config)

    def check_broker_name(self, name: str) -> None:
        if name not in ("", str(self.broker_id)):
            raise ApiError(
                ErrorCode.INVALID_REQUEST,
                f"Unexpected broker id, expected {self.broker_id} or empty string, but received {name}",
            )

    # checking changes

    def check_topic(self, topic: str, overrides: Mapping[str, str]) -> None:
        try:
            TopicSettings.from_configs(overrides, self.current, topic)
        except ConfigError as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error

    def check_broker(self, name: str, overrides: Mapping[str, str]) -> None:
        try:
            check_dynamic_broker_configs(overrides, per_broker=bool(name))
            BrokerSettings.from_configs({**self.broker_configs().effective(), **overrides})
        except ConfigError as error:
            raise ApiError(ErrorCode.INVALID_REQUEST, str(error)) from error

    def check_group_name(self, group_id: str) -> None:
        if not group_id:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")

    def check_group(self, overrides: Mapping[str, str]) -> None:
        try:
            check_group_configs(overrides, self.current)
        except ConfigError as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error

    def default_of_topic(self, topic: str, name: str) -> str:
        """The value that a topic has for a setting now, to which a list is appended."""
        value = getattr(self.topic_settings(topic), TOPIC_TABLE[name].attribute)
        return ",".join(value)

    def default_of_broker(self, name: str) -> str:
        configured = self.broker_configs().effective()
        if name in configured:
            return configured[name]
        default = ALL_BROKER_SETTINGS[name].default
        return ",".join(default) if isinstance(default, tuple) else ""
