"""Writes that any broker may make: settings, features, and that it is about to leave.

As in Kafka with ZooKeeper, settings are written by the broker that is asked. Whoever writes last is right, but for
features, where a change is refused that was made without knowing of another.
"""

from penstock.broker.coordination import Coordination, Create, NoNode, Operation
from penstock.broker.coordination import Set as SetNode
from penstock.broker.image_follower import ImageFollower
from penstock.controller import znodes
from penstock.controller.changes import Changes, encode_changes


def news_of(changes: Changes) -> Create:
    """The node by which all brokers hear of what is written beside it."""
    return Create(znodes.CHANGE_PREFIX, encode_changes(changes), sequence=True)


async def put_configs(coordination: Coordination, path: str, configs: dict[str, str]) -> Operation:
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

    async def set_topic_configs(self, name: str, configs: dict[str, str]) -> None:
        await self._set_configs(znodes.topic_config_path(name), configs, Changes(topic_configs={name}))

    async def set_broker_configs(self, name: str, configs: dict[str, str]) -> None:
        await self._set_configs(znodes.broker_config_path(name), configs, Changes(broker_configs={name}))

    async def set_group_configs(self, group_id: str, configs: dict[str, str]) -> None:
        path = znodes.group_config_path(group_id)
        await self._set_configs(path, configs, Changes(group_configs={group_id}))

    async def _set_configs(self, path: str, configs: dict[str, str], changes: Changes) -> None:
        await self._write(await put_configs(self.coordination, path, configs), changes)

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
