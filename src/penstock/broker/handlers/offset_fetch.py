"""OffsetFetch.

v1 knows errors of partitions only; v2 has one for the group, and can ask for all topics; v5 leader epochs; v6 is
flexible; v7 can require stable offsets; v8 asks about several groups, whose coordinators may differ; v9 says which
member asks, and in which epoch; v10 names topics by id.
"""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from penstock.broker.parked import Large
from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.broker.turns import Turns
from penstock.errors import ApiError
from penstock.group.offsets_answers import refuse_fetch
from penstock.group.shard import GroupShard
from penstock.machine import Outcome, Ticket
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_MANY_GROUPS = 8


@handles(OffsetFetchRequest, versions=(1, 10))
def handle_offset_fetch(
    broker: "Broker", request: OffsetFetchRequest, context: RequestContext
) -> ApiMessage | Call | Awaitable[Large]:
    version = context.version
    groups = request.groups if version >= FIRST_VERSION_WITH_MANY_GROUPS else [_only_group(request)]
    if len(groups) == 1:
        return _fetch_one(broker, groups[0], version, request.require_stable)
    return _fetch_many(broker, request, version)


def _only_group(request: OffsetFetchRequest) -> OffsetFetchRequestGroup:
    topics = request.topics
    return OffsetFetchRequestGroup(
        request.group_id,
        topics=None
        if topics is None
        else [
            OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes)
            for topic in topics
        ],
    )


def _fetch_one(
    broker: "Broker", wanted: OffsetFetchRequestGroup, version: int, require_stable: bool
) -> ApiMessage | Call:
    def ask(shard: GroupShard, ticket: Ticket, now_ms: int) -> Outcome:
        group = shard.offsets.fetch(wanted, version, require_stable=require_stable)
        return Outcome(replies=[(ticket, _response([group], version))])

    return broker.coordinators.groups.ask(
        wanted.group_id, ask, lambda error: _response([refuse_fetch(wanted, version, error.code)], version)
    )


async def _fetch_many(broker: "Broker", request: OffsetFetchRequest, version: int) -> Large:
    async def fetch(wanted: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
        def ask(shard: GroupShard, ticket: Ticket, now_ms: int) -> Outcome:
            group = shard.offsets.fetch(wanted, version, require_stable=request.require_stable)
            return Outcome(replies=[(ticket, group)])

        try:
            group: OffsetFetchResponseGroup = await broker.coordinators.groups.call(wanted.group_id, ask)
        except ApiError as error:
            return refuse_fetch(wanted, version, error.code)
        return group

    groups = []
    turns = Turns()
    for wanted in request.groups:
        groups.append(await fetch(wanted))
        if turns.is_over:
            await turns.let_others()
    return Large(_response(groups, version))


def _response(groups: list[OffsetFetchResponseGroup], version: int) -> OffsetFetchResponse:
    if version >= FIRST_VERSION_WITH_MANY_GROUPS:
        return OffsetFetchResponse(groups=groups)
    (group,) = groups
    topics = [
        OffsetFetchResponseTopic(
            topic.name,
            [
                OffsetFetchResponsePartition(
                    partition.partition_index,
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    partition.metadata,
                    partition.error_code,
                )
                for partition in topic.partitions
            ],
        )
        for topic in group.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=group.error_code)
