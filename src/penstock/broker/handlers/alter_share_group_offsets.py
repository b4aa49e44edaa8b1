"""AlterShareGroupOffsets (KIP-932): lets a share group that has no members begin elsewhere.

v0 is the only version. A group that does not exist is made. The states of the share partitions are made anew, so that
whatever still works with the old ones is fenced.
"""

from typing import TYPE_CHECKING, Any

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError
from penstock.group.groups import check_group_id
from penstock.group.share_offsets import AlteredOffsets
from penstock.group.share_partitions import SharedTopic
from penstock.group.share_state import SharePartitionKey
from penstock.wire.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(AlterShareGroupOffsetsRequest, versions=(0, 0))
async def handle_alter_share_group_offsets(
    broker: "Broker", request: AlterShareGroupOffsetsRequest, context: RequestContext
) -> AlterShareGroupOffsetsResponse:
    try:
        broker.coordinators.sharing.check_enabled()
        check_group_id(request.group_id)
        return await _alter(broker, request)
    except ApiError as error:
        return AlterShareGroupOffsetsResponse(error_code=error.code, error_message=error.message)


async def _alter(broker: "Broker", request: AlterShareGroupOffsetsRequest) -> AlterShareGroupOffsetsResponse:
    groups, group_id = broker.coordinators.groups, request.group_id
    altered: AlteredOffsets = await groups.call(
        group_id,
        lambda shard, ticket, now_ms: shard.share.handle_alter_offsets(request, ticket, now_ms),
    )
    states = altered.states
    found = await broker.coordinators.sharing.initialize_states(group_id, states.group_epoch, states.offsets)
    if any(isinstance(answer, ApiError) for answer in found.values()):
        return _with_errors(altered.response, group_id, found)
    topics = {
        topic_id: SharedTopic(broker.image.topic_names.get(topic_id, ""), frozenset(offsets))
        for topic_id, offsets in states.offsets.items()
    }
    groups.find(group_id).run_unasked(lambda machine, now_ms: machine.share.on_initialized(group_id, topics))
    return altered.response


def _with_errors(
    response: AlterShareGroupOffsetsResponse, group_id: str, found: dict[SharePartitionKey, Any]
) -> AlterShareGroupOffsetsResponse:
    for topic in response.responses:
        for partition in topic.partitions:
            answer = found.get(SharePartitionKey(group_id, topic.topic_id, partition.partition_index))
            if isinstance(answer, ApiError):
                partition.error_code = answer.code
                partition.error_message = answer.message
    return response
