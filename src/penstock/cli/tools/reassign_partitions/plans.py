"""Plans in JSON: which replicas each partition is to have, and in which directories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.common.json_values import (
    array_of,
    duplicates,
    field,
    integer_of,
    list_of,
    object_of,
    parse,
    string_of,
    written,
)
from penstock.client.admin.replica_log_dirs import TopicPartitionReplica
from penstock.types import TopicPartition

ONLY_VERSION = 1
ANY_LOG_DIR = "any"

Replicas = dict[TopicPartition, list[int]]
LogDirs = dict[TopicPartitionReplica, str]


class Plan(NamedTuple):
    partitions: list[tuple[TopicPartition, list[int]]]
    """As they were written, the same one twice included."""
    log_dirs: LogDirs
    """Of replicas that are to be in a certain directory."""

    @property
    def replicas(self) -> Replicas:
        return dict(self.partitions)


def parse_plan(text: str) -> Plan:
    """Of `--reassignment-json-file`."""
    if not text:
        raise CommandFailure("The input string shouldn't be empty")
    try:
        value = parse(text)
    except ValueError as error:
        raise CommandFailure(f"The reassignment JSON file is not valid JSON: {error}") from error
    plan = Plan([], {})
    for entry in map(object_of, array_of(_of_version(value).get("partitions", []))):
        _add(plan, entry)
    return plan


def _of_version(value: Any) -> dict[str, Any]:
    fields = object_of(value)
    version = integer_of(fields.get("version", ONLY_VERSION))
    if version != ONLY_VERSION:
        raise CommandFailure(f"Not supported version field value {version}")
    return fields


def _add(plan: Plan, entry: dict[str, Any]) -> None:
    partition = TopicPartition(string_of(field(entry, "topic")), integer_of(field(entry, "partition")))
    replicas = [integer_of(each) for each in list_of(field(entry, "replicas"))]
    if "log_dirs" in entry:
        log_dirs = [string_of(each) for each in list_of(entry["log_dirs"])]
    else:
        log_dirs = [ANY_LOG_DIR] * len(replicas)
    if len(replicas) != len(log_dirs):
        raise CommandFailure(
            f"Size of replicas list {_listed(replicas)} is different from size of log dirs list "
            f"{_listed(log_dirs)} for partition {partition}"
        )
    plan.partitions.append((partition, replicas))
    for replica, log_dir in zip(replicas, log_dirs, strict=True):
        if log_dir != ANY_LOG_DIR:
            plan.log_dirs[TopicPartitionReplica(*partition, replica)] = log_dir


def _listed(values: Iterable[object]) -> str:
    return f"[{', '.join(map(str, values))}]"


def parse_executable_plan(text: str) -> Plan:
    """A plan that can be carried out: with something in it, and nothing in it twice."""
    plan = parse_plan(text)
    if not plan.partitions:
        raise CommandFailure("Partition reassignment list cannot be empty")
    if not all(replicas for _, replicas in plan.partitions):
        raise CommandFailure("Partition replica list cannot be empty")
    twice = duplicates([partition for partition, _ in plan.partitions])
    if twice:
        listed = ",".join(map(str, twice))
        raise CommandFailure(f"Partition reassignment contains duplicate topic partitions: {listed}")
    wrong = [
        f"{partition} contains multiple entries for {','.join(map(str, again))}"
        for partition, replicas in plan.partitions
        if (again := duplicates(replicas))
    ]
    if wrong:
        raise CommandFailure(f"Partition replica lists may not contain duplicate entries: {'. '.join(wrong)}")
    return plan


def parse_topics(text: str) -> list[str]:
    """Of `--topics-to-move-json-file`."""
    try:
        value = parse(text)
    except ValueError as error:
        raise CommandFailure("The input string is not a valid JSON") from error
    entries = array_of(_of_version(value).get("topics", []))
    topics = [string_of(field(object_of(entry), "topic")) for entry in entries]
    if twice := duplicates(topics):
        raise CommandFailure(f"List of topics to reassign contains duplicate entries: {_listed(twice)}")
    return topics


def parse_brokers(text: str) -> list[int]:
    """Of `--broker-list`."""
    brokers = []
    for name in text.rstrip(",").split(","):
        try:
            brokers.append(int(name))
        except ValueError:
            raise CommandFailure(f'For input string: "{name}"') from None
    if twice := duplicates(brokers):
        raise CommandFailure(f"Broker list contains duplicate entries: {_listed(twice)}")
    return brokers


def format_plan(
    replicas: Mapping[TopicPartition, Sequence[int]], log_dirs: Mapping[TopicPartitionReplica, str]
) -> str:
    partitions = [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "replicas": list(replicas[partition]),
            "log_dirs": [
                log_dirs.get(TopicPartitionReplica(*partition, replica), ANY_LOG_DIR)
                for replica in replicas[partition]
            ],
        }
        for partition in sorted(replicas)
    ]
    return written({"version": ONLY_VERSION, "partitions": partitions})
