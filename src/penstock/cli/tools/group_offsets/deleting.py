"""`--delete-offsets`: the partitions that are meant, what is asked of the broker, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.cli.tools.common.failures import as_java_says
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.tables import MISSING, print_rows, widest
from penstock.cli.tools.group_offsets.partitions import partitions_of_topics
from penstock.cli.tools.group_offsets.topic_arguments import has_partitions, parse_partitions
from penstock.cli.tools.groups.deleting import TOLD_AS_IT_IS
from penstock.client.admin.group_offsets import delete_group_offsets
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError, error_for

Outcome = Mapping[TopicPartition, KafkaError | None]

NO_PARTITION = -1
_OF_PARTITIONS = {
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


def delete_offsets_of_topics(cluster: Cluster, group_id: str, arguments: list[str]) -> None:
    delete_offsets_of(cluster, group_id, *_chosen(cluster, arguments))


def delete_offsets_of(
    cluster: Cluster, group_id: str, partitions: Sequence[TopicPartition], wrong: Outcome
) -> None:
    """Deletes, and prints what came of it, together with what was wrong before."""
    worst: KafkaError | None = None
    answered: Outcome
    try:
        answered = now(delete_group_offsets(cluster, group_id, partitions))
    except KafkaError as error:
        answered, worst = dict.fromkeys(partitions, error), error
    else:
        worst = next((answered[each] for each in partitions if answered.get(each) is not None), None)
    print(_summary(group_id, worst))
    _print_statuses({**wrong, **answered})


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


def _print_statuses(outcome: Outcome) -> None:
    rows = [
        [topic, MISSING if partition == NO_PARTITION else str(partition), _status(outcome[topic_partition])]
        for topic_partition in sorted(outcome, key=lambda each: f"{each.topic}{each.partition}")
        for topic, partition in [topic_partition]
    ]
    widths = [widest([row[0] for row in rows], 15), 10, 15]
    print_rows(["TOPIC", "PARTITION", "STATUS"], rows, widths)


def _status(error: KafkaError | None) -> str:
    return "Successful" if error is None else f"Error: {as_java_says(error)}"
