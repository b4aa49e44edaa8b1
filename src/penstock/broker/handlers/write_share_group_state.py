"""WriteShareGroupState: brokers ask the share coordinator (KIP-932).

v1 has the number of records in the window that are done with.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.share_state_operations import WRITE
from penstock.broker.share_state_requests import ask_all
from penstock.wire.messages.write_share_group_state import (
    PartitionResult,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(WriteShareGroupStateRequest, versions=(0, 1))
async def handle_write_share_group_state(
    broker: "Broker", request: WriteShareGroupStateRequest, context: RequestContext
) -> WriteShareGroupStateResponse:
    results = await ask_all(
        broker,
        request,
        WRITE.handle,
        WriteStateResult,
        PartitionResult,
    )
    return WriteShareGroupStateResponse(results)
