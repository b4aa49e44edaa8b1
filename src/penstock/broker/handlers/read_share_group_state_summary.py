"""ReadShareGroupStateSummary: brokers ask the share coordinator (KIP-932).

v1 has the number of records in the window that are done with. A partition without a state has the start offset -1.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.share_state_operations import READ_SUMMARY
from penstock.broker.share_state_requests import ask_all
from penstock.wire.messages.read_share_group_state_summary import (
    PartitionResult,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ReadShareGroupStateSummaryRequest, versions=(0, 1))
async def handle_read_share_group_state_summary(
    broker: "Broker", request: ReadShareGroupStateSummaryRequest, context: RequestContext
) -> ReadShareGroupStateSummaryResponse:
    results = await ask_all(
        broker,
        request,
        READ_SUMMARY.handle,
        ReadStateSummaryResult,
        PartitionResult,
    )
    return ReadShareGroupStateSummaryResponse(results)
