"""Partitions that move to other brokers: the controller begins, completes and cancels it.

What is decided stands in `controller.reassignments`; here it is written. One transaction holds a topic's node, with
the replicas of its partitions and which of them come and go, and the states that change with it; each on condition that
nobody has changed it meanwhile, and all on condition that this broker is still the controller. So leaders may change
who is in sync at the same time: who comes second reads again.

A task completes what has arrived. It looks at the image whenever that changes, and at all of it when this broker
becomes controller, so it goes on where another controller has left off.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from penstock.broker.controller import Controller, NotController
from penstock.broker.coordination import CoordinationError, NoNode, TooLarge, VersionConflict
from penstock.broker.coordination import Set as SetNode
from penstock.broker.topics import Topics
from penstock.broker.turns import Turns
from penstock.controller import znodes
from penstock.controller.changes import Changes
from penstock.controller.image import TopicImage
from penstock.controller.reassignments import decide_cancellation, decide_completion, decide_reassignment
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import ReplicaSet
from penstock.types import TopicPartition

log = logging.getLogger("penstock.broker.reassigning")

ATTEMPTS = 5
"""When somebody else changes the same states at the same time."""
RETRY_SECONDS = 0.5

Targets = Mapping[int, Sequence[int] | None]
"""The replicas that partitions are to have; None to cancel."""
Outcome = dict[int, ApiError | None]


class Reassigning:
    def __init__(self, controller: Controller, topics: Topics, allows_unclean: Callable[[str], bool]) -> None:
        self.controller = controller
        self.topics = topics
        self.image = controller.image
        self.allows_unclean = allows_unclean
        self._dirty: set[str] = set()
        self._has_work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._complete_for_ever())
        self.look_at_all()

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    # asked for

    async def alter(self, name: str, targets: Targets, *, allow_replication_factor_change: bool) -> Outcome:
        """What became of each partition; ApiError if it is not for this broker to do."""
        async with self.topics.lock(name):
            for _ in range(ATTEMPTS):
                topic = self.image.topics.get(name)
                if topic is None:
                    error = ApiError(
                        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}."
                    )
                    return dict.fromkeys(targets, error)
                outcome: Outcome = {}
                changed = await self._decide(
                    topic, targets, outcome, allow_replication_factor_change=allow_replication_factor_change
                )
                if await self._try_to_write(topic, changed):
                    return outcome
        raise ApiError(ErrorCode.REQUEST_TIMED_OUT, f"The replicas of topic {name} change again and again.")

    async def _decide(
        self, topic: TopicImage, targets: Targets, outcome: Outcome, *, allow_replication_factor_change: bool
    ) -> dict[int, ReplicaSet]:
        changed = {}
        turns = Turns()
        for index, target in targets.items():
            if turns.is_over:
                await turns.let_others()
            outcome[index] = None
            try:
                changed[index] = self._decide_one(
                    topic, index, target, allow_replication_factor_change=allow_replication_factor_change
                )
            except ApiError as error:
                outcome[index] = error
        return {index: state for index, state in changed.items() if state != topic.partitions[index]}

    def _decide_one(
        self,
        topic: TopicImage,
        index: int,
        target: Sequence[int] | None,
        *,
        allow_replication_factor_change: bool,
    ) -> ReplicaSet:
        state, brokers = topic.partitions.get(index), self.image.brokers
        if state is None:
            raise ApiError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic.name}:{index}."
            )
        if target is None:
            where, allow_unclean = TopicPartition(topic.name, index), self.allows_unclean(topic.name)
            return decide_cancellation(where, state, brokers, allow_unclean=allow_unclean)
        return decide_reassignment(
            state, target, brokers, allow_replication_factor_change=allow_replication_factor_change
        )

    async def _try_to_write(self, topic: TopicImage, changed: Mapping[int, ReplicaSet]) -> bool:
        """False if it has to be decided again, on what is there by now."""
        try:
            if changed:
                await self._write(topic, changed)
        except TooLarge as error:
            raise ApiError(ErrorCode.POLICY_VIOLATION, str(error)) from error
        except NotController as error:
            raise ApiError(ErrorCode.NOT_CONTROLLER, str(error)) from error
        except CoordinationError as error:
            log.info("the replicas of topic %s are looked at again: %s", topic.name, error)
            await self._read_again(topic.name)
            return False
        return True

    async def _read_again(self, name: str) -> None:
        try:
            await self.controller.refresh(Changes(topics={name}))
        except NotController as error:
            raise ApiError(ErrorCode.NOT_CONTROLLER, str(error)) from error
        except CoordinationError as error:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error

    async def _write(self, topic: TopicImage, changed: Mapping[int, ReplicaSet]) -> None:
        """Returns when this broker's image has it. States are written also where they stay as they are: a change of who
        is in sync that was made since they were read is none that this was decided on."""
        assignment = {index: state.assignment for index, state in {**topic.partitions, **changed}.items()}
        data = znodes.encode_topic(topic.topic_id, assignment)
        states = (
            self.controller.state_operation(TopicPartition(topic.name, index), state)
            for index, state in changed.items()
        )
        for index, state in changed.items():
            _tell(TopicPartition(topic.name, index), state)
        node = SetNode(znodes.topic_path(topic.name), data, topic.version)
        await self.controller.write([node, *states], Changes(topics={topic.name}))

    # by itself

    def look_at(self, topics: Iterable[str]) -> None:
        self._dirty.update(topics)
        self._has_work.set()

    def look_at_all(self) -> None:
        self.look_at(self.image.topics)

    async def _complete_for_ever(self) -> None:
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            dirty, self._dirty = self._dirty, set()
            if not self.controller.is_active:
                continue
            try:
                for name in dirty & self.image.topics.keys():
                    await self._complete(self.image.topics[name])
            except NotController:
                log.info("another broker is the controller, and completes what moves")
            except Exception as error:
                if not isinstance(error, CoordinationError):
                    log.exception("partitions that have arrived are looked at again")
                await asyncio.sleep(RETRY_SECONDS)
                self.look_at(dirty)

    async def _complete(self, topic: TopicImage) -> None:
        brokers = self.image.brokers
        decided = {index: decide_completion(state, brokers) for index, state in topic.partitions.items()}
        arrived = {index: state for index, state in decided.items() if state is not None}
        if not arrived:
            return
        try:
            await self._write(topic, arrived)
        except (VersionConflict, NoNode) as error:
            log.info("topic %s was changed by somebody else: %s", topic.name, error)
            self.controller.follower.read_again(Changes(topics={topic.name}))


def _tell(where: TopicPartition, state: ReplicaSet) -> None:
    if state.is_being_reassigned:
        log.info("%s moves: replicas %s, adding %s, removing %s", where, *map(list, state.assignment))
    else:
        log.info("%s has replicas %s, led by %d", where, list(state.replicas), state.leader)
