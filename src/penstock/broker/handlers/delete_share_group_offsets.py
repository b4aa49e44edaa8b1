"""DeleteShareGroupOffsets (KIP-932): lets a share group that has no members forget where it was in some topics.

v0 is the only version.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError
from penstock.group.groups import check_group_id
from penstock.group.share_offsets import OffsetsToDelete
from penstock.wire.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(DeleteShareGroupOffsetsRequest, versions=(0, 0))
async def handle_delete_share_group_offsets(
    broker: "Broker", request: DeleteShareGroupOffsetsRequest, context: RequestContext
) -> DeleteShareGroupOffsetsResponse:
    try:
        broker.coordinators.sharing.check_enabled()
        check_group_id(request.group_id)
        return await _delete(broker, request)
    except ApiError as error:
        return DeleteShareGroupOffsetsResponse(error_code=error.code, error_message=error.message)


async def _delete(
    broker: "Broker", request: DeleteShareGroupOffsetsRequest
) -> DeleteShareGroupOffsetsResponse:
    groups, group_id = broker.coordinators.groups, request.group_id
    begun: OffsetsToDelete = await groups.call(
        group_id,
        lambda shard, ticket, now_ms: shard.share.handle_begin_delete_offsets(request, ticket, now_ms),
    )
    found = await broker.coordinators.sharing.delete_states(group_id, begun.partitions)
    errors = {key.topic_id: answer for key, answer in found.items() if isinstance(answer, ApiError)}
    gone = [topic_id for topic_id in begun.partitions if topic_id not in errors]
    if gone:
        await groups.call(
            group_id,
            lambda shard, ticket, now_ms: shard.share.handle_finish_delete_offsets(
                group_id, gone, ticket, now_ms
            ),
        )
    names = broker.image.topic_names
    answers = [DeleteShareGroupOffsetsResponseTopic(names.get(topic_id, ""), topic_id) for topic_id in gone]
    refused = [
        DeleteShareGroupOffsetsResponseTopic(names.get(topic_id, ""), topic_id, error.code, error.message)
        for topic_id, error in errors.items()
    ]
    return DeleteShareGroupOffsetsResponse(responses=[*answers, *refused, *begun.refused])
