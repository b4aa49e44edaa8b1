"""DeleteShareGroupState: brokers ask the share coordinator (KIP-932).

v0 is the only version. To delete what is not there succeeds.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.share_state_operations import DELETE
from penstock.broker.share_state_requests import ask_all
from penstock.wire.messages.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    DeleteStateResult,
    PartitionResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(DeleteShareGroupStateRequest, versions=(0, 0))
async def handle_delete_share_group_state(
    broker: "Broker", request: DeleteShareGroupStateRequest, context: RequestContext
) -> DeleteShareGroupStateResponse:
    results = await ask_all(
        broker,
        request,
        DELETE.handle,
        DeleteStateResult,
        PartitionResult,
    )
    return DeleteShareGroupStateResponse(results)
