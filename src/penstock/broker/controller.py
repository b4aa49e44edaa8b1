"""The controller: one broker of the cluster, which decides about topics, leaders and settings.

It is whoever holds the ephemeral node `/controller`. Taking it raises the controller's epoch in the same transaction,
and each later write is made on condition that the epoch is still the same: a controller that was replaced while it did
not look can do no harm. Each write also adds a change node, by which all brokers, this one too, hear of it; so the
controller waits for its own image like everybody else, and there is one way in which images change.

What it does by itself depends on the image alone (`controller.elections`): it looks at all partitions when it is
elected and when brokers come and go, and at those that a change names. Doing so again is harmless, which is how it
goes on where another controller was interrupted. A state is written on condition that nobody else has changed it
meanwhile; those that somebody has changed are looked at again with the next change.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping

from penstock.broker.coordination import (
    Check,
    CheckFailed,
    Coordination,
    CoordinationError,
    Create,
    Delete,
    NodeExists,
    NoNode,
    Operation,
    VersionConflict,
)
from penstock.broker.coordination import Set as SetNode
from penstock.broker.image_follower import ImageFollower
from penstock.broker.image_writing import news_of, put_configs
from penstock.broker.registration import Registration
from penstock.broker.znode_reading import decoded
from penstock.clock import Clock
from penstock.controller import znodes
from penstock.controller.changes import Changes, of_states
from penstock.controller.elections import decide_first_leader, decide_leader
from penstock.controller.image import TopicImage
from penstock.replica.replica_set import NO_LEADER, Assignment, ReplicaSet
from penstock.types import TopicPartition

log = logging.getLogger("penstock.broker.controller")

STATES_AT_ONCE = 100
"""In one transaction: more make fewer of them, but one conflict has all written again."""
CLEAR_CHANGES_SECONDS = 10.0
KEPT_CHANGES = 500
"""The youngest change nodes are kept: each change has every broker list them all, so they must be few. Who is further
behind than that sees it, and reads everything."""
RETRY_SECONDS = 0.5
TOLD_STATES = 5
"""In one line of the log."""

States = Mapping[TopicPartition, ReplicaSet]


class NotController(CoordinationError):
    """Another broker decides, or nobody."""


class Controller:
    def __init__(
        self,
        registration: Registration,
        coordination: Coordination,
        clock: Clock,
        follower: ImageFollower,
        allows_unclean: Callable[[str], bool],
    ) -> None:
        self.registration = registration
        self.coordination = coordination
        self.clock = clock
        self.follower = follower
        self.image = follower.image
        self.allows_unclean = allows_unclean
        self.on_elected: Callable[[], None] = lambda: None
        self.epoch = 0
        self._guard: Check | None = None
        self._busy: set[str] = set()
        self._dirty: set[str] = set()
        self._all_dirty = False
        self._has_work = asyncio.Event()
        self._must_campaign = False
        self._campaigning: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def is_active(self) -> bool:
        return self._guard is not None

    # becoming controller

    async def start(self) -> None:
        """Returns when it is known who is controller; if this broker is, all partitions have been looked at."""
        await self._campaign()
        self._tasks = [
            asyncio.create_task(self._work_for_ever()),
            asyncio.create_task(self._clear_changes_for_ever()),
        ]
        while self.is_active and self._all_dirty:
            await self._work()

    def resign(self) -> None:
        """The session is gone, and the node with it."""
        self._guard = None

    def stop(self) -> None:
        for task in (*self._tasks, self._campaigning):
            if task is not None:
                task.cancel()

    def campaign(self) -> None:
        """The session is new, or who was controller may not be any more; that may be news to a campaign under way."""
        self._must_campaign = True
        if self._campaigning is None or self._campaigning.done():
            self._campaigning = asyncio.get_running_loop().create_task(self._campaign_again())

    async def _campaign_again(self) -> None:
        while self._must_campaign:
            self._must_campaign = False
            try:
                await self._campaign()
            except CoordinationError as error:
                log.error("%s: who is controller is not known: %s", znodes.CONTROLLER, error)
                self._must_campaign = True
                await asyncio.sleep(RETRY_SECONDS)

    async def _campaign(self) -> None:
        """Becomes controller if nobody is, and watches who is."""
        holder = None
        while holder is None:
            holder = await self._find_or_take()
        self.image.controller_id = holder
        if holder != self.registration.broker_id:
            self._guard = None

    async def _find_or_take(self) -> int | None:
        """Who holds the node; None if it has to be looked at again."""
        try:
            node = await self.coordination.get(znodes.CONTROLLER, self.campaign)
        except NoNode:
            await self._take()
            return None
        holder = decoded(znodes.CONTROLLER, znodes.decode_controller, node.data)
        is_ours = node.ephemeral_owner == self.coordination.session_id
        if holder != self.registration.broker_id or (is_ours and self.is_active):
            return holder
        log.info("removing %s, left behind by an earlier run of this broker", znodes.CONTROLLER)
        try:
            await self.coordination.delete(znodes.CONTROLLER, node.version)
        except (NoNode, VersionConflict):
            pass
        return None

    async def _take(self) -> None:
        """The node and a new epoch, both or neither."""
        await self.coordination.ensure(znodes.CONTROLLER_EPOCH, b"0")
        stored = await self.coordination.get(znodes.CONTROLLER_EPOCH)
        epoch = decoded(znodes.CONTROLLER_EPOCH, int, stored.data) + 1
        data = znodes.encode_controller(self.registration.broker_id, self.clock.now_ms())
        try:
            await self.coordination.transact(
                [
                    Create(znodes.CONTROLLER, data, ephemeral=True),
                    SetNode(znodes.CONTROLLER_EPOCH, str(epoch).encode(), stored.version),
                ]
            )
        except (NodeExists, VersionConflict):
            return
        log.info("broker %d is the controller, epoch %d", self.registration.broker_id, epoch)
        self.epoch = epoch
        self._guard = Check(znodes.CONTROLLER_EPOCH, stored.version + 1)
        self.look_at_all()
        self.on_elected()

    # what it does by itself

    def look_at_all(self) -> None:
        """Brokers came or went."""
        self._all_dirty = True
        self._has_work.set()

    def look_at(self, topics: Iterable[str]) -> None:
        self._dirty.update(topics)
        self._has_work.set()

    async def _work_for_ever(self) -> None:
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            if not self.is_active:
                continue
            try:
                await self._work()
            except NotController:
                log.warning("broker %d is no longer the controller", self.registration.broker_id)
            except CoordinationError as error:
                log.warning("the controller tries again: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
                self.look_at_all()
            except Exception:
                log.exception("the controller failed, and begins again")
                await asyncio.sleep(RETRY_SECONDS)
                self.look_at_all()

    async def _work(self) -> None:
        is_all, self._all_dirty = self._all_dirty, False
        dirty, self._dirty = self._dirty, set()
        if is_all:
            await self._finish_deletions()
        names = list(self.image.topics) if is_all else [name for name in dirty if name in self.image.topics]
        decided = self._decide(name for name in names if name not in self._busy)
        if decided:
            await self.write_states(decided)

    def _tell(self, decided: States) -> None:
        """What becomes of some of them, and of how many."""
        shown = list(decided.items())[:TOLD_STATES]
        words = [f"{where} to be led by {state.leader} with {list(state.isr)}" for where, state in shown]
        log.info(
            "brokers %s, states of %d partitions: %s",
            sorted(self.image.brokers),
            len(decided),
            "; ".join(words),
        )

    def _decide(self, names: Iterable[str]) -> dict[TopicPartition, ReplicaSet]:
        decided: dict[TopicPartition, ReplicaSet] = {}
        brokers = self.image.brokers
        for name in names:
            for index, state in self.image.topics[name].partitions.items():
                partition = TopicPartition(name, index)
                if state.version < 0:  # its creation was interrupted
                    decided[partition] = decide_first_leader(state.replicas, brokers)
                    continue
                election = decide_leader(state, brokers)
                leader = state.leader if election is None else election.state.leader
                if leader == NO_LEADER and self.allows_unclean(name):
                    election = decide_leader(state, brokers, allow_unclean=True)
                if election is None:
                    continue
                if election.is_unclean:
                    log.warning(
                        "unclean election: %s is led by %d, which was not in sync; records may be lost",
                        partition,
                        election.state.leader,
                    )
                decided[partition] = election.state
        return decided

    async def write_states(self, states: States) -> set[TopicPartition]:
        """Those that somebody else has changed meanwhile are left, and returned: that change has them looked at
        again."""
        self._tell(states)
        left, all_lost = dict(states), set[TopicPartition]()
        while left:
            part = dict(list(left.items())[:STATES_AT_ONCE])
            operations = [self.state_operation(partition, state) for partition, state in part.items()]
            try:
                await self.write(operations, of_states(part))
            except (VersionConflict, NodeExists, NoNode) as error:
                lost = next((one for one in part if znodes.state_path(*one) == error.path), next(iter(part)))
                log.info("%s was changed by somebody else: %s", lost, error)
                del left[lost]
                all_lost.add(lost)
                self.follower.read_again(of_states([lost]))
            else:
                left = {one: state for one, state in left.items() if one not in part}
        return all_lost

    def state_operation(self, partition: TopicPartition, state: ReplicaSet) -> Operation:
        path, data = znodes.state_path(*partition), znodes.encode_state(state, self.epoch)
        return Create(path, data) if state.version < 0 else SetNode(path, data, state.version)

    async def write(self, operations: Iterable[Operation], changes: Changes) -> None:
        """All of it, on condition that this broker is still the controller; returns when this broker's image has it."""
        guard = self._guard
        if guard is None:
            raise NotController("another broker is the controller")
        try:
            path = await self.coordination.transact([*operations, news_of(changes)], guard)
        except CheckFailed as error:
            if self._guard is guard:
                self._guard = None
            raise NotController(f"another broker has become the controller: {error}") from error
        await self.follower.applied(path)

    async def _finish_deletions(self) -> None:
        for name in await self.coordination.children(znodes.DELETE_TOPICS):
            if name not in self._busy:
                log.info("finishing the deletion of topic %s", name)
                await self._remove_topic_nodes(name)

    async def _clear_changes_for_ever(self) -> None:
        while True:
            await asyncio.sleep(CLEAR_CHANGES_SECONDS)
            if self.is_active:
                try:
                    await self._clear_changes()
                except CoordinationError as error:
                    log.warning("change nodes are left: %s", error)

    async def _clear_changes(self) -> None:
        names = await self.coordination.children(znodes.CHANGES)
        old = names[:-KEPT_CHANGES]
        if old:
            await self.coordination.transact([Delete(f"{znodes.CHANGES}/{name}") for name in old])

    # topics

    async def create_topic(
        self, name: str, assignment: Mapping[int, tuple[int, ...]], configs: dict[str, str]
    ) -> TopicImage:
        """Writes a new topic; NodeExists if somebody else was quicker."""
        topic_id = uuid.uuid4().bytes
        operations: list[Operation] = [
            await put_configs(self.coordination, znodes.topic_config_path(name), configs),
            Create(znodes.topic_path(name), znodes.encode_topic(topic_id, _assigned(assignment))),
            Create(znodes.partitions_path(name)),
            *self._create_states(name, assignment),
        ]
        with _Busy(self._busy, name):
            await self.write(operations, Changes(topics={name}))
        return self._topic(name)

    def _topic(self, name: str) -> TopicImage:
        topic = self.image.topics.get(name)
        if topic is None:
            raise CoordinationError(f"topic {name} was deleted as soon as it was written")
        return topic

    async def create_partitions(self, topic: TopicImage, added: Mapping[int, tuple[int, ...]]) -> None:
        known = {index: state.assignment for index, state in topic.partitions.items()}
        data = znodes.encode_topic(topic.topic_id, known | _assigned(added))
        node = SetNode(znodes.topic_path(topic.name), data, topic.version)
        with _Busy(self._busy, topic.name):
            await self.write(
                [node, *self._create_states(topic.name, added)],
                Changes(topics={topic.name}),
            )

    def _create_states(self, topic: str, assignment: Mapping[int, tuple[int, ...]]) -> list[Operation]:
        operations: list[Operation] = []
        for index, replicas in assignment.items():
            state = decide_first_leader(replicas, self.image.brokers)
            operations.append(Create(znodes.partition_path(topic, index)))
            operations.append(Create(znodes.state_path(topic, index), znodes.encode_state(state, self.epoch)))
        return operations

    async def delete_topic(self, name: str) -> None:
        """Marks the topic first: then nobody serves it, and a deletion that is interrupted is finished later."""
        with _Busy(self._busy, name):
            try:
                await self.write([Create(f"{znodes.DELETE_TOPICS}/{name}")], Changes(topics={name}))
            except NodeExists:
                pass
            await self._remove_topic_nodes(name)

    async def _remove_topic_nodes(self, name: str) -> None:
        await self.coordination.delete_tree(znodes.topic_path(name))
        await self.coordination.delete_tree(znodes.topic_config_path(name))
        await self.coordination.delete_tree(f"{znodes.DELETE_TOPICS}/{name}")

    async def reconcile(self, name: str) -> None:
        """Brings what is known of a topic in line with ZooKeeper, after an answer of it was lost on the way."""
        await self.refresh(Changes(topics={name}))
        if name in await self.coordination.children(znodes.DELETE_TOPICS):
            await self._remove_topic_nodes(name)

    async def refresh(self, changes: Changes) -> None:
        """Has all brokers read something again; returns when this one has."""
        await self.write([], changes)


def _assigned(replicas: Mapping[int, tuple[int, ...]]) -> dict[int, Assignment]:
    return {index: Assignment(each) for index, each in replicas.items()}


class _Busy:
    """Keeps the controller from looking at a topic that is half written."""

    def __init__(self, names: set[str], name: str) -> None:
        self._names, self._name = names, name

    def __enter__(self) -> None:
        self._names.add(self._name)

    def __exit__(self, *_: object) -> None:
        self._names.discard(self._name)
