"""Plugins of an installed package, for configurations that name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.pipeline.connect.api import (
    ConfigDef,
    Converter,
    HeaderConverter,
    SinkConnector,
    SinkTask,
    SourceConnector,
    SourceTask,
)
from penstock.pipeline.connect.api.config_def import ConfigType


class PlainConverter(Converter, HeaderConverter):
    version = "2.5"
    config_def = ConfigDef().define("depth", ConfigType.INT, 3, group="Shape")

    def configure(self, configs: Mapping[str, Any], is_key: bool = False) -> None:
        pass


class TideTask(SourceTask):
    pass


class TideConnector(SourceConnector):
    version = "3.1"
    task_class = TideTask
    config_def: ClassVar[ConfigDef] = (
        ConfigDef()
        .define("low", ConfigType.INT)
        .define("high", ConfigType.INT, 9)
        .define("pin", ConfigType.PASSWORD, "")
    )

    def validate(self, configs: Mapping[str, str]) -> dict[str, list[str]]:
        return (
            {"low": ["low must be below high"]} if int(configs["low"]) >= int(configs.get("high", 9)) else {}
        )

    def supports_exactly_once(self, configs: Mapping[str, str]) -> bool:
        return configs["low"] == "1"


class PoolTask(SinkTask):
    pass


class PoolConnector(SinkConnector):
    task_class = PoolTask
