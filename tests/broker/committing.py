"""Short ways to commit and to read committed offsets."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any

from penstock.errors import ErrorCode
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

COMMIT_BY_NAME = 9
"""The newest version of OffsetCommit that names topics."""
FETCH_OFFSETS_BY_NAME = 9
NO_TOPIC_ID = bytes(16)
RETRIED = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
)

_numbers = itertools.count()


def new_group(client: WireClient) -> str:
    """The name of a group that nobody has used, with its coordinator ready to be asked."""
    group = f"committing-{os.getpid()}-{next(_numbers)}"
    find_coordinator(client, group)
    return group


def find_coordinator(client: WireClient, group: str) -> None:
    request = FindCoordinatorRequest(coordinator_keys=[group])
    wait_for(lambda: client.send(request).coordinators[0].error_code == 0, what=f"the coordinator of {group}")
    wait_for(
        lambda: fetch_group(client, group, {}).error_code not in RETRIED, what=f"offsets of {group} to load"
    )


def commit(
    client: WireClient,
    group: str,
    topic: str,
    offset: int,
    partition: int = 0,
    *,
    version: int = COMMIT_BY_NAME,
    topic_id: bytes = NO_TOPIC_ID,
    metadata: str | None = "",
    leader_epoch: int = -1,
    **who: Any,
) -> int:
    """Commits one offset; the error code."""
    one = OffsetCommitRequestPartition(partition, offset, leader_epoch, metadata)
    request = OffsetCommitRequest(
        group_id=group, topics=[OffsetCommitRequestTopic(topic, topic_id, [one])], **who
    )
    ((answer,),) = [found.partitions for found in client.send(request, version).topics]
    assert answer.partition_index == partition
    code: int = answer.error_code
    return code


def fetch_group(
    client: WireClient,
    group: str,
    partitions: dict[str, Sequence[int]] | None,
    *,
    version: int = FETCH_OFFSETS_BY_NAME,
    require_stable: bool = False,
    **who: Any,
) -> Any:
    """What a group has committed, in these partitions or in all."""
    topics = (
        None
        if partitions is None
        else [OffsetFetchRequestTopics(name, partition_indexes=some) for name, some in partitions.items()]
    )
    wanted = OffsetFetchRequestGroup(group_id=group, topics=topics, **who)
    (answer,) = client.send(
        OffsetFetchRequest(groups=[wanted], require_stable=require_stable), version
    ).groups
    return answer


def fetch_group_as_before(
    client: WireClient, group: str, partitions: dict[str, Sequence[int]] | None, version: int
) -> Any:
    """The same, in a version that asks about one group."""
    topics = (
        None
        if partitions is None
        else [OffsetFetchRequestTopic(name, some) for name, some in partitions.items()]
    )
    return client.send(OffsetFetchRequest(group_id=group, topics=topics), version)


def committed(client: WireClient, group: str, topic: str, partition: int = 0) -> int:
    """The offset; -1 if there is none."""
    (found,) = fetch_group(client, group, {topic: [partition]}).topics
    assert found.partitions[0].error_code == 0, found
    offset: int = found.partitions[0].committed_offset
    return offset


def all_committed(client: WireClient, group: str) -> dict[tuple[str, int], int]:
    return {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in fetch_group(client, group, None).topics
        for partition in topic.partitions
    }


def delete_offset(client: WireClient, group: str, topic: str, partition: int = 0) -> Any:
    one = OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])
    return client.send(OffsetDeleteRequest(group_id=group, topics=[one]))
