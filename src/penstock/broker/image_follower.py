"""Keeps the image of the cluster in line with ZooKeeper.

Each broker reads all of it once, as it starts and when its session was lost. From then on it watches two lists: the
brokers that are registered, and the change nodes (`controller.changes`). A change node is made in the same transaction
as what it is about; so when it is seen, what it names is there to be read, and nothing is overlooked. Reading more
often than needed, or later than somebody else, does no harm: the image only ever becomes what ZooKeeper holds. The
controller keeps the youngest change nodes only; who finds none there that it has seen is behind, and reads all again.

One task reads and applies, in order. Whoever has changed something waits with `applied` until this broker's image has
it.

The host of partitions hears of each change: logs are opened before the image has a topic, and it is gone from the
image before its files are put aside; much of either is done in slices, so that others are served.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from penstock.broker.coordination import Coordination, CoordinationError, MalformedNode, NoNode
from penstock.broker.image_reading import (
    ReadTopic,
    is_consistent,
    read_brokers,
    read_configs,
    read_states,
    read_topic,
)
from penstock.broker.loading_progress import LoadingProgress
from penstock.broker.znode_reading import decoded
from penstock.clock import Clock
from penstock.controller import znodes
from penstock.controller.changes import Changes, decode_changes
from penstock.controller.features import FIRST_FEATURES
from penstock.controller.image import ClusterImage, TopicImage
from penstock.replica.replica_set import ReplicaSet

log = logging.getLogger("penstock.broker.image_follower")

TOPICS_AT_ONCE = 200
"""That are asked for at a start: enough to keep ZooKeeper busy, few enough to see how far it has come."""
TOPICS_OF_STATES_AT_ONCE = 20
PARTITIONS_AT_ONCE = 50
"""Opening their logs, or putting them aside, keeps the event loop for some twentieth of a second."""
RETRY_SECONDS = 0.2
NOTHING_SEEN = -1


class Host(Protocol):
    """Who hosts partitions and hears of every change to the image."""

    def on_partitions(self, topic: TopicImage) -> None:
        """Some partitions of a topic that is about to come or to grow, or whose leaders have changed."""

    def on_topic(self, topic: TopicImage) -> None: ...

    def on_topic_removed(self, topic: TopicImage) -> Iterator[None]:
        """Serves it no more; its files are put aside, one partition in each step of what is returned."""

    def on_topic_configs(self, topic: str) -> None: ...

    def on_broker_configs(self) -> None: ...

    def on_brokers(self) -> None:
        """Brokers came, went, or began to leave."""

    def on_image(self, changes: Changes | None) -> None:
        """All of that is done; None if everything was read."""


class ImageFollower:
    def __init__(self, coordination: Coordination, clock: Clock) -> None:
        self.coordination = coordination
        self.clock = clock
        self.image = ClusterImage()
        self._last = NOTHING_SEEN
        self._waiting: dict[asyncio.Future[None], int] = {}
        self._wanted = Changes()
        self._rereading: list[asyncio.Future[None]] = []
        self._has_news = asyncio.Event()
        self._must_reload = False
        self._watches_changes = False
        self._watches_brokers = False
        self._task: asyncio.Task[None] | None = None
        self._change: asyncio.Future[None] | None = None
        self._is_stopped = False

    async def start(self, host: Host) -> None:
        """Reads everything, then follows."""
        self.host = host
        await self._reload()
        self._task = asyncio.get_running_loop().create_task(self._follow())

    def stop(self) -> None:
        """Nobody waits for news any more, nor will."""
        self._is_stopped = True
        if self._task is not None:
            self._task.cancel()
        for waiting in (*self._waiting, *self._rereading, self._change):
            if waiting is not None:
                waiting.cancel()

    def _new_wait(self) -> "asyncio.Future[None]":
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._is_stopped:
            waiting.cancel()
        return waiting

    def reload(self) -> None:
        """The session was lost: anything may have changed."""
        self._must_reload = True
        self._has_news.set()

    async def applied(self, change_path: str) -> None:
        """Waits until the image has what a change node that was just made is about."""
        sequence = _sequence(change_path)
        if sequence <= self._last:
            return
        waiting = self._new_wait()
        self._waiting[waiting] = sequence
        self._has_news.set()
        try:
            await waiting
        finally:
            self._waiting.pop(waiting, None)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until the image is as asked for."""
        while not condition():
            await self._has_changed()

    def _has_changed(self) -> "asyncio.Future[None]":
        if self._change is None or self._change.done():
            self._change = self._new_wait()
        return asyncio.shield(self._change)

    def _tell(self, changes: Changes | None) -> None:
        self.host.on_image(changes)
        if self._change is not None and not self._change.done():
            self._change.set_result(None)

    def read_again(self, changes: Changes) -> None:
        """For who has reason to believe that the image is behind."""
        self._wanted.add(changes)
        self._has_news.set()

    async def read_now(self, changes: Changes) -> None:
        """For who does not know what became of a change: returns when the image has been read since."""
        reading = self._new_wait()
        self._rereading.append(reading)
        self.read_again(changes)
        await reading

    # following

    async def _follow(self) -> None:
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            try:
                await self._catch_up()
            except CoordinationError as error:
                log.warning("the image of the cluster is behind, and is read again: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
                self._has_news.set()
            except Exception:
                log.exception("the image of the cluster can't be kept; all of it is read again")
                await asyncio.sleep(RETRY_SECONDS)
                self.reload()

    async def _catch_up(self) -> None:
        rereading, self._rereading = self._rereading, []
        try:
            await (self._reload() if self._must_reload else self._read_news())
        except BaseException:
            self._rereading += rereading
            raise
        for reading in rereading:
            if not reading.done():
                reading.set_result(None)

    async def _read_news(self) -> None:
        if not self._watches_brokers:
            await self._load_brokers()
        names = await self._change_nodes()
        if self._has_missed_some(names):
            await self._reload()
            return
        fresh = [name for name in names if _sequence(name) > self._last]
        changes, self._wanted = self._wanted, Changes()
        try:
            for name in fresh:
                changes.add(await self._read_change(name))
            await self._apply(changes)
        except BaseException:
            self._wanted.add(changes)
            raise
        if fresh:
            self._reached(_sequence(fresh[-1]))
        if changes:
            self._tell(changes)

    def _has_missed_some(self, names: list[str]) -> bool:
        """Whether nothing that it has seen is there any more: then others may have been cleared away unseen."""
        return bool(names) and _sequence(names[0]) > self._last

    async def _read_change(self, name: str) -> Changes:
        path = f"{znodes.CHANGES}/{name}"
        try:
            node = await self.coordination.get(path)
        except NoNode:  # cleared away: this broker has fallen far behind
            self._must_reload = True
            self._has_news.set()
            return Changes()
        return decoded(path, decode_changes, node.data)

    def _reached(self, sequence: int) -> None:
        self._last = max(self._last, sequence)
        for waiting, wanted in list(self._waiting.items()):
            if wanted <= self._last and not waiting.done():
                waiting.set_result(None)

    async def _change_nodes(self) -> list[str]:
        watch = None if self._watches_changes else self._on_change_nodes
        self._watches_changes = True
        try:
            return await self.coordination.children(znodes.CHANGES, watch)
        except CoordinationError:
            self._watches_changes = watch is None and self._watches_changes
            raise

    def _on_change_nodes(self) -> None:
        self._watches_changes = False
        self._has_news.set()

    def _on_broker_nodes(self) -> None:
        self._watches_brokers = False
        self._has_news.set()

    # reading everything

    async def _reload(self) -> None:
        self._must_reload = False
        try:
            names = await self._change_nodes()  # first: what is changed later is read again
            await self._load_brokers()
            await self._load_features()
            await self._load_configs()
            await self._load_topics()
        except BaseException:
            self._must_reload = True
            raise
        self._reached(max(map(_sequence, names), default=self._last))
        self._tell(None)

    async def _load_brokers(self) -> None:
        watch = None if self._watches_brokers else self._on_broker_nodes
        self._watches_brokers = True
        try:
            ids = await self.coordination.children(znodes.BROKER_IDS, watch)
            brokers = await read_brokers(self.coordination, ids)
        except CoordinationError:
            self._watches_brokers = False
            raise
        if brokers != self.image.brokers:
            self.image.brokers = brokers
            self.host.on_brokers()

    async def _load_features(self) -> None:
        await self.coordination.ensure(znodes.FEATURES, znodes.encode_features(FIRST_FEATURES))
        node = await self.coordination.get(znodes.FEATURES)
        self.image.features = decoded(znodes.FEATURES, znodes.decode_features, node.data)
        self.image.features_epoch = node.version

    async def _load_configs(self) -> None:
        names = await self.coordination.children(znodes.CONFIG_BROKERS)
        await self._apply_broker_configs(set(names))
        names = await self.coordination.children(znodes.CONFIG_GROUPS)
        await self._apply_group_configs({znodes.group_of_config_node(name) for name in names})

    async def _load_topics(self) -> None:
        names = await self._topics_to_serve()
        for gone in self.image.topics.keys() - set(names):
            await self._remove(gone)
        progress = LoadingProgress(len(names), self.clock)
        turns = asyncio.Semaphore(TOPICS_AT_ONCE)

        async def load(name: str) -> None:
            async with turns:
                await self._apply_topic(name)
            progress.on_loaded()

        await asyncio.gather(*(load(name) for name in names))

    async def _topics_to_serve(self) -> list[str]:
        doomed = set(await self.coordination.children(znodes.DELETE_TOPICS))
        return [name for name in await self.coordination.children(znodes.BROKER_TOPICS) if name not in doomed]

    # applying

    async def _apply(self, changes: Changes) -> None:
        if changes.brokers:
            await self._load_brokers()
        if changes.features:
            await self._load_features()
        if changes.broker_configs:
            await self._apply_broker_configs(changes.broker_configs)
        if changes.group_configs:
            await self._apply_group_configs(changes.group_configs)
        for name in changes.topic_configs - changes.topics:
            await self._apply_topic_configs(name)
        if changes.topics or changes.states:
            doomed = set(await self.coordination.children(znodes.DELETE_TOPICS))
            for name in sorted(changes.topics | changes.states.keys()):
                await self._apply_change_of(name, changes, doomed)
            await self._apply_states(
                {
                    name: changes.states[name]
                    for name in sorted(changes.states.keys() - changes.topics - doomed)
                }
            )

    async def _apply_change_of(self, name: str, changes: Changes, doomed: set[str]) -> None:
        """But for states of partitions that are known."""
        if name in doomed:
            await self._remove(name)
        elif name in changes.topics or not self._are_known(name, changes.states[name]):
            await self._apply_topic(name)

    def _are_known(self, name: str, indexes: set[int]) -> bool:
        topic = self.image.topics.get(name)
        return topic is not None and indexes <= topic.partitions.keys()

    async def _apply_topic(self, name: str) -> None:
        """A topic whose nodes make no sense is left alone, for somebody to look at; the others are served."""
        try:
            read = await read_topic(self.coordination, name)
        except MalformedNode as error:
            log.error("topic %s is not served: %s", name, error)
            return
        known = self.image.topics.get(name)
        if known is not None and (read is None or read.topic.topic_id != known.topic_id):
            await self._remove(name)
        if read is not None:
            await self._put(read)

    async def _put(self, read: ReadTopic) -> None:
        topic, configs = read
        known = self.image.topics.get(topic.name)
        added = topic.partitions.keys() - (known.partitions.keys() if known else set())
        if len(added) > PARTITIONS_AT_ONCE:
            self.image.topic_configs[topic.name] = configs
            await self._host_in_slices(topic, {i: topic.partitions[i] for i in sorted(added)})
        are_configs_new = known is not None and self.image.topic_configs.get(topic.name) != configs
        self.image.put_topic(topic, configs)
        self.host.on_topic(topic)
        if are_configs_new:
            self.host.on_topic_configs(topic.name)

    async def _host_in_slices(self, topic: TopicImage, added: Mapping[int, ReplicaSet]) -> None:
        indexes = list(added)
        for start in range(0, len(indexes), PARTITIONS_AT_ONCE):
            part = {index: added[index] for index in indexes[start : start + PARTITIONS_AT_ONCE]}
            self.host.on_partitions(TopicImage(topic.name, topic.topic_id, part))
            await asyncio.sleep(0)

    async def _remove(self, name: str) -> None:
        topic = self.image.topics.get(name)
        if topic is None:
            return
        self.image.remove_topic(name)
        for number, _ in enumerate(self.host.on_topic_removed(topic), 1):
            if number % PARTITIONS_AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _apply_states(self, changed: Mapping[str, set[int]]) -> None:
        """Of topics that are known. All are read before any is acted on: a broker that has come to lead coordinators'
        topics has much to load, and what else it leads from now on is not to wait for that."""
        turns = asyncio.Semaphore(TOPICS_OF_STATES_AT_ONCE)

        async def read(name: str) -> dict[int, ReplicaSet]:
            known = self.image.topics[name].partitions
            async with turns:
                wanted = {index: known[index].assignment for index in changed[name]}
                return await read_states(self.coordination, name, wanted)

        names = [name for name in changed if self._are_known(name, changed[name])]
        applied = 0
        for name, states in zip(names, await asyncio.gather(*map(read, names)), strict=True):
            if not all(map(is_consistent, states.values())):
                await self._apply_topic(name)
                continue
            topic = self.image.topics[name]
            news = replace(topic, partitions={**topic.partitions, **states})
            self.image.put_topic(news, self.image.topic_configs[name])
            self.host.on_partitions(TopicImage(name, topic.topic_id, states))
            applied += len(states)
            if applied >= PARTITIONS_AT_ONCE:
                applied = 0
                await asyncio.sleep(0)

    async def _apply_topic_configs(self, name: str) -> None:
        configs = await read_configs(self.coordination, znodes.topic_config_path(name))
        if name in self.image.topics:
            self.image.topic_configs[name] = configs
            self.host.on_topic_configs(name)

    async def _apply_broker_configs(self, names: set[str]) -> None:
        for name in names:
            path = znodes.broker_config_path(name)
            self.image.broker_configs[name] = await read_configs(self.coordination, path)
        self.host.on_broker_configs()

    async def _apply_group_configs(self, group_ids: set[str]) -> None:
        for group_id in group_ids:
            configs = await read_configs(self.coordination, znodes.group_config_path(group_id))
            if configs:
                self.image.group_configs[group_id] = configs
            else:
                self.image.group_configs.pop(group_id, None)


def _sequence(name: str) -> int:
    return int(name[-10:])
