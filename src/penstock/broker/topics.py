"""Creating, growing and deleting topics: the controller's decisions, checked and carried out.

One change of a topic is at work at a time; a second creation of the same name finds the first one's result.

When the way to ZooKeeper breaks in the middle of a change, nobody knows whether it was made. Then what ZooKeeper
holds decides: it is read again before anything is answered.
"""

import asyncio
import logging
import random
from collections.abc import Mapping, Sequence

from penstock.broker.configs import Configs
from penstock.broker.controller import Controller, NotController
from penstock.broker.coordination import CoordinationError, NodeExists, TooLarge
from penstock.broker.deleted_names import DeletedNames
from penstock.controller import placement
from penstock.controller import topics as decide
from penstock.controller.image import TopicImage
from penstock.errors import ApiError, ErrorCode
from penstock.settings.broker import BrokerSettings

log = logging.getLogger("penstock.broker.topics")

RECONCILE_ATTEMPTS = 5
DEFAULT = -1
"""Stands for the broker's default where a number of partitions or replicas is asked for."""

Assignment = Mapping[int, tuple[int, ...]]


class Topics:
    def __init__(self, controller: Controller, configs: Configs, deleted_names: DeletedNames) -> None:
        self.controller = controller
        self.configs = configs
        self.image = controller.image
        self._changing: dict[str, asyncio.Lock] = {}
        self.deleted_names = deleted_names

    @property
    def settings(self) -> BrokerSettings:
        return self.configs.current

    # deciding

    def plan(
        self,
        name: str,
        partitions: int,
        replication_factor: int,
        assignment: Mapping[int, Sequence[int]],
        configs: Mapping[str, str],
    ) -> Assignment:
        """Checks everything about a new topic and says where its replicas go; changes nothing."""
        decide.check_topic_name(name)
        if name in self.image.topics:
            raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        decide.check_no_collision(name, self.image.topics)
        chosen = self._assign(partitions, replication_factor, assignment)
        self.configs.check_topic(name, configs)
        return chosen

    def _assign(
        self, partitions: int, replication_factor: int, assignment: Mapping[int, Sequence[int]]
    ) -> Assignment:
        if assignment:
            if partitions != DEFAULT or replication_factor != DEFAULT:
                raise ApiError(
                    ErrorCode.INVALID_REQUEST,
                    "A manual partition assignment was specified, but numPartitions or replicationFactor was not "
                    "set to -1.",
                )
            decide.check_assignment(assignment, sorted(self.image.brokers))
            return {index: tuple(replicas) for index, replicas in sorted(assignment.items())}
        if partitions == DEFAULT:
            partitions = self.settings.num_partitions
        if replication_factor == DEFAULT:
            replication_factor = self.settings.default_replication_factor
        racks = placement.racks_to_fill(self.image.brokers)
        decide.check_counts(partitions, replication_factor, len(racks))
        start = random.randrange(len(racks))
        return placement.decide_replicas(range(partitions), replication_factor, racks, start)

    # doing

    async def create(self, name: str, assignment: Assignment, configs: dict[str, str]) -> TopicImage:
        async with self.lock(name):
            if name in self.image.topics:
                raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
            try:
                return await self.controller.create_topic(name, assignment, configs)
            except TooLarge as error:
                raise ApiError(ErrorCode.POLICY_VIOLATION, str(error)) from error
            except NotController as error:
                raise ApiError(ErrorCode.NOT_CONTROLLER, str(error)) from error
            except CoordinationError as error:
                await self._reconcile(name)
                found = self.image.topics.get(name)
                if found is None:
                    raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error
                if isinstance(error, NodeExists):
                    raise ApiError(
                        ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists."
                    ) from error
                return found

    async def delete(self, name: str) -> None:
        if not self.settings.delete_topic_enable:
            raise ApiError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
        async with self.lock(name):
            self.existing(name)
            self.deleted_names.hold(name)
            try:
                await self.controller.delete_topic(name)
            except NotController as error:
                raise ApiError(ErrorCode.NOT_CONTROLLER, str(error)) from error
            except CoordinationError as error:
                await self._reconcile(name)
                if name in self.image.topics:
                    raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error
            finally:
                self.deleted_names.keep(name)

    async def grow(
        self, name: str, count: int, assignments: Sequence[Sequence[int]] | None, *, validate_only: bool
    ) -> None:
        """Adds partitions up to `count`."""
        async with self.lock(name):
            topic = self.existing(name)
            if any(state.is_being_reassigned for state in topic.partitions.values()):
                raise ApiError(
                    ErrorCode.REASSIGNMENT_IN_PROGRESS,
                    f"A partition reassignment is in progress for the topic '{name}'.",
                )
            added = self._assign_more(topic, count, assignments)
            if validate_only:
                return
            try:
                await self.controller.create_partitions(topic, added)
            except TooLarge as error:
                raise ApiError(ErrorCode.POLICY_VIOLATION, str(error)) from error
            except NotController as error:
                raise ApiError(ErrorCode.NOT_CONTROLLER, str(error)) from error
            except CoordinationError as error:
                await self._reconcile(name)
                if len(self.existing(name).partitions) != count:
                    raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error

    async def _reconcile(self, name: str) -> None:
        for _ in range(RECONCILE_ATTEMPTS):
            try:
                await self.controller.reconcile(name)
                return
            except CoordinationError as error:
                log.warning("topic %s is not in line with ZooKeeper yet: %s", name, error)

    def existing(self, name: str) -> TopicImage:
        """The topic; ApiError if there is none of that name."""
        topic = self.image.topics.get(name)
        if topic is None:
            raise ApiError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
            )
        return topic

    def _assign_more(
        self, topic: TopicImage, count: int, assignments: Sequence[Sequence[int]] | None
    ) -> Assignment:
        current = len(topic.partitions)
        if count == current:
            raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
        if count < current:
            raise ApiError(
                ErrorCode.INVALID_PARTITIONS,
                f"The topic {topic.name} currently has {current} partition(s); {count} would not be an increase.",
            )
        decide.check_growth(count - current)
        added = range(current, count)
        if assignments is None:
            return self._place_more(topic.partitions[0].replicas, added)
        if len(assignments) != len(added):
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Attempted to add {len(added)} additional partition(s), but only {len(assignments)} "
                "assignment(s) were specified.",
            )
        manual = dict(zip(added, map(tuple, assignments), strict=True))
        decide.check_assignment(manual, sorted(self.image.brokers), first=current)
        return manual

    def _place_more(self, first: Sequence[int], added: range) -> Assignment:
        """As if they had been created together with the first partition, as far as its leader is still there."""
        racks = placement.racks_to_fill(self.image.brokers)
        decide.check_counts(len(added), len(first), len(racks))
        start = placement.in_line(racks).index(first[0]) if first[0] in racks else 0
        return placement.decide_replicas(added, len(first), racks, start)

    def lock(self, name: str) -> asyncio.Lock:
        """For one change of a topic at a time."""
        if len(self._changing) > 1000:
            self._changing = {name: lock for name, lock in self._changing.items() if lock.locked()}
        return self._changing.setdefault(name, asyncio.Lock())
