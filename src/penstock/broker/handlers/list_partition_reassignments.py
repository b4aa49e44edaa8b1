"""ListPartitionReassignments: none are ever under way while each partition has one replica."""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ListPartitionReassignmentsRequest, versions=(0, 0))
def handle_list_partition_reassignments(
    broker: "Broker", request: ListPartitionReassignmentsRequest, context: RequestContext
) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse()
