"""The broker's place in the cluster: its registration, the controller's work, and the image of it all.

What the cluster is stands in ZooKeeper, in Kafka's classic layout. A change is written there first, in a
transaction where it concerns several nodes, and applied to the image (and by the broker to its partitions) when
ZooKeeper has it. The broker that holds `/controller` decides about topics; with one broker that is this one.
"""

import asyncio
import base64
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeVar

from penstock.broker.coordination import (
    Coordination,
    CoordinationError,
    Create,
    MalformedNode,
    NodeExists,
    NoNode,
    Operation,
    VersionConflict,
    check_sizes,
)
from penstock.broker.coordination import Set as SetNode
from penstock.broker.loading_progress import LoadingProgress
from penstock.clock import Clock
from penstock.controller import topics as decide
from penstock.controller import znodes
from penstock.controller.features import FIRST_FEATURES
from penstock.controller.image import BrokerImage, ClusterImage, TopicImage
from penstock.errors import ConfigError
from penstock.replica.leader import ReplicaSet
from penstock.settings.broker import BrokerSettings

log = logging.getLogger("penstock.broker.cluster")

PRODUCER_ID_BLOCK = 1000
REGISTRATION_ATTEMPTS = 3
TOPICS_AT_ONCE = 200
"""That are asked for at a start: enough to keep ZooKeeper busy, few enough to see how far it has come."""
PARTITIONS_AT_ONCE = 50
"""Opening their logs, or putting them aside, keeps the event loop for some twentieth of a second."""
SHOWN_BYTES = 100
"""Of a malformed node."""

DecodedT = TypeVar("DecodedT")


class Listener(Protocol):
    """Who hosts partitions and hears of every change to the image."""

    def on_partitions(self, topic: TopicImage) -> None:
        """Some partitions of a topic that is about to come, or to grow."""

    def on_topic(self, topic: TopicImage) -> None: ...

    def on_topic_removed(self, topic: TopicImage) -> Iterator[None]:
        """Serves it no more; its files are put aside, one partition in each step of what is returned."""

    def on_topic_configs(self, topic: str) -> None: ...

    def on_broker_configs(self) -> None: ...


