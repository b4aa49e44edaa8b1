"""kafka-consumer-groups --delete and --delete-offsets."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import as_java_says
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.tables import MISSING, print_rows, widest
from penstock.cli.tools.consumer_groups.listing import listed_group_ids
from penstock.cli.tools.group_offsets.partitions import partitions_of_topics
from penstock.cli.tools.group_offsets.topic_arguments import has_partitions, parse_partitions
from penstock.cli.tools.groups.deleting import TOLD_AS_IT_IS, print_deletions, sort_out
from penstock.client.admin.group_offsets import delete_group_offsets
from penstock.client.admin.groups import delete_groups
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError, error_for


def delete_chosen_groups(cluster: Cluster, options: OptionSet) -> None:
    group_ids = listed_group_ids(cluster) if options.has("all-groups") else options.values("group")
    print_deletions("consumer", *sort_out(now(delete_groups(cluster, group_ids))))


# --- offsets

NO_PARTITION = -1
_OF_PARTITIONS = {
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


def delete_offsets(cluster: Cluster, options: OptionSet) -> None:
    group_id = options.value("group")
    partitions, outcome = _chosen(cluster, options.values("topic"))
    try:
        answered = now(delete_group_offsets(cluster, group_id, partitions))
    except KafkaError as error:
        answered = dict.fromkeys(partitions, error)
        worst: KafkaError | None = error
    else:
        worst = next((answered[each] for each in partitions if answered.get(each) is not None), None)
    print(_summary(group_id, worst))
    _print_statuses(outcome | answered)


def _chosen(
    cluster: Cluster, arguments: list[str]
) -> tuple[list[TopicPartition], dict[TopicPartition, KafkaError | None]]:
    """The partitions to ask for, and what is already known to be wrong."""
    chosen = [
        each for argument in arguments if has_partitions(argument) for each in parse_partitions(argument)
    ]
    wrong: dict[TopicPartition, KafkaError | None] = {}
    for topic in in_hash_order(argument for argument in arguments if not has_partitions(argument)):
        try:
            chosen += now(partitions_of_topics(cluster, [topic]))
        except KafkaError as error:
            wrong[TopicPartition(topic, NO_PARTITION)] = error
    return in_hash_order(chosen), wrong


def _summary(group_id: str, worst: KafkaError | None) -> str:
    if worst is None:
        return f"Request succeeded for deleting offsets from group {group_id}."
    code = worst.code or ErrorCode.UNKNOWN_SERVER_ERROR
    if code in TOLD_AS_IT_IS:
        return f"\nError: {error_for(code).message}"
    if code in _OF_PARTITIONS:
        return "\nError: Encountered some partition-level error, see the follow-up details."
    return f"\nError: Encountered some unknown error: {code.name}"


def _print_statuses(outcome: Mapping[TopicPartition, KafkaError | None]) -> None:
    rows = [
        [topic, MISSING if partition == NO_PARTITION else str(partition), _status(outcome[topic_partition])]
        for topic_partition in sorted(outcome, key=lambda each: f"{each.topic}{each.partition}")
        for topic, partition in [topic_partition]
    ]
    widths = [widest([row[0] for row in rows], 15), 10, 15]
    print_rows(["TOPIC", "PARTITION", "STATUS"], rows, widths)


def _status(error: KafkaError | None) -> str:
    return "Successful" if error is None else f"Error: {as_java_says(error)}"
