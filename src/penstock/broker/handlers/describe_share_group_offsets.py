"""DescribeShareGroupOffsets (KIP-932).

v1 has the lag: the records from the start offset to the end of the partition that are not done with. Without topics,
all partitions that have a state are told. What there is no state for has the start offset -1.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.share_states import answers
from penstock.errors import ApiError, ErrorCode
from penstock.group.share_state import UNINITIALIZED, SharePartitionKey
from penstock.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from penstock.wire.messages.read_share_group_state_summary import PartitionResult

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(DescribeShareGroupOffsetsRequest, versions=(0, 1))
async def handle_describe_share_group_offsets(
    broker: "Broker", request: DescribeShareGroupOffsetsRequest, context: RequestContext
) -> DescribeShareGroupOffsetsResponse:
    return DescribeShareGroupOffsetsResponse(
        groups=[await _describe(broker, group) for group in request.groups]
    )


async def _describe(
    broker: "Broker", group: DescribeShareGroupOffsetsRequestGroup
) -> DescribeShareGroupOffsetsResponseGroup:
    answer = DescribeShareGroupOffsetsResponseGroup(group.group_id)
    try:
        broker.coordinators.sharing.check_enabled()
        wanted = await _wanted(broker, group)
    except ApiError as error:
        answer.error_code = error.code
        answer.error_message = error.message
        return answer
    answer.topics = [
        await _describe_topic(broker, group.group_id, name, partitions) for name, partitions in wanted.items()
    ]
    return answer


async def _wanted(broker: "Broker", group: DescribeShareGroupOffsetsRequestGroup) -> dict[str, list[int]]:
    """Partitions by topic."""
    if group.topics is not None:
        return {topic.topic_name: list(topic.partitions) for topic in group.topics}
    found = await broker.coordinators.groups.call(
        group.group_id,
        lambda shard, ticket, now_ms: shard.share.handle_initialized_partitions(
            group.group_id, ticket, now_ms
        ),
    )
    names = broker.image.topic_names
    return {names[topic_id]: sorted(indexes) for topic_id, indexes in found.items() if topic_id in names}


async def _describe_topic(
    broker: "Broker", group_id: str, name: str, partitions: list[int]
) -> DescribeShareGroupOffsetsResponseTopic:
    topic = broker.image.topics.get(name)
    if topic is None:
        unknown = [DescribeShareGroupOffsetsResponsePartition(index, UNINITIALIZED) for index in partitions]
        return DescribeShareGroupOffsetsResponseTopic(name, partitions=unknown)
    keys = (SharePartitionKey(group_id, topic.topic_id, index) for index in partitions)
    found = await answers(broker.coordinators.sharing.read_summary(key) for key in keys)
    results = [
        _describe_partition(broker, name, index, answer)
        for index, answer in zip(partitions, found, strict=True)
    ]
    return DescribeShareGroupOffsetsResponseTopic(name, topic.topic_id, results)


def _describe_partition(
    broker: "Broker", topic: str, index: int, summary: PartitionResult | ApiError
) -> DescribeShareGroupOffsetsResponsePartition:
    if isinstance(summary, ApiError):
        return DescribeShareGroupOffsetsResponsePartition(index, UNINITIALIZED)
    result = DescribeShareGroupOffsetsResponsePartition(index, summary.start_offset, summary.leader_epoch)
    if UNINITIALIZED in (summary.start_offset, summary.delivery_complete_count):
        return result
    try:
        end = broker.partitions.find(topic, index).high_watermark
    except ApiError as error:
        return DescribeShareGroupOffsetsResponsePartition(
            index, error_code=ErrorCode(error.code), error_message=error.message
        )
    result.lag = end - summary.start_offset - summary.delivery_complete_count
    return result
