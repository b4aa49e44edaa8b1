"""Reads parts of the cluster's image from ZooKeeper.

Which brokers have a partition's replicas stands in the topic's node, which of them are in sync in the partition's. Both
may change between two reads. Where a replica that is in sync is not one of those assigned, the assignment is the older
one, and is read again.
"""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from penstock.broker.coordination import Coordination, NoNode
from penstock.broker.znode_reading import decoded
from penstock.controller import znodes
from penstock.controller.image import BrokerImage, TopicImage
from penstock.replica.replica_set import NO_LEADER, Assignment, ReplicaSet

STATES_AT_ONCE = 100
"""Of one topic's partitions: thousands of questions asked in one go would keep the event loop from everybody else."""


class ReadTopic(NamedTuple):
    topic: TopicImage
    configs: dict[str, str]


async def read_known_brokers(coordination: Coordination) -> dict[int, BrokerImage]:
    """Also those that are away, as they were registered last."""
    ids = await coordination.children(znodes.KNOWN_BROKERS)
    return await read_brokers(coordination, ids, znodes.KNOWN_BROKERS)


async def read_brokers(
    coordination: Coordination, ids: Iterable[str], where: str = znodes.BROKER_IDS
) -> dict[int, BrokerImage]:
    """Those of the ids that are registered."""

    async def read(name: str) -> BrokerImage | None:
        path = f"{where}/{name}"
        try:
            node = await coordination.get(path)
        except NoNode:
            return None
        return decoded(path, partial(znodes.decode_broker, int(name), epoch=node.creation_zxid), node.data)

    found = await asyncio.gather(*map(read, ids))
    return {broker.id: broker for broker in found if broker is not None}


async def read_configs(coordination: Coordination, path: str) -> dict[str, str]:
    """None set if the node is not there."""
    try:
        node = await coordination.get(path)
    except NoNode:
        return {}
    return decoded(path, znodes.decode_configs, node.data)


async def read_topic(coordination: Coordination, name: str) -> ReadTopic | None:
    """A topic with all its partitions; None if there is none. A partition whose state is not written has no leader. Who
    is in sync and no replica, and stays so, does not count."""
    version = -1
    while True:
        try:
            node, configs = await asyncio.gather(
                coordination.get(znodes.topic_path(name)),
                read_configs(coordination, znodes.topic_config_path(name)),
            )
        except NoNode:
            return None
        topic_id, assignment = decoded(znodes.topic_path(name), znodes.decode_topic, node.data)
        states = await read_states(coordination, name, assignment)
        if all(map(is_consistent, states.values())) or node.version == version:
            states = {index: _of_replicas_only(state) for index, state in states.items()}
            return ReadTopic(TopicImage(name, topic_id, states, node.version), configs)
        version = node.version


def is_consistent(state: ReplicaSet) -> bool:
    """Whether the assignment that it was put together with is as new as the state."""
    return set(state.isr) <= set(state.replicas)


def _of_replicas_only(state: ReplicaSet) -> ReplicaSet:
    if is_consistent(state):
        return state
    return state.with_isr(tuple(one for one in state.isr if one in state.replicas))


async def read_states(
    coordination: Coordination, topic: str, assignment: Mapping[int, Assignment]
) -> dict[int, ReplicaSet]:
    async def read(index: int, of_partition: Assignment) -> ReplicaSet:
        path = znodes.state_path(topic, index)
        try:
            node = await coordination.get(path)
        except NoNode:
            replicas = of_partition.replicas
            return ReplicaSet(replicas, replicas, NO_LEADER, leader_epoch=0)
        decode = partial(
            znodes.decode_state, assignment=of_partition, version=node.version, zxid=node.modification_zxid
        )
        return decoded(path, decode, node.data)

    states: dict[int, ReplicaSet] = {}
    indexes = list(assignment)
    for start in range(0, len(indexes), STATES_AT_ONCE):
        part = indexes[start : start + STATES_AT_ONCE]
        found = await asyncio.gather(*(read(index, assignment[index]) for index in part))
        states.update(zip(part, found, strict=True))
    return states
