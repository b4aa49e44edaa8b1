"""One broker: what its handlers work on, and its life from start to stop."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from penstock.broker.cluster import Cluster
from penstock.broker.configs import Configs
from penstock.broker.coordination import Coordination
from penstock.broker.coordinators import Coordinators
from penstock.broker.features import Features
from penstock.broker.fetch_sessions import FetchSessionCache
from penstock.broker.listeners import Listeners
from penstock.broker.log_directories import LogDirectories
from penstock.broker.long_batches import LongBatches
from penstock.broker.maintenance import Maintenance
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.broker.producer_ids import ProducerIds
from penstock.broker.router import Router, load_handlers
from penstock.broker.topics import Topics
from penstock.broker.wakeups import Wakeups
from penstock.clock import Clock, SystemClock
from penstock.controller.image import ClusterImage, TopicImage
from penstock.errors import ApiError, StorageError
from penstock.log.fs import FileSystem, RealFileSystem
from penstock.settings.broker import BrokerSettings
from penstock.types import TopicPartition

log = logging.getLogger("penstock.broker")

FETCH_SESSION_EVICTION_MS = 120_000
"""A fetch session that was used within this time keeps its place when all places are taken."""


NO_PARTITIONS: frozenset[int] = frozenset()


class Broker:
    def __init__(
        self,
        settings: BrokerSettings,
        clock: Clock | None = None,
        fs: FileSystem | None = None,
        router: "Callable[[Broker, asyncio.AbstractEventLoop], Router]" = Router,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.clock = clock or SystemClock()
        self.fs = fs or RealFileSystem()
        self.static_settings = settings
        self.partitions = Partitions()
        self.wakeups = Wakeups(self.loop)
        self.long_batches = LongBatches(self.loop)
        self.router = router(self, self.loop)
        self.listeners = Listeners(self.router)
        self.fetch_sessions = FetchSessionCache(
            settings.max_incremental_fetch_session_cache_slots,
            FETCH_SESSION_EVICTION_MS,
        )
        self.coordination = Coordination(settings.zookeeper_connect, settings.zookeeper_session_timeout_ms)
        self.cluster = Cluster(settings, self.clock, self.coordination)
        self.features = Features(self.cluster)
        self.producer_ids = ProducerIds(self.cluster.claim_producer_ids)
        self.coordinators = Coordinators(self)
        self.long_work = asyncio.Semaphore(1)
        """For one long request at a time, which is read in a thread and may take much memory."""
        self._knows_its_topics = False

    @property
    def settings(self) -> BrokerSettings:
        """The settings in force; dynamic changes replace them as a whole."""
        return self.configs.current

    @property
    def image(self) -> ClusterImage:
        return self.cluster.image

    @property
    def broker_id(self) -> int:
        return self.cluster.broker_id

    # life

    async def start(self) -> None:
        settings = self.static_settings
        load_handlers()
        self.directories = LogDirectories(self.fs, settings.data_dirs, self.wakeups.wake)
        try:
            await self._start(settings)
        except BaseException:
            await self._give_up()
            raise

    async def _start(self, settings: BrokerSettings) -> None:
        await self.coordination.connect(settings.zookeeper_connection_wait_ms)
        await self.cluster.identify(self.directories.stored_broker_id())
        self.directories.claim(self.cluster.broker_id, self.image.cluster_id)
        self.configs = Configs(settings, self.image, self.broker_id)
        self.topics = Topics(self.cluster, self.configs)
        endpoints = await self.listeners.bind(settings)
        await self.cluster.join(endpoints, self)
        self._knows_its_topics = True
        self.coordinators.start()
        self.maintenance = Maintenance(self)
        self.maintenance.start()
        await self.listeners.serve()

    async def _give_up(self) -> None:
        await self.listeners.close()
        self.long_batches.close()
        self.directories.release()
        await self.coordination.close()

    async def stop(self) -> None:
        """Serves no more, writes everything out, and leaves the cluster."""
        await self.listeners.close()
        await self.router.finish_kept()
        self.long_batches.close()
        self.coordinators.close()
        await self.maintenance.stop()
        await self.directories.close(list(self.partitions))
        await self.cluster.leave()

    @property
    def addresses(self) -> Mapping[str, tuple[str, int]]:
        """What clients connect to, by listener."""
        return self.cluster.endpoints

    def offline_partitions(self, topic: str) -> AbstractSet[int]:
        """Partitions that should be served here, but whose log directory is offline."""
        hosted = self.partitions.by_name.get(topic)
        if hosted is None or len(self.directories.online) == len(self.directories.directories):
            return NO_PARTITIONS
        return hosted.offline()

    # the cluster's news

    def on_topic(self, topic: TopicImage) -> None:
        self.on_partitions(topic)
        self.coordinators.on_topic(topic)

    def on_partitions(self, topic: TopicImage) -> None:
        """Hosts the partitions that have a replica here."""
        hosted = self.partitions.by_name.get(topic.name)
        for index, replica_set in topic.partitions.items():
            if self.broker_id not in replica_set.replicas:
                continue
            if hosted is not None and index in hosted.partitions:
                if hosted.partitions[index].replica_set != replica_set:
                    hosted.partitions[index].become_leader(replica_set)
                continue
            self._host(topic, index)

    def _host(self, topic: TopicImage, index: int) -> None:
        topic_partition = TopicPartition(topic.name, index)
        try:
            opened = self.directories.open_log(
                topic_partition,
                topic.topic_id,
                self.configs.topic_settings(topic.name),
                is_new=self._knows_its_topics,
                now_ms=self.clock.now_ms(),
                producer_expiration_ms=self.settings.producer_id_expiration_ms,
            )
        except (StorageError, ApiError) as error:
            if not self._knows_its_topics:
                self.directories.refuse_if_all_offline()
            log.error("partition %s can't be hosted: %s", topic_partition, error)
            self.partitions.add_unavailable(topic_partition, topic.topic_id)
            return
        partition = Partition(
            topic_partition,
            topic.topic_id,
            self.broker_id,
            topic.partitions[index],
            opened.log,
            opened.directory,
            opened.high_watermark,
        )
        self.partitions.add(partition)
        self.coordinators.on_partition(partition)

    def on_topic_removed(self, topic: TopicImage) -> Iterator[None]:
        partitions = self.partitions.remove_topic(topic.name)
        for partition in partitions:
            partition.is_deleted = True
            self.wakeups.wake(partition)
        self.coordinators.on_topic_removed(topic)
        return self._retire(partitions)

    def _retire(self, partitions: "list[Partition]") -> Iterator[None]:
        for partition in partitions:
            if not partition.directory.offline:
                partition.directory.retire(partition, self.clock.now_ms())
            yield

    def on_topic_configs(self, topic: str) -> None:
        hosted = self.partitions.by_name.get(topic)
        if hosted is not None:
            settings = self.configs.topic_settings(topic)
            for partition in hosted.partitions.values():
                partition.log.settings = settings

    def on_broker_configs(self) -> None:
        self.configs.reload()
        for name in self.partitions.by_name:
            self.on_topic_configs(name)
