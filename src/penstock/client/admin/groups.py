"""Groups of every kind: which there are, and their end."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum

from penstock.errors import ErrorCode
from penstock.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from penstock.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from penstock.wire_client import Cluster, Node
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError, error_for


class GroupType(Enum):
    UNKNOWN = "Unknown"
    CONSUMER = "Consumer"
    CLASSIC = "Classic"
    SHARE = "Share"
    STREAMS = "Streams"

    @classmethod
    def parse(cls, name: str) -> GroupType:
        return next((each for each in cls if each.value.lower() == name.lower()), cls.UNKNOWN)

    def __str__(self) -> str:
        return self.value


class GroupState(Enum):
    UNKNOWN = "Unknown"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    NOT_READY = "NotReady"

    @classmethod
    def parse(cls, name: str) -> GroupState:
        return next((each for each in cls if each.value.lower() == name.lower()), cls.UNKNOWN)

    def __str__(self) -> str:
        return self.value


CONSUMER_GROUP_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER)
CONSUMER_PROTOCOL_TYPE = "consumer"
CONSUMER_PROTOCOL_TYPES = ("", CONSUMER_PROTOCOL_TYPE)
"""Those of groups of consumers; a group that only ever had offsets has none."""

FIRST_VERSION_WITH_STATES = 4
FIRST_VERSION_WITH_TYPES = 5
_LATER = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE}


@dataclass(frozen=True, slots=True)
class GroupListing:
    group_id: str
    type: GroupType | None
    """None from a broker that is too old to say it; `state` as well."""
    protocol: str
    state: GroupState | None


async def list_groups(
    cluster: Cluster,
    *,
    states: Collection[GroupState] = (),
    types: Collection[GroupType] = (),
    protocols: Collection[str] = (),
) -> list[GroupListing]:
    """Groups in these states, of these types and protocols; where none are given, in or of any."""
    nodes = (await cluster.describe()).nodes
    answers = await cluster.each(_list_groups_of(cluster, node, states, types) for node in nodes)
    found = {group.group_id: group for groups in answers for group in groups}
    return [group for group in found.values() if not protocols or group.protocol in protocols]


async def list_consumer_groups(
    cluster: Cluster, *, states: Collection[GroupState] = (), types: Collection[GroupType] = ()
) -> list[GroupListing]:
    """Groups of consumers, of either protocol, and such as only have offsets."""
    return await list_groups(
        cluster, states=states, types=types or CONSUMER_GROUP_TYPES, protocols=CONSUMER_PROTOCOL_TYPES
    )


async def _list_groups_of(
    cluster: Cluster, node: Node, states: Collection[GroupState], types: Collection[GroupType]
) -> list[GroupListing]:
    version = await cluster.newest_version(node.id, ListGroupsRequest)
    if states and version < FIRST_VERSION_WITH_STATES:
        raise _too_old(node, "filters on the states of groups")
    if version < FIRST_VERSION_WITH_TYPES:
        if not set(types) <= set(CONSUMER_GROUP_TYPES):
            raise _too_old(node, "filters on the types of groups")
        types = ()
    request = ListGroupsRequest([state.value for state in states], [each.value for each in types])
    async for attempt in cluster.attempts(f"the groups of node {node.id}"):
        answer = await cluster.ask_node(node.id, request, ListGroupsResponse)
        if answer.error_code not in _LATER:
            break
        attempt.failed(error_for(answer.error_code))
    if answer.error_code:
        error = error_for(answer.error_code)
        raise error_for(answer.error_code, f"Error listing groups on {_described(node)}: {error.message}")
    return [
        GroupListing(
            group.group_id,
            GroupType.parse(group.group_type) if group.group_type else None,
            group.protocol_type,
            GroupState.parse(group.group_state) if group.group_state else None,
        )
        for group in answer.groups
    ]


def _too_old(node: Node, what: str) -> KafkaError:
    return UnsupportedVersionError(f"node {node.id} does not support {what}", ErrorCode.UNSUPPORTED_VERSION)


def _described(node: Node) -> str:
    return f"{node.address} (id: {node.id} rack: {node.rack or 'null'} isFenced: false)"


async def delete_groups(cluster: Cluster, group_ids: Iterable[str]) -> dict[str, KafkaError | None]:
    """Deletes groups of any kind that have no members; for each, why it could not be."""
    ids = list(dict.fromkeys(group_ids))
    return dict(zip(ids, await cluster.each(_delete(cluster, each) for each in ids), strict=True))


async def _delete(cluster: Cluster, group_id: str) -> KafkaError | None:
    try:
        answer = await cluster.ask_coordinator(
            group_id,
            DeleteGroupsRequest([group_id]),
            DeleteGroupsResponse,
            error_of=lambda said: said.results[0].error_code,
        )
    except KafkaError as error:
        return error
    code = answer.results[0].error_code
    return error_for(code) if code else None
