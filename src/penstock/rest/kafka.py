"""What the proxy's requests share: its settings, a connection for administration, a producer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.client import AsyncKafkaProducer
from penstock.errors import ConfigError
from penstock.rest.errors import not_found
from penstock.rest.schemas.payloads import SchemaPayloads
from penstock.rest.settings import RestSettings
from penstock.rest.v2.consumers.instances import ConsumerInstances
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import BrokerUnreachableError

CLOSE_SECONDS = 5.0


class Kafka:
    """The Kafka behind the proxy. `cluster_id` is known from the first answer on; a Kafka has one for life."""

    def __init__(self, settings: RestSettings, cluster: Cluster) -> None:
        self.settings = settings
        self.cluster = cluster
        self.schemas = SchemaPayloads(settings)
        self.consumers = ConsumerInstances(settings)
        self.cluster_id: str | None = None
        self._producer: AsyncKafkaProducer | None = None
        self._closing: set[asyncio.Future[None]] = set()
        self.event_streams = 0
        self.stopping = asyncio.Event()

    @property
    def producer(self) -> AsyncKafkaProducer:
        if self._producer is None:
            self._producer = AsyncKafkaProducer(self.settings.producer_configs)
        return self._producer

    def replace_producer(self) -> AsyncKafkaProducer:
        """Another one, after a fatal error; with that, librdkafka refuses all that follows."""
        if self._producer is not None:
            closing = asyncio.ensure_future(self._producer.close(0))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        self._producer = None
        return self.producer

    async def require_cluster(self, cluster_id: str) -> None:
        """Refuses the id of another cluster."""
        if cluster_id != (self.cluster_id or await self.find_cluster_id()):
            raise not_found(f"Cluster {cluster_id} cannot be found.")

    async def find_cluster_id(self) -> str:
        if self.cluster_id is None:
            found = (await self.cluster.describe()).cluster_id
            if found is None:
                raise BrokerUnreachableError("Kafka does not say its cluster's id")
            self.cluster_id = found
        return self.cluster_id

    async def close(self) -> None:
        await self.consumers.close()
        self.schemas.close()
        if self._producer is not None:
            await self._producer.close(CLOSE_SECONDS)
        await asyncio.gather(*self._closing, return_exceptions=True)


@asynccontextmanager
async def connected_kafka(settings: RestSettings) -> AsyncIterator[Kafka]:
    """Nothing is connected before it is used: Kafka may come later than the proxy."""
    config = ClusterConfig.from_configs(settings.admin_configs)
    if not config.bootstrap:
        raise ConfigError("bootstrap.servers: is empty; give it as host:port[,host:port...]")
    async with asyncio_cluster(config) as cluster:
        kafka = Kafka(settings, cluster)
        try:
            yield kafka
        finally:
            await kafka.close()
