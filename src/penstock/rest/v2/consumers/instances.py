"""All consumer instances of the proxy: made, found, and closed when nobody has used them for a while."""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import AsyncExitStack

from penstock.rest.settings import RestSettings
from penstock.rest.v2.consumers.errors import already_exists, instance_not_found, too_many_instances
from penstock.rest.v2.consumers.instance import ConsumerInstance
from penstock.rest.v2.consumers.instance_config import InstanceConfig
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster

log = logging.getLogger("penstock.rest.consumers")

CLOSE_SECONDS = 5.0
LONGEST_NAP_SECONDS = 1.0


class ConsumerInstances:
    def __init__(self, settings: RestSettings) -> None:
        self._settings = settings
        self._instances: dict[tuple[str, str], ConsumerInstance] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._stack = AsyncExitStack()
        self._asking: Cluster | None = None
        self._sweeper: asyncio.Task[None] | None = None

    async def create(self, group: str, config: InstanceConfig) -> ConsumerInstance:
        name = config.name or self._made_up_name()
        cluster_config = ClusterConfig.from_configs(self._settings.consumer_configs)
        if self._asking is None:
            self._asking = await self._stack.enter_async_context(asyncio_cluster(cluster_config))
            self._sweeper = asyncio.create_task(self._sweep())
        if (group, name) in self._instances:
            raise already_exists()
        if len(self._instances) >= self._settings.consumer_instances_max:
            raise too_many_instances()
        instance = ConsumerInstance(group, name, config, self._asking, cluster_config)
        self._instances[group, name] = instance
        return instance

    def _made_up_name(self) -> str:
        own = f"{self._settings.id}-" if self._settings.id else ""
        return f"rest-consumer-{own}{uuid.uuid4()}"

    def find(self, group: str, name: str) -> ConsumerInstance:
        instance = self._instances.get((group, name))
        if instance is None:
            raise instance_not_found()
        return instance

    async def delete(self, group: str, name: str) -> None:
        instance = self.find(group, name)
        del self._instances[group, name]
        await instance.close(all_processed=True)

    async def _sweep(self) -> None:
        longest = self._settings.consumer_instance_timeout_ms / 1000
        while True:
            await asyncio.sleep(min(LONGEST_NAP_SECONDS, longest / 4))
            for key, instance in list(self._instances.items()):
                if instance.idle_seconds() >= longest:
                    log.info("group %s: instance %s was not used for %g s and is closed", *key, longest)
                    del self._instances[key]
                    self._close_later(instance)

    def _close_later(self, instance: ConsumerInstance) -> None:
        task = asyncio.create_task(instance.close(all_processed=False))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """All of them at once; Kafka finds out by itself about one that cannot say goodbye in time."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for instance in self._instances.values():
            self._close_later(instance)
        self._instances.clear()
        if self._closing:
            _, late = await asyncio.wait(self._closing, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
        await self._stack.aclose()
