"""A connector's own object on the worker that runs it: started, asked for its tasks' configs, and stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.connector import Connector
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import PluginInfo, PluginKind, Plugins
from penstock.pipeline.connect.worker.daemon_call import call_in_thread

log = logging.getLogger("penstock.connect.worker")

TASKS_MAX, TASKS_MAX_ENFORCE = "tasks.max", "tasks.max.enforce"
COPIED_TO_TASKS = ("topics", "topics.regex")


class Context:
    """What the connector may ask of its worker, from any thread."""

    def __init__(
        self,
        name: str,
        loop: asyncio.AbstractEventLoop,
        on_reconfiguration: Callable[[], None],
        on_error: Callable[[Exception], None],
    ) -> None:
        self.connector_name = name
        self._loop = loop
        self._on_reconfiguration = on_reconfiguration
        self._on_error = on_error
        self._is_closed = False

    def request_task_reconfiguration(self) -> None:
        self._tell(self._on_reconfiguration)

    def raise_error(self, error: Exception) -> None:
        self._tell(self._on_error, error)

    def close(self) -> None:
        """What a stopped connector still says is not heard."""
        self._is_closed = True

    def _tell(self, function: Callable[..., None], *arguments: Any) -> None:
        if not self._is_closed:
            self._loop.call_soon_threadsafe(self._heard, function, *arguments)

    def _heard(self, function: Callable[..., None], *arguments: Any) -> None:
        if not self._is_closed:
            function(*arguments)


class ConnectorInstance:
    def __init__(self, name: str, plugin: PluginInfo, configs: Mapping[str, str], context: Context) -> None:
        self.name = name
        self.plugin = plugin
        self.configs = configs
        self._context = context
        self._connector: Connector = plugin.cls()
        self._connector.context = context

    @property
    def kind(self) -> Literal["source", "sink"]:
        return "sink" if self.plugin.kind is PluginKind.SINK else "source"

    @property
    def task_class(self) -> str:
        found = self._connector.task_class  # type: ignore[attr-defined]
        return f"{found.__module__}:{found.__qualname__}"

    async def start(self) -> None:
        await call_in_thread(f"connector-{self.name}", self._connector.start, dict(self.configs))

    async def task_configs(self) -> list[dict[str, str]]:
        """With what every task gets; ConnectError if there are more than there may be."""
        most = max_tasks(self.configs)
        made = await call_in_thread(f"connector-{self.name}", self._connector.task_configs, most)
        if len(made) > most:
            self._on_too_many(len(made), most)
        common = {key: self.configs[key] for key in COPIED_TO_TASKS if key in self.configs}
        return [{"task.class": self.task_class, **_texts(each), **common} for each in made]

    def _on_too_many(self, count: int, most: int) -> None:
        message = (
            f"The connector {self.name} has generated {count} tasks, which is greater than {most}, "
            f"the maximum number of tasks it is configured to create. "
        )
        if self.configs.get(TASKS_MAX_ENFORCE, "true").strip().lower() == "true":
            raise ConnectError(
                f"{message}This behaviour should be considered a bug and is disallowed. If necessary, it can be "
                f"permitted by reconfiguring the connector with '{TASKS_MAX_ENFORCE}' set to false; however, this "
                f"option will be removed in a future release of Kafka Connect."
            )
        log.warning("%sThis behaviour should be considered a bug.", message)

    async def stop(self, timeout_ms: int) -> None:
        """A connector that does not stop in time, or raises, is left to itself."""
        self._context.close()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await call_in_thread(f"connector-{self.name}", self._connector.stop)
        except TimeoutError:
            log.error("connector %s does not stop in %d ms; it is left to itself", self.name, timeout_ms)
        except Exception:
            log.exception("connector %s failed while it was stopped", self.name)


def make_instance(
    name: str, plugins: Plugins, configs: Mapping[str, str], context: Context
) -> ConnectorInstance:
    """Loads the connector's class: ConnectError or ConfigError if it is not there."""
    class_name = configs.get("connector.class")
    if not class_name:
        raise ConfigError('Missing required configuration "connector.class" which has no default value.')
    plugin = plugins.find_connector(class_name, configs.get("connector.plugin.version"))
    return ConnectorInstance(name, plugin, configs, context)


def max_tasks(configs: Mapping[str, str]) -> int:
    text = configs.get(TASKS_MAX, "1").strip()
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"Invalid value {text} for configuration {TASKS_MAX}: Value must be at least 1")
    return int(text)


def _texts(configs: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in configs.items() if value is not None}