class Cluster:
    def __init__(self, settings: BrokerSettings, clock: Clock, coordination: Coordination) -> None:
        self.settings = settings
        self.clock = clock
        self.coordination = coordination
        self.image = ClusterImage()
        self.broker_id = settings.broker_id
        self.controller_epoch = 0
        self._rejoin: asyncio.Task[None] | None = None
        self._election: asyncio.Task[None] | None = None

    # joining

    async def identify(self, stored_broker_id: int | None) -> None:
        """Makes sure of the layout, the cluster's id and this broker's id."""
        await asyncio.gather(*(self._ensure(path) for path in znodes.PERSISTENT_PATHS))
        self.image.cluster_id = await self._cluster_id()
        if self.broker_id < 0:
            if stored_broker_id is None and not self.settings.broker_id_generation_enable:
                raise ConfigError(f"broker.id: got {self.broker_id}; takes a number from 0 on")
            self.broker_id = stored_broker_id if stored_broker_id is not None else await self._generate_id()

    async def join(self, endpoints: Mapping[str, tuple[str, int]], listener: Listener) -> None:
        """Registers the broker under the addresses that clients are to use and takes part from now on."""
        self.endpoints = dict(endpoints)
        self.listener = listener
        self.coordination.on_session_lost(self._on_session_lost)
        await self._register()
        await self._elect_controller()
        await self._finish_deletions()
        await self._load_brokers()
        await self.load_features()
        await self._load_configs()
        await self._load_topics()

    def _on_session_lost(self) -> None:
        log.warning("the ZooKeeper session expired; registering broker %d anew", self.broker_id)
        self._rejoin = asyncio.get_running_loop().create_task(self._join_again())

    async def _join_again(self) -> None:
        try:
            await self._register()
            await self._elect_controller()
            await self._load_brokers()
        except CoordinationError as error:
            log.error("registering anew failed, and is tried again with the next session: %s", error)

    async def leave(self) -> None:
        for task in (self._rejoin, self._election):
            if task is not None:
                task.cancel()
        await self.coordination.close()

    async def _ensure(self, path: str, data: bytes = b"") -> None:
        try:
            await self.coordination.create(Create(path, data), make_parents=True)
        except NodeExists:
            return

    async def _cluster_id(self) -> str:
        try:
            node = await self.coordination.get(znodes.CLUSTER_ID)
            return decoded(znodes.CLUSTER_ID, znodes.decode_cluster_id, node.data)
        except NoNode:
            fresh = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
            await self._ensure(znodes.CLUSTER_ID, znodes.encode_cluster_id(fresh))
            return znodes.decode_cluster_id((await self.coordination.get(znodes.CLUSTER_ID)).data)

    async def _generate_id(self) -> int:
        version = await self.coordination.set(znodes.BROKER_SEQUENCE, b"")
        return self.settings.reserved_broker_max_id + version

    async def _register(self) -> None:
        path = znodes.broker_path(self.broker_id)
        data = znodes.encode_broker(
            self.endpoints, self.settings.security_protocols, self.settings.broker_rack, self.clock.now_ms()
        )
        await self._take(path, data, self._is_own_registration)

    async def _elect_controller(self) -> None:
        data = znodes.encode_controller(self.broker_id, self.clock.now_ms())
        try:
            await self._take(
                znodes.CONTROLLER, data, lambda old: znodes.decode_controller(old) == self.broker_id
            )
        except NodeExists:
            await self._watch_controller()
            return
        self.controller_epoch = await self._bump_controller_epoch()
        await self._watch_controller()

    async def _watch_controller(self) -> None:
        """Notes who is controller; if nobody is, this broker tries to be."""
        try:
            node = await self.coordination.get(znodes.CONTROLLER, self._on_controller_changed)
        except NoNode:
            await self._elect_controller()
            return
        self.image.controller_id = decoded(znodes.CONTROLLER, znodes.decode_controller, node.data)

    def _on_controller_changed(self) -> None:
        if self._election is None or self._election.done():
            self._election = asyncio.get_running_loop().create_task(self._elect_again())

    async def _elect_again(self) -> None:
        try:
            await self._watch_controller()
        except CoordinationError as error:
            log.error("%s: who is controller is not known: %s", znodes.CONTROLLER, error)

    async def _take(self, path: str, data: bytes, is_own: "OwnTest") -> None:
        """Creates an ephemeral node; one that an earlier run of this very broker left behind is replaced."""
        for _ in range(REGISTRATION_ATTEMPTS):
            try:
                await self.coordination.create(Create(path, data, ephemeral=True))
                return
            except NodeExists:
                try:
                    node = await self.coordination.get(path)
                    if node.ephemeral_owner == self.coordination.session_id:
                        return
                    if not is_own(node.data):
                        raise
                    log.info("removing %s, left behind by an earlier run of this broker", path)
                    await self.coordination.delete(path, node.version)
                except (NoNode, VersionConflict):
                    continue
        raise NodeExists(f"{path} is taken by another session again and again")

    def _is_own_registration(self, data: bytes) -> bool:
        other = znodes.decode_broker(self.broker_id, data, -1)
        if dict(other.endpoints) == self.endpoints:
            return True
        raise ConfigError(
            f"broker.id: got {self.broker_id}, which a broker at {_addresses(other)} has; takes a number of its own"
        )

    async def _bump_controller_epoch(self) -> int:
        try:
            node = await self.coordination.get(znodes.CONTROLLER_EPOCH)
        except NoNode:
            await self._ensure(znodes.CONTROLLER_EPOCH, b"1")
            return 1
        epoch = int(node.data) + 1
        await self.coordination.set(znodes.CONTROLLER_EPOCH, str(epoch).encode(), node.version)
        return epoch

    # loading

    async def _load_brokers(self) -> None:
        ids = [int(name) for name in await self.coordination.children(znodes.BROKER_IDS)]
        nodes = await asyncio.gather(*(self.coordination.get(znodes.broker_path(i)) for i in ids))
        self.image.brokers = {
            broker_id: decoded(
                znodes.broker_path(broker_id),
                partial(znodes.decode_broker, broker_id, epoch=node.creation_zxid),
                node.data,
            )
            for broker_id, node in zip(ids, nodes, strict=True)
        }

    async def _load_configs(self) -> None:
        names = await self.coordination.children(znodes.CONFIG_BROKERS)
        nodes = await asyncio.gather(*(self.coordination.get(znodes.broker_config_path(n)) for n in names))
        self.image.broker_configs = {
            name: decoded(znodes.broker_config_path(name), znodes.decode_configs, node.data)
            for name, node in zip(names, nodes, strict=True)
        }
        self.listener.on_broker_configs()
        names = await self.coordination.children(znodes.CONFIG_GROUPS)
        nodes = await asyncio.gather(
            *(self.coordination.get(f"{znodes.CONFIG_GROUPS}/{name}") for name in names)
        )
        for name, node in zip(names, nodes, strict=True):
            configs = decoded(f"{znodes.CONFIG_GROUPS}/{name}", znodes.decode_configs, node.data)
            self._apply_group_configs(znodes.group_of_config_node(name), configs)

    async def _load_topics(self) -> None:
        names = await self.coordination.children(znodes.BROKER_TOPICS)
        progress = LoadingProgress(len(names), self.clock)
        turns = asyncio.Semaphore(TOPICS_AT_ONCE)

        async def load(name: str) -> None:
            async with turns:
                await self._load_if_sound(name)
            progress.on_loaded()

        await asyncio.gather(*(load(name) for name in names))

    async def _load_if_sound(self, name: str) -> None:
        """A topic whose nodes make no sense is left alone, for somebody to look at; the others are served."""
        try:
            await self._load_topic(name)
        except MalformedNode as error:
            log.error("topic %s is not served: %s", name, error)

    async def _load_topic(self, name: str) -> None:
        node, configs = await asyncio.gather(
            self.coordination.get(znodes.topic_path(name)), self._topic_configs(name)
        )
        topic_id, assignment = decoded(znodes.topic_path(name), znodes.decode_topic, node.data)
        states = await asyncio.gather(
            *(self._load_state(name, index, replicas) for index, replicas in assignment.items())
        )
        partitions = dict(zip(assignment, states, strict=True))
        await self._elect_leaders(name, partitions)
        self._apply_topic(TopicImage(name, topic_id, partitions), configs)

    async def _topic_configs(self, name: str) -> dict[str, str]:
        try:
            node = await self.coordination.get(znodes.topic_config_path(name))
        except NoNode:
            return {}
        return decoded(znodes.topic_config_path(name), znodes.decode_configs, node.data)

    async def _load_state(self, topic: str, partition: int, replicas: tuple[int, ...]) -> ReplicaSet:
        try:
            path = znodes.state_path(topic, partition)
            node = await self.coordination.get(path)
            return decoded(path, partial(znodes.decode_state, replicas=replicas), node.data)
        except NoNode:  # the creation was interrupted; finish it
            first = decide.decide_first_leader(replicas, list(self.image.brokers))
            await self._ensure(
                znodes.state_path(topic, partition), znodes.encode_state(first, self.controller_epoch)
            )
            return first

    async def _elect_leaders(self, topic: str, partitions: dict[int, ReplicaSet]) -> None:
        live = list(self.image.brokers)
        changed = {i: new for i, old in partitions.items() if (new := decide.decide_leader(old, live))}
        partitions.update(changed)
        await self.coordination.transact(
            SetNode(znodes.state_path(topic, i), znodes.encode_state(new, self.controller_epoch))
            for i, new in changed.items()
        )

    def _apply_topic(self, topic: TopicImage, configs: dict[str, str]) -> None:
        self.image.put_topic(topic, configs)
        self.listener.on_topic(topic)

    # topics

    async def create_topic(
        self, name: str, assignment: Mapping[int, tuple[int, ...]], configs: dict[str, str]
    ) -> TopicImage:
        """Writes a new topic; NodeExists if somebody else was quicker."""
        topic_id = uuid.uuid4().bytes
        operations: list[Operation] = [
            Create(znodes.topic_path(name), znodes.encode_topic(topic_id, assignment)),
            Create(znodes.partitions_path(name)),
        ]
        states = self._first_states(assignment)
        operations += self._create_states(name, states)
        check_sizes([*operations, Create(znodes.topic_config_path(name), znodes.encode_configs(configs))])
        await self._write_topic_configs(name, configs)
        await self.coordination.transact(operations)
        topic = TopicImage(name, topic_id, states)
        await self._host_in_slices(topic, states, configs)
        self._apply_topic(topic, configs)
        return topic

    async def _host_in_slices(
        self, topic: TopicImage, added: Mapping[int, ReplicaSet], configs: dict[str, str]
    ) -> None:
        """Opens the logs of many partitions before the image has them, and lets others be served in between."""
        if len(added) <= PARTITIONS_AT_ONCE:
            return
        self.image.topic_configs[topic.name] = configs
        indexes = list(added)
        for start in range(0, len(indexes), PARTITIONS_AT_ONCE):
            part = {index: added[index] for index in indexes[start : start + PARTITIONS_AT_ONCE]}
            self.listener.on_partitions(TopicImage(topic.name, topic.topic_id, part))
            await asyncio.sleep(0)

    async def create_partitions(self, topic: TopicImage, added: Mapping[int, tuple[int, ...]]) -> None:
        states = self._first_states(added)
        merged = {**topic.partitions, **states}
        assignment = {index: replica_set.replicas for index, replica_set in merged.items()}
        operations: list[Operation] = [
            SetNode(znodes.topic_path(topic.name), znodes.encode_topic(topic.topic_id, assignment))
        ]
        await self.coordination.transact(operations + self._create_states(topic.name, states))
        configs = self.image.topic_configs.get(topic.name, {})
        await self._host_in_slices(topic, states, configs)
        self._apply_topic(TopicImage(topic.name, topic.topic_id, merged), configs)

    async def delete_topic(self, topic: TopicImage) -> None:
        """Marks the topic first, so that a deletion that is interrupted goes on at the next start."""
        await self._ensure(f"{znodes.DELETE_TOPICS}/{topic.name}")
        await self._remove_in_slices(topic)
        await self._remove_topic_nodes(topic.name)

    async def _remove_in_slices(self, topic: TopicImage) -> None:
        """Nobody is served from it any more; others are while the files of many partitions are put aside."""
        self.image.remove_topic(topic.name)
        for number, _ in enumerate(self.listener.on_topic_removed(topic), 1):
            if number % PARTITIONS_AT_ONCE == 0:
                await asyncio.sleep(0)

    async def reconcile(self, name: str) -> None:
        """Brings what is known of a topic in line with ZooKeeper, after an answer of it was lost on the way."""
        if name in await self.coordination.children(znodes.DELETE_TOPICS):
            topic = self.image.topics.get(name)
            if topic is not None:
                await self._remove_in_slices(topic)
            await self._remove_topic_nodes(name)
            return
        try:
            await self._load_topic(name)
        except NoNode:
            return

    def _first_states(self, assignment: Mapping[int, tuple[int, ...]]) -> dict[int, ReplicaSet]:
        live = list(self.image.brokers)
        return {i: decide.decide_first_leader(replicas, live) for i, replicas in assignment.items()}

    def _create_states(self, topic: str, states: Mapping[int, ReplicaSet]) -> list[Operation]:
        operations: list[Operation] = []
        for index, replica_set in states.items():
            operations.append(Create(znodes.partition_path(topic, index)))
            operations.append(
                Create(
                    znodes.state_path(topic, index), znodes.encode_state(replica_set, self.controller_epoch)
                )
            )
        return operations

    async def _remove_topic_nodes(self, name: str) -> None:
        await self.coordination.delete_tree(znodes.topic_path(name))
        await self.coordination.delete_tree(znodes.topic_config_path(name))
        await self.coordination.delete_tree(f"{znodes.DELETE_TOPICS}/{name}")

    async def _finish_deletions(self) -> None:
        for name in await self.coordination.children(znodes.DELETE_TOPICS):
            log.info("finishing the deletion of topic %s", name)
            await self._remove_topic_nodes(name)

    # configs

    async def set_topic_configs(self, name: str, configs: dict[str, str]) -> None:
        await self._write_topic_configs(name, configs)
        self.image.topic_configs[name] = configs
        self.listener.on_topic_configs(name)

    async def set_broker_configs(self, name: str, configs: dict[str, str]) -> None:
        await self._put(znodes.broker_config_path(name), znodes.encode_configs(configs))
        self.image.broker_configs[name] = configs
        self.listener.on_broker_configs()

    async def _write_topic_configs(self, name: str, configs: dict[str, str]) -> None:
        await self._put(znodes.topic_config_path(name), znodes.encode_configs(configs))

    async def _put(self, path: str, data: bytes) -> None:
        try:
            await self.coordination.create(Create(path, data))
        except NodeExists:
            await self.coordination.set(path, data)

    async def set_group_configs(self, group_id: str, configs: dict[str, str]) -> None:
        await self._put(znodes.group_config_path(group_id), znodes.encode_configs(configs))
        self._apply_group_configs(group_id, configs)

    def _apply_group_configs(self, group_id: str, configs: dict[str, str]) -> None:
        if configs:
            self.image.group_configs[group_id] = configs
        else:
            self.image.group_configs.pop(group_id, None)

    # features

    async def load_features(self) -> None:
        await self._ensure(znodes.FEATURES, znodes.encode_features(FIRST_FEATURES))
        node = await self.coordination.get(znodes.FEATURES)
        self.image.features = decoded(znodes.FEATURES, znodes.decode_features, node.data)
        self.image.features_epoch = node.version

    async def set_features(self, levels: dict[str, int]) -> None:
        """VersionConflict if somebody else has changed them since they were read."""
        self.image.features_epoch = await self.coordination.set(
            znodes.FEATURES, znodes.encode_features(levels), self.image.features_epoch
        )
        self.image.features = levels

    # producer ids

    async def claim_producer_ids(self) -> range:
        """A block of producer ids that no other broker will ever hand out."""
        while True:
            try:
                node = await self.coordination.get(znodes.PRODUCER_IDS)
            except NoNode:
                await self._ensure(znodes.PRODUCER_IDS, znodes.encode_producer_block(self.broker_id, 0, -1))
                continue
            first = znodes.decode_producer_block(node.data)[1] + 1
            block = range(first, first + PRODUCER_ID_BLOCK)
            data = znodes.encode_producer_block(self.broker_id, block.start, block.stop - 1)
            try:
                await self.coordination.set(znodes.PRODUCER_IDS, data, node.version)
            except VersionConflict:
                continue
            return block

    def live_broker_ids(self) -> Sequence[int]:
        return sorted(self.image.brokers)


def decoded(path: str, decode: Callable[[bytes], DecodedT], data: bytes) -> DecodedT:
    """What a node says; MalformedNode if it says nothing that can be understood."""
    try:
        return decode(data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedNode(f"{path} holds {data[:SHOWN_BYTES]!r}: {type(error).__name__} {error}") from error


class OwnTest(Protocol):
    def __call__(self, data: bytes, /) -> bool: ...


def _addresses(broker: BrokerImage) -> str:
    return ", ".join(f"{host}:{port}" for host, port in broker.endpoints.values())
