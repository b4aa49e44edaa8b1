"""The converters and transforms of a task, made of its configuration; each with the name that errors are told by."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.converter import Converter, HeaderConverter
from penstock.pipeline.connect.api.task import SinkTask, SourceTask
from penstock.pipeline.connect.plugins import PluginKind, Plugins
from penstock.pipeline.connect.tasks.work import TaskWork
from penstock.pipeline.connect.transforms.chain import TransformChain

log = logging.getLogger("penstock.connect.tasks")

SIMPLE_HEADER_CONVERTER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"


@dataclass(frozen=True, slots=True)
class Stages:
    key: Converter
    value: Converter
    header: HeaderConverter
    transforms: TransformChain[Any]
    key_name: str
    value_name: str
    header_name: str

    @property
    def transform_name(self) -> str:
        """The transform that failed last, or all of them."""
        return getattr(self.transforms, "failed_name", None) or type(self.transforms).__name__

    def close(self) -> None:
        for each in (self.transforms, self.key, self.value, self.header):
            each.close()


def stop_quietly(task: SourceTask | SinkTask) -> None:
    """Also one that could not start: what is wrong then was said already."""
    try:
        task.stop()
    except Exception as error:
        log.warning("stop: %s: %s", type(error).__name__, error)


def make_stages(work: TaskWork, plugins: Plugins) -> Stages:
    key, key_name = _converter(work, plugins, "key.converter")
    value, value_name = _converter(work, plugins, "value.converter")
    header, header_name = _header_converter(work, plugins)
    transforms: TransformChain[Any] = TransformChain.from_configs(work.connector_configs, plugins)
    return Stages(key, value, header, transforms, key_name, value_name, header_name)


def _converter(work: TaskWork, plugins: Plugins, setting: str) -> tuple[Converter, str]:
    name, version, configs = _named(work, setting)
    if name is None:
        raise ConfigError(f'Missing required configuration "{setting}" which has no default value.')
    found = plugins.find(PluginKind.CONVERTER, name, version)
    converter: Converter = found.cls()
    kind = setting.partition(".")[0]
    converter.configure({**configs, "converter.type": kind}, kind == "key")
    return converter, found.name


def _header_converter(work: TaskWork, plugins: Plugins) -> tuple[HeaderConverter, str]:
    name, version, configs = _named(work, "header.converter")
    found = plugins.find(PluginKind.HEADER_CONVERTER, name or SIMPLE_HEADER_CONVERTER, version)
    converter: Any = found.cls()
    if isinstance(converter, Converter):
        converter.configure({**configs, "converter.type": "header"}, False)
    else:
        converter.configure({**configs, "converter.type": "header"})
    return converter, found.name


def _named(work: TaskWork, setting: str) -> tuple[str | None, str | None, Mapping[str, str]]:
    """The class, the version that is asked for and the settings: the connector's own, or all of the worker's."""
    configs = work.connector_configs if work.connector_configs.get(setting) else work.worker_configs
    prefix = f"{setting}."
    own = {name.removeprefix(prefix): value for name, value in configs.items() if name.startswith(prefix)}
    return configs.get(setting) or None, own.pop("plugin.version", None), own
