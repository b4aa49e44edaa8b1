"""`--topic` with partitions: `topic:0,1,2`."""

from __future__ import annotations

from penstock.cli.tools.common.failures import ArgumentFailure
from penstock.types import TopicPartition


def has_partitions(argument: str) -> bool:
    return ":" in argument


def parse_partitions(argument: str) -> list[TopicPartition]:
    parts = argument.rstrip(":").split(":")
    if len(parts) != 2:
        raise ArgumentFailure(f"Invalid topic arg '{argument}', expected topic name and partitions")
    topic, partitions = parts
    return [
        TopicPartition(topic, _number(partition, argument)) for partition in partitions.rstrip(",").split(",")
    ]


def _number(text: str, argument: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentFailure(f"Invalid partition '{text}' specified in topic arg '{argument}''") from None
