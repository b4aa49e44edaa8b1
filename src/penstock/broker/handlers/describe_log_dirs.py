"""DescribeLogDirs: what lies in each log directory, copies on their way to another one too, and how full its disk is.

v2 is flexible; v3 has a top-level error; v4 returns total and usable bytes; v5 says whether a directory is cordoned.
"""

import os
from collections import defaultdict
from typing import TYPE_CHECKING

from penstock.broker.hosted_directory import HostedDirectory
from penstock.broker.parked import Large
from penstock.broker.partition import Partition
from penstock.broker.router import RequestContext, handles
from penstock.broker.turns import Turns
from penstock.errors import ErrorCode
from penstock.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(DescribeLogDirsRequest, versions=(1, 5))
async def handle_describe_log_dirs(
    broker: "Broker", request: DescribeLogDirsRequest, context: RequestContext
) -> Large:
    wanted = (
        None if request.topics is None else {topic.topic: set(topic.partitions) for topic in request.topics}
    )
    results = [await _describe(broker, directory, wanted) for directory in broker.directories.directories]
    return Large(DescribeLogDirsResponse(results=results))


async def _describe(
    broker: "Broker", directory: HostedDirectory, wanted: dict[str, set[int]] | None
) -> DescribeLogDirsResult:
    if directory.offline:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, directory.path)
    total, usable = _space(directory.path)
    topics: dict[str, list[DescribeLogDirsPartition]] = defaultdict(list)
    turns = Turns()
    for partition in list(broker.partitions):
        name, index = partition.topic_partition
        described = _describe_partition(partition, directory)
        if described is not None and (wanted is None or index in wanted.get(name, ())):
            topics[name].append(described)
        if turns.is_over:
            await turns.let_others()
    return DescribeLogDirsResult(
        log_dir=directory.path,
        topics=[DescribeLogDirsTopic(name, partitions) for name, partitions in topics.items()],
        total_bytes=total,
        usable_bytes=usable,
    )


def _describe_partition(partition: Partition, directory: HostedDirectory) -> DescribeLogDirsPartition | None:
    """If it is there, or a copy that is to replace it."""
    index, future, end = partition.topic_partition.partition, partition.future, partition.log.log_end_offset
    if partition.directory is directory:
        lag = max(0, partition.high_watermark - end)
        return DescribeLogDirsPartition(index, partition.log.size_bytes(), lag)
    if future is not None and future.directory is directory:
        lag = max(0, end - future.log.log_end_offset)
        return DescribeLogDirsPartition(index, future.log.size_bytes(), lag, is_future_key=True)
    return None


def _space(path: str) -> tuple[int, int]:
    try:
        disk = os.statvfs(path)
    except OSError:
        return -1, -1
    return disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
