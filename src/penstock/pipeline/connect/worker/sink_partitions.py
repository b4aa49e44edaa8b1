"""Which partitions a sink connector reads, and which of its tasks gets which."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from penstock.errors import ConfigError
from penstock.wire_client import Cluster

TopicPartition = tuple[str, int]


async def find_partitions(cluster: Cluster, configs: Mapping[str, str]) -> list[TopicPartition]:
    """Those of the topics that there are, sorted. Topics that are still to come are found later."""
    is_wanted = topic_matcher(configs)
    metadata = await cluster.metadata(None)
    return sorted(
        (topic.name or "", partition.partition_index)
        for topic in metadata.topics
        if not topic.error_code and not topic.is_internal and is_wanted(topic.name or "")
        for partition in topic.partitions
    )


def topic_matcher(configs: Mapping[str, str]) -> Callable[[str], bool]:
    regex = configs.get("topics.regex", "").strip()
    if regex:
        try:
            pattern = re.compile(regex)
        except re.error as error:
            raise ConfigError(f"topics.regex: got {regex!r}; takes a regular expression: {error}") from None
        return lambda name: pattern.fullmatch(name) is not None
    names = {name.strip() for name in configs.get("topics", "").split(",")}
    return names.__contains__


def divide(partitions: Sequence[TopicPartition], tasks: int) -> list[list[TopicPartition]]:
    """Neighbours stay together; tasks beyond the number of partitions get none."""
    share, more = divmod(len(partitions), tasks) if tasks else (0, 0)
    bounds = [task * share + min(task, more) for task in range(tasks + 1)]
    return [list(partitions[start:end]) for start, end in pairwise(bounds)]


def group_of(name: str, configs: Mapping[str, str]) -> str:
    """The consumer group whose committed offsets say how far a sink has come."""
    return configs.get("consumer.override.group.id") or f"connect-{name}"
