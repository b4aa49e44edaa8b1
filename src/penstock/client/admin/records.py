"""Deleting the records of a partition that lie before an offset."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.client.admin.by_leader import PartitionResults, ask_by_leader, grouped_by_topic
from penstock.types import TopicPartition
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import error_for

HIGH_WATERMARK = -1
"""As an offset: all records that are committed."""


async def delete_records(cluster: Cluster, before: Mapping[TopicPartition, int]) -> PartitionResults[int]:
    """The lowest offset that each partition has afterwards, or why its records could not be deleted."""
    timeout_ms = cluster.config.default_api_timeout_ms

    async def ask_node(node_id: int, part: dict[TopicPartition, int]) -> PartitionResults[int]:
        topics = grouped_by_topic(part, DeleteRecordsPartition)
        request = DeleteRecordsRequest(
            [DeleteRecordsTopic(name, partitions) for name, partitions in topics.items()], timeout_ms
        )
        return _low_watermarks(await cluster.ask_leader(node_id, request, DeleteRecordsResponse))

    return await ask_by_leader(cluster, before, ask_node, "records to be deleted")


def _low_watermarks(answer: DeleteRecordsResponse) -> PartitionResults[int]:
    return {
        TopicPartition(topic.name, each.partition_index): (
            error_for(each.error_code) if each.error_code else each.low_watermark
        )
        for topic in answer.topics
        for each in topic.partitions
    }
