"""Writes that any broker may make: settings, features, and that it is about to leave.

As in Kafka with ZooKeeper, settings are written by the broker that is asked. What they become is decided from what is
stored, on condition that it is still so when it is written: of changes that come to several brokers none is lost.
"""

import logging
from collections.abc import Callable

from penstock.broker.coordination import (
    Coordination,
    Create,
    NodeExists,
    NoNode,
    Operation,
    VersionConflict,
)
from penstock.broker.coordination import Set as SetNode
from penstock.broker.image_follower import ImageFollower
from penstock.broker.znode_reading import decoded
from penstock.controller import znodes
from penstock.controller.changes import Changes, encode_changes

log = logging.getLogger("penstock.broker.image_writing")

Configs = dict[str, str]
Decision = Callable[[Configs], Configs]


def news_of(changes: Changes) -> Create:
    """The node by which all brokers hear of what is written beside it."""
    return Create(znodes.CHANGE_PREFIX, encode_changes(changes), sequence=True)


async def put_configs(coordination: Coordination, path: str, configs: Configs) -> Operation:
    data = znodes.encode_configs(configs)
    try:
        await coordination.get(path)
    except NoNode:
        return Create(path, data)
    return SetNode(path, data)


class ImageWriter:
    def __init__(self, coordination: Coordination, follower: ImageFollower) -> None:
        self.coordination = coordination
        self.follower = follower

    async def change_configs(self, path: str, decide: Decision, changes: Changes) -> None:
        """`decide` says what becomes of the settings that a node has, none if there is no node."""
        while True:
            operation = await self._decided(path, decide)
            try:
                await self._write(operation, changes)
            except (VersionConflict, NodeExists, NoNode) as error:
                log.info("%s is changed by somebody else, too: %s", path, error)
            else:
                return

    async def try_configs(self, path: str, decide: Decision) -> None:
        """Changes nothing."""
        await self._decided(path, decide)

    async def _decided(self, path: str, decide: Decision) -> Operation:
        try:
            node = await self.coordination.get(path)
        except NoNode:
            return Create(path, znodes.encode_configs(decide({})))
        known = decoded(path, znodes.decode_configs, node.data)
        return SetNode(path, znodes.encode_configs(decide(known)), node.version)

    async def set_features(self, levels: dict[str, int], known_version: int) -> None:
        """VersionConflict if somebody else has changed them since they were read."""
        node = SetNode(znodes.FEATURES, znodes.encode_features(levels), known_version)
        await self._write(node, Changes(features=True))

    async def read_features_again(self) -> None:
        change = await self.coordination.transact([news_of(Changes(features=True))])
        await self.follower.applied(change)

    async def announce_leaving(self, path: str, registration: bytes) -> None:
        """This broker is about to stop: whoever is controller gives what it leads to others."""
        await self._write(SetNode(path, registration), Changes(brokers=True))

    async def _write(self, operation: Operation, changes: Changes) -> None:
        """Returns when this broker's image has it."""
        change = await self.coordination.transact([operation, news_of(changes)])
        await self.follower.applied(change)
