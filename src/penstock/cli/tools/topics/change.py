"""kafka-topics --create, --alter and --delete."""

from __future__ import annotations

import re

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.options.kinds import java_int
from penstock.cli.tools.common.admin_client import raise_first
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.topics.selection import existing_topics
from penstock.client.admin.topic_changes import (
    NewPartitions,
    NewTopic,
    create_partitions,
    create_topics,
    delete_topics,
)
from penstock.client.admin.topic_descriptions import describe_topics
from penstock.errors import ErrorCode
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for

LARGEST_SHORT = 2**15 - 1

Assignment = dict[int, list[int]]


async def create(cluster: Cluster, options: OptionSet) -> None:
    topic = NewTopic(
        options.value("topic"),
        options.value("partitions"),
        options.value("replication-factor"),
        _assignment(options) or None,
        _configs(options),
    )
    if "." in topic.name or "_" in topic.name:
        print(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could "
            "collide. To avoid issues it is best to use either, but not both."
        )
    _check(topic)
    result = (await create_topics(cluster, [topic], retry_on_quota_violation=False))[topic.name]
    if not isinstance(result, KafkaError):
        print(f"Created topic {topic.name}.")
    elif result.code is not ErrorCode.TOPIC_ALREADY_EXISTS or not options.has("if-not-exists"):
        raise result


def _check(topic: NewTopic) -> None:
    factor, partitions = topic.replication_factor, topic.num_partitions
    if factor is not None and not 1 <= factor <= LARGEST_SHORT:
        raise CommandFailure(f"The replication factor must be between 1 and {LARGEST_SHORT} inclusive")
    if partitions is not None and partitions < 1:
        raise CommandFailure("The partitions must be greater than 0")
    if not topic.name:
        message = "The given topic name '' cannot be represented in a request."
        raise error_for(ErrorCode.INVALID_TOPIC_EXCEPTION, message)


def _configs(options: OptionSet) -> dict[str, str]:
    configs = {}
    for word in options.values("config"):
        pair = re.split(r"\s*=\s*", word)
        while len(pair) > 1 and not pair[-1]:
            pair.pop()
        if len(pair) != 2:
            raise CommandFailure(
                "requirement failed: Invalid topic config: all configs to be added must be in the format "
                '"key=val".'
            )
        configs[pair[0].strip()] = pair[1].strip()
    return configs


def _assignment(options: OptionSet) -> Assignment:
    """The brokers of each partition, from `0:1,1:0`."""
    text = options.value("replica-assignment")
    assignment: Assignment = {}
    for partition, word in enumerate(text.rstrip(",").split(",") if text else ()):
        brokers = [_broker_id(part.strip()) for part in word.rstrip(":").split(":")]
        twice = in_hash_order(broker for broker in brokers if brokers.count(broker) > 1)
        if twice:
            listed = ",".join(map(str, twice))
            raise CommandFailure(f"Partition replica lists may not contain duplicate entries: {listed}")
        assignment[partition] = brokers
        if len(brokers) != len(assignment[0]):
            raise CommandFailure(f"Partition {partition} has different replication factor: {brokers}")
    return assignment


def _broker_id(text: str) -> int:
    try:
        return java_int(text)
    except ValueError as error:
        raise CommandFailure(str(error)) from None


async def alter(cluster: Cluster, options: OptionSet) -> None:
    assignment = _assignment(options)
    count = options.value("partitions")
    names = await existing_topics(cluster, options)
    if not names:
        return
    wanted = {name: NewPartitions(count) for name in names}
    if assignment:
        for name, description in (await describe_topics(cluster, names)).items():
            if isinstance(description, KafkaError):
                raise description
            new = list(assignment.values())[len(description.partitions) :]
            wanted[name] = NewPartitions(count, new)
    raise_first((await create_partitions(cluster, wanted, retry_on_quota_violation=False)).values())


async def delete(cluster: Cluster, options: OptionSet) -> None:
    names = await existing_topics(cluster, options)
    if names:
        raise_first((await delete_topics(cluster, names, retry_on_quota_violation=False)).values())
