"""InitializeShareGroupState: brokers ask the share coordinator (KIP-932).

v0 is the only version.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.share_state_operations import INITIALIZE
from penstock.broker.share_state_requests import ask_all
from penstock.wire.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateResult,
    PartitionResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(InitializeShareGroupStateRequest, versions=(0, 0))
async def handle_initialize_share_group_state(
    broker: "Broker", request: InitializeShareGroupStateRequest, context: RequestContext
) -> InitializeShareGroupStateResponse:
    results = await ask_all(
        broker,
        request,
        INITIALIZE.handle,
        InitializeStateResult,
        PartitionResult,
    )
    return InitializeShareGroupStateResponse(results)
