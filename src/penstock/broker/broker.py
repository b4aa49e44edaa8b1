"""One broker: what its handlers work on, and its life from start to stop."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from penstock.broker.awaited_followers import AwaitedFollowers
from penstock.broker.configs import Configs
from penstock.broker.controller import Controller
from penstock.broker.coordination import Coordination, CoordinationError
from penstock.broker.coordinators import Coordinators
from penstock.broker.deleted_names import DeletedNames
from penstock.broker.elections import Elections
from penstock.broker.features import Features
from penstock.broker.fetch_sessions import FetchSessionCache
from penstock.broker.forwarding import Forwarding
from penstock.broker.image_follower import ImageFollower
from penstock.broker.image_writing import ImageWriter
from penstock.broker.in_sync import InSync
from penstock.broker.leader_balance import LeaderBalance
from penstock.broker.listeners import Listeners
from penstock.broker.log_dir_moves import LogDirMoves
from penstock.broker.log_directories import LogDirectories
from penstock.broker.long_batches import LongBatches
from penstock.broker.maintenance import Maintenance
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.broker.peers import Peers
from penstock.broker.producer_ids import ProducerIds, claim_producer_ids
from penstock.broker.reassigning import Reassigning
from penstock.broker.registration import Registration
from penstock.broker.replication import Following, Replication
from penstock.broker.router import Router, load_handlers
from penstock.broker.throttling import ReplicationThrottles
from penstock.broker.topic_creation import TopicCreation
from penstock.broker.topics import Topics
from penstock.broker.wakeups import Wakeups
from penstock.clock import Clock, SystemClock
from penstock.controller.changes import Changes
from penstock.controller.elections import is_led
from penstock.controller.image import ClusterImage, TopicImage
from penstock.errors import ApiError, StorageError
from penstock.log.fs import FileSystem, RealFileSystem
from penstock.replica.replica_set import ReplicaSet
from penstock.settings.broker import BrokerSettings
from penstock.types import TopicPartition

log = logging.getLogger("penstock.broker")

FETCH_SESSION_EVICTION_MS = 120_000
"""A fetch session that was used within this time keeps its place when all places are taken."""


REGISTER_AGAIN_SECONDS = 0.5
HAND_OVER_SECONDS = 10.0
"""For others to take over what this broker leads, before it stops."""
NEWS_SECONDS = 0.3
"""For clients to hear, in answer to what they send next, that this broker leads no more."""
NO_PARTITIONS: frozenset[int] = frozenset()


class Broker:
    def __init__(
        self,
        settings: BrokerSettings,
        clock: Clock | None = None,
        fs: FileSystem | None = None,
        router: "Callable[[Broker, asyncio.AbstractEventLoop], Router]" = Router,
        *,
        coordination: Callable[[str, int], Coordination] = Coordination,
        peers: Callable[[BrokerSettings, Registration, ClusterImage], Peers] = Peers,
        listeners: Callable[[Router], Listeners] = Listeners,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.clock = clock or SystemClock()
        self.fs = fs or RealFileSystem()
        self.static_settings = settings
        self.wakeups = Wakeups(self.loop)
        self.long_batches = LongBatches(self.loop)
        self.router = router(self, self.loop)
        self.listeners = listeners(self.router)
        self.fetch_sessions = FetchSessionCache(
            settings.max_incremental_fetch_session_cache_slots,
            FETCH_SESSION_EVICTION_MS,
        )
        self.coordination = coordination(settings.zookeeper_connect, settings.zookeeper_session_timeout_ms)
        self.registration = Registration(settings, self.clock, self.coordination)
        self.image_follower = ImageFollower(self.coordination, self.clock)
        self.image = self.image_follower.image
        self.partitions = Partitions(self.image)
        self.controller = Controller(
            self.registration, self.coordination, self.clock, self.image_follower, self._allows_unclean
        )
        self.elections = Elections(self.controller)
        self.leader_balance = LeaderBalance(self.controller, lambda: self.settings)
        self.peers = peers(settings, self.registration, self.image)
        self.forwarding = Forwarding(self.peers, lambda: self.controller.is_active)
        self.awaited_followers = AwaitedFollowers()
        self.throttles = ReplicationThrottles(lambda: self.settings, settings, self.registration, self.clock)
        self.replication = Replication(
            Following(
                self.peers,
                self.registration,
                self.image,
                self.clock,
                lambda: self.settings,
                self.throttles.followers,
            )
        )
        self.in_sync = InSync(
            self.partitions, lambda: self.settings, self.clock, self.coordination, self.image_follower
        )
        self.image_writer = ImageWriter(self.coordination, self.image_follower)
        self.features = Features(self.image, self.image_writer)
        self.producer_ids = ProducerIds(lambda: claim_producer_ids(self.coordination, self.broker_id))
        self.coordinators = Coordinators(self)
        self.long_work = asyncio.Semaphore(1)
        """For one long request at a time, which is read in a thread and may take much memory."""
        self.deleted_names = DeletedNames()
        self._knows_its_topics = False
        self._registering: asyncio.Task[None] | None = None

    @property
    def settings(self) -> BrokerSettings:
        """The settings in force; dynamic changes replace them as a whole."""
        return self.configs.current

    @property
    def broker_id(self) -> int:
        return self.registration.broker_id

    # life

    async def start(self) -> None:
        settings = self.static_settings
        load_handlers()
        self.directories = LogDirectories(self.fs, settings.data_dirs, self.wakeups)
        try:
            await self._start(settings)
        except BaseException:
            await self._give_up()
            raise

    async def _start(self, settings: BrokerSettings) -> None:
        await self.coordination.connect(settings.zookeeper_connection_wait_ms)
        self.image.cluster_id = await self.registration.identify(self.directories.stored_broker_id())
        self.directories.claim(self.broker_id, self.image.cluster_id)
        self.log_dir_moves = LogDirMoves(
            lambda: self.settings, settings, self.clock, self.directories, self.partitions
        )
        self.configs = Configs(settings, self.image, self.broker_id)
        self.topics = Topics(self.controller, self.configs, self.deleted_names)
        self.reassigning = Reassigning(self.controller, self.topics, self._allows_unclean)
        self.controller.on_elected = self.reassigning.look_at_all
        self.topic_creation = TopicCreation(self.topics, self.forwarding, self.image_follower)
        endpoints = await self.listeners.bind(settings)
        self.coordination.on_session_lost(self._on_session_lost)
        await self.registration.check_addresses(endpoints)
        self.registration.whole_since = self.directories.whole_since
        await self._register(endpoints)
        await self.image_follower.start(self)
        self._knows_its_topics = True
        self._retire_what_was_moved_away()
        self.log_dir_moves.resume()
        self.coordinators.start()
        await self.controller.start()
        self.reassigning.start()
        self.maintenance = Maintenance(self)
        self.maintenance.start()
        await self.listeners.serve()

    async def _register(self, endpoints: Mapping[str, tuple[str, int]]) -> None:
        await self.registration.register(endpoints)
        if self.registration.whole_since is not None:
            self.directories.mark_whole_since(self.registration.whole_since)

    async def _give_up(self) -> None:
        await self.listeners.close()
        self._leave_cluster()
        await self.peers.close()
        self.long_batches.close()
        self.directories.release()
        await self.coordination.close()

    def _leave_cluster(self) -> None:
        if self._registering is not None:
            self._registering.cancel()
        self.controller.stop()
        if self._knows_its_topics:
            self.reassigning.stop()
            self.log_dir_moves.close()
        self.in_sync.close()
        self.image_follower.stop()
        self.replication.close()

    async def stop(self) -> None:
        """Has others take over what it leads, serves no more, writes everything out, and leaves the cluster."""
        await self._hand_over()
        await self.listeners.close()
        self._leave_cluster()
        await self.peers.close()
        await self.router.finish_kept()
        self.long_batches.close()
        self.coordinators.close()
        await self.maintenance.stop()
        await self.directories.close(list(self.partitions))
        await self.coordination.close()

    async def _hand_over(self) -> None:
        """A controlled shutdown: what has another replica in sync is led by it before this broker goes."""
        if not (self.settings.controlled_shutdown_enable and self._leads_what_others_could()):
            return
        try:
            async with asyncio.timeout(HAND_OVER_SECONDS):
                await self.image_writer.announce_leaving(*self.registration.leaving())
                await self.image_follower.until(lambda: not self._leads_what_others_could())
            await asyncio.sleep(NEWS_SECONDS)
        except (TimeoutError, CoordinationError) as error:
            log.warning(
                "others do not take over all that this broker leads: %s", error or "no answer in time"
            )

    def _leads_what_others_could(self) -> bool:
        return any(self._can_be_taken_over(partition) for partition in self.partitions)

    def _can_be_taken_over(self, partition: Partition) -> bool:
        brokers, state = self.image.brokers, partition.replica_set
        return partition.leader is not None and any(
            other != self.broker_id and other in brokers and not brokers[other].is_leaving
            for other in state.isr
        )

    def _on_session_lost(self) -> None:
        log.warning("the ZooKeeper session expired; registering broker %d anew", self.broker_id)
        self.controller.resign()
        if self._registering is not None:
            self._registering.cancel()
        self._registering = self.loop.create_task(self._register_again())

    async def _register_again(self) -> None:
        while True:
            try:
                await self._register(self.registration.endpoints)
            except CoordinationError as error:
                log.error("registering anew failed, and is tried again: %s", error)
                await asyncio.sleep(REGISTER_AGAIN_SECONDS)
            else:
                break
        self.image_follower.reload()
        self.controller.campaign()

    @property
    def addresses(self) -> Mapping[str, tuple[str, int]]:
        """What clients connect to, by listener."""
        return self.registration.endpoints

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
        """Hosts the partitions that have a replica here, in the role that the image has for each."""
        hosted = self.partitions.by_name.get(topic.name)
        for index, replica_set in topic.partitions.items():
            partition = hosted.partitions.get(index) if hosted is not None else None
            if self.broker_id in replica_set.replicas:
                partition = partition or self._host(topic, index)
                if partition is not None:
                    self._give_role(partition, replica_set)
            elif partition is not None:
                self._stop_hosting(partition, replica_set)
            elif hosted is not None:
                hosted.unavailable.discard(index)

    def _give_role(self, partition: Partition, replica_set: ReplicaSet) -> None:
        known = partition.replica_set
        is_same_epoch = known.leader_epoch == replica_set.leader_epoch
        if replica_set.leader == self.broker_id and is_led(replica_set, self.image.brokers):
            if partition.leader is not None and is_same_epoch:
                if known != replica_set:
                    partition.on_replica_set(replica_set)
                    self.awaited_followers.on_replica_set(partition)
                return
            self.replication.forget(partition)
            partition.become_leader(replica_set, self.clock.monotonic_ms())
            self.in_sync.look_soon()
            self.awaited_followers.on_leader(partition)
            self.coordinators.on_partition(partition)
            return
        if partition.leader is not None:
            self.coordinators.on_partition_lost(partition)
            partition.become_follower(replica_set)
            self.awaited_followers.on_replica_set(partition)
        elif is_same_epoch and known.leader == replica_set.leader and self.replication.is_followed(partition):
            partition.on_replica_set(replica_set)
            return
        else:
            partition.become_follower(replica_set)
        self.replication.follow(partition)

    def _stop_hosting(self, partition: Partition, replica_set: ReplicaSet) -> None:
        """The replica was moved to other brokers."""
        log.info("%s has no replica here any more", partition.topic_partition)
        if partition.leader is not None:
            self.coordinators.on_partition_lost(partition)
        partition.become_follower(replica_set)
        self.partitions.remove(partition)
        self._delete(partition)

    def _retire_what_was_moved_away(self) -> None:
        """While this broker was down."""
        for directory in self.directories.online:
            for where in sorted(directory.stored):
                topic = self.image.topics.get(where.topic)
                state = None if topic is None else topic.partitions.get(where.partition)
                if topic is not None and state is not None and self.broker_id not in state.replicas:
                    directory.retire_unopened(where, topic.topic_id, self.clock.now_ms())

    def _stop_serving(self, partition: Partition) -> None:
        partition.is_deleted = True
        self.log_dir_moves.give_up(partition)
        self.replication.forget(partition)
        self.awaited_followers.forget(partition)
        self.wakeups.wake(partition)

    def _delete(self, partition: Partition) -> None:
        self._stop_serving(partition)
        if not partition.directory.offline:
            partition.directory.retire(partition, self.clock.now_ms())

    def on_brokers(self) -> None:
        """Leaders may have come back, or have lost the right to lead."""
        if not self._knows_its_topics:
            return
        for partition in list(self.partitions):
            if len(partition.replica_set.replicas) > 1:
                self._give_role(partition, partition.replica_set)
        self.in_sync.look_soon()
        self.controller.look_at_all()
        self.reassigning.look_at_all()

    def on_image(self, changes: Changes | None) -> None:
        if changes is None or changes.broker_configs:
            self.controller.look_at_all()
            self.reassigning.look_at_all()
        else:
            named = changes.topics | changes.states.keys()
            self.controller.look_at(named | changes.topic_configs)
            self.reassigning.look_at(named)

    def _allows_unclean(self, topic: str) -> bool:
        return self.configs.topic_settings(topic).unclean_leader_election_enable

    def _host(self, topic: TopicImage, index: int) -> Partition | None:
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
            return None
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
        return partition

    def on_topic_removed(self, topic: TopicImage) -> Iterator[None]:
        self.deleted_names.on_removed(topic.name)
        partitions = self.partitions.remove_topic(topic.name)
        for partition in partitions:
            self._stop_serving(partition)
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
                if partition.future is not None:
                    partition.future.log.settings = settings

    def on_broker_configs(self) -> None:
        self.configs.reload()
        for name in self.partitions.by_name:
            self.on_topic_configs(name)
        self.replication.on_settings()
