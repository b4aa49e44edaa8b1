"""ReadShareGroupState: brokers ask the share coordinator (KIP-932).

v0 is the only version. A leader reads when it begins: its epoch is noted, and an older leader is fenced from then on.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.share_state_operations import READ
from penstock.broker.share_state_requests import ask_all
from penstock.wire.messages.read_share_group_state import (
    PartitionResult,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ReadShareGroupStateRequest, versions=(0, 0))
async def handle_read_share_group_state(
    broker: "Broker", request: ReadShareGroupStateRequest, context: RequestContext
) -> ReadShareGroupStateResponse:
    results = await ask_all(
        broker,
        request,
        READ.handle,
        ReadStateResult,
        PartitionResult,
    )
    return ReadShareGroupStateResponse(results)
