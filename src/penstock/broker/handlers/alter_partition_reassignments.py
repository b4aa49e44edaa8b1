"""AlterPartitionReassignments: moves partitions to other brokers, or with null as the replicas cancels that.

v1 may refuse a change of the replication factor. An answer says that it has begun; ListPartitionReassignments tells how
far it is.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.turns import Turns
from penstock.errors import ApiError
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopic,
    ReassignableTopicResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(
    AlterPartitionReassignmentsRequest, versions=(0, 1), at_controller=AlterPartitionReassignmentsResponse
)
async def handle_alter_partition_reassignments(
    broker: "Broker", request: AlterPartitionReassignmentsRequest, context: RequestContext
) -> AlterPartitionReassignmentsResponse:
    allowed = request.allow_replication_factor_change
    turns = Turns()
    try:
        responses = []
        for topic in request.topics:
            responses.append(await _alter(broker, topic, allowed))
            if turns.is_over:
                await turns.let_others()
    except ApiError as error:
        return AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=allowed, error_code=error.code, error_message=error.message
        )
    return AlterPartitionReassignmentsResponse(allow_replication_factor_change=allowed, responses=responses)


async def _alter(
    broker: "Broker", topic: ReassignableTopic, allow_replication_factor_change: bool
) -> ReassignableTopicResponse:
    outcome = await broker.reassigning.alter(
        topic.name,
        {partition.partition_index: partition.replicas for partition in topic.partitions},
        allow_replication_factor_change=allow_replication_factor_change,
    )
    return ReassignableTopicResponse(
        topic.name,
        [
            ReassignablePartitionResponse(index)
            if error is None
            else ReassignablePartitionResponse(index, error.code, error.message)
            for index, error in outcome.items()
        ],
    )
