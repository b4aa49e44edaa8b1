"""Elections of leaders that somebody asks for."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from penstock.client.admin.group_offsets import by_topic
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError, error_for, raise_for

FIRST_VERSION_WITH_TYPES = 1


class ElectionType(IntEnum):
    PREFERRED = 0
    """The first replica becomes the leader, if it is in sync."""
    UNCLEAN = 1
    """Any replica that is alive becomes the leader where there is none, though it may lack records."""


async def elect_leaders(
    cluster: Cluster, election_type: ElectionType, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, KafkaError | None]:
    """Of these partitions or of all that need it; for each, why none was elected."""
    if election_type is not ElectionType.PREFERRED:
        await _require_types(cluster)
    topics = (
        None
        if partitions is None
        else [TopicPartitions(topic, each) for topic, each in by_topic(partitions).items()]
    )
    timeout_ms = cluster.config.request_timeout_ms
    request = ElectLeadersRequest(election_type, topics, timeout_ms)
    answer = await cluster.ask_controller(request, ElectLeadersResponse)
    raise_for(answer.error_code)
    return {
        TopicPartition(topic.topic, each.partition_id): (
            error_for(each.error_code, each.error_message) if each.error_code else None
        )
        for topic in answer.replica_election_results
        for each in topic.partition_result
    }


async def _require_types(cluster: Cluster) -> None:
    if await cluster.newest_version_of_controller(ElectLeadersRequest) < FIRST_VERSION_WITH_TYPES:
        raise UnsupportedVersionError(
            "The broker only supports PREFERRED elections", ErrorCode.UNSUPPORTED_VERSION
        )
