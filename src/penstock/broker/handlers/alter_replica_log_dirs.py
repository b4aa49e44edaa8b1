"""AlterReplicaLogDirs: replicas of this broker move to other log directories of it.

v2 is flexible. An answer says that it has begun; DescribeLogDirs shows the copy until it takes the replica's place. To
name the directory where a replica is already ends its move. A replica that this broker is still to get comes into the
directory that was named last, and is answered with REPLICA_NOT_AVAILABLE.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(AlterReplicaLogDirsRequest, versions=(1, 2))
def handle_alter_replica_log_dirs(
    broker: "Broker", request: AlterReplicaLogDirsRequest, context: RequestContext
) -> AlterReplicaLogDirsResponse:
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            results.setdefault(topic.name, []).extend(
                AlterReplicaLogDirPartitionResult(
                    index, _alter(broker, TopicPartition(topic.name, index), directory.path)
                )
                for index in topic.partitions
            )
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(name, partitions) for name, partitions in results.items()]
    )


def _alter(broker: "Broker", topic_partition: TopicPartition, path: str) -> ErrorCode:
    try:
        broker.log_dir_moves.alter(topic_partition, path)
    except ApiError as error:
        return error.code
    return ErrorCode.NONE
